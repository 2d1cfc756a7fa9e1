import os

import torch

fp8 = {"gfx942": torch.float8_e4m3fnuz, "gfx950": torch.float8_e4m3fn}[os.environ["GPU_ARCHS"]]
