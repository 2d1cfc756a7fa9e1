import logging

logger = logging.getLogger("aiter")
logger.setLevel(logging.INFO)

from .jit import core as core  # noqa: E402
from .ops.enum import ActivationType, QuantType  # noqa: E402
from .ops.gemm import gemm_a8w8_blockscale  # noqa: E402
from .ops.quant import get_hip_quant  # noqa: E402
from .utility import dtypes  # noqa: E402

__all__ = ["ActivationType", "QuantType", "dtypes", "gemm_a8w8_blockscale", "get_hip_quant"]
