"""aiter's tables of kernel instances: a family and a target in, every instance with its values, file and line out.

The tables are those that aiter's own generator compiles from (`kernels_list`, `default_kernels_dict`); names are what
the generator's `name` property gives, checked against the grammars of `tracer.names`.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from tracer.aiter import text
from tracer.aiter.evaluate import Evaluator
from tracer.aiter.records import Record
from tracer.aiter.tree import AiterTree
from tracer.errors import SourceTreeError
from tracer.names import registry

#: family -> the generator modules that may hold its table, newest layout first
MODULES: dict[str, tuple[str, ...]] = {
    "a8w8_blockscale": (
        "csrc/ck_gemm_a8w8_blockscale/gemm_a8w8_blockscale_instance.py",
        "csrc/ck_gemm_a8w8_blockscale/gemm_a8w8_blockscale_common.py",
    ),
    "a8w8_blockscale_cktile": ("csrc/ck_gemm_a8w8_blockscale/gemm_a8w8_blockscale_cktile_instance.py",),
    "a8w8_blockscale_bpreshuffle": (
        "csrc/ck_gemm_a8w8_blockscale_bpreshuffle/gemm_a8w8_blockscale_bpreshuffle_common.py",
    ),
    "a8w8": ("csrc/ck_gemm_a8w8/gemm_a8w8_common.py",),
    "a8w8_bpreshuffle": ("csrc/ck_gemm_a8w8_bpreshuffle/gemm_a8w8_bpreshuffle_common.py",),
    "a8w8_bpreshuffle_cktile": ("csrc/cktile_gemm_a8w8_bpreshuffle/gemm_a8w8_bpreshuffle_cktile_common.py",),
    "a4w4_blockscale": ("csrc/ck_gemm_a4w4_blockscale/gemm_a4w4_blockscale_common.py",),
    "batched_a8w8": ("csrc/ck_batched_gemm_a8w8/batched_gemm_a8w8_common.py",),
    "batched_bf16": ("csrc/ck_batched_gemm_bf16/batched_gemm_bf16_common.py",),
    "deepgemm": ("csrc/ck_deepgemm/deepgemm_common.py",),
    "moe_ck2stages": ("csrc/ck_gemm_moe_2stages_codegen/gemm_moe_ck2stages_common.py",),
    "moe_cktile2stages": ("csrc/ck_tile_gemm_moe_2stages/moe_cktile2stages_common.py",),
}
#: what a module calls to learn the target; a table whose module does not is the same for every target
_TARGET_ASKED = "get_gfx"
_TABLES = ("candidate_kernels_dict", "candidate_kernels_cktile_dict", "kernels_list")
_DEFAULTS = ("default_kernels_dict", "default_kernels_cktile_dict")

#: aiter's field names, and those of its C++, in the words of `tracer.names`
SHARED_KEYS = {
    "BLOCK_SIZE": "block_size", "ScaleBlockM": "scale_block_m", "ScaleBlockN": "scale_block_n",
    "ScaleBlockK": "scale_block_k", "MPerBLOCK": "m_per_block", "NPerBLOCK": "n_per_block", "KPerBLOCK": "k_per_block",
    "MPerBlock": "m_per_block", "NPerBlock": "n_per_block", "KPerBlock": "k_per_block", "M_Tile": "m_per_block",
    "N_Tile": "n_per_block", "K_Tile": "k_per_block", "M_Warp": "m_warp", "N_Warp": "n_warp", "K_Warp": "k_warp",
    "M_Warp_Tile": "m_warp_tile", "N_Warp_Tile": "n_warp_tile", "K_Warp_Tile": "k_warp_tile", "AK1": "ak1",
    "BK1": "bk1", "MPerXDL": "m_per_xdl", "NPerXDL": "n_per_xdl", "ABLOCK_TRANSFER": "a_block_transfer",
    "BBLOCK_TRANSFER": "b_block_transfer", "CBLOCK_TRANSFER": "c_block_transfer", "CBLOCK_SPV": "c_block_spv",
    "CSHUFFLE_MX_PER_WAVE_PERSHUFFLE": "cshuffle_m", "CSHUFFLE_NX_PER_WAVE_PERSHUFFLE": "cshuffle_n",
    "PIPELINE_Sched": "pipeline_sched", "LOOP_SCHED": "pipeline_sched", "Scheduler": "pipeline_sched",
    "PIPELINE_VERSION": "pipeline_version", "GemmPipelineVersion": "pipeline_version", "MWaves": "m_waves",
    "NWaves": "n_waves", "TiledMMAPermuteN": "tiled_mma_permute_n", "TransposeC": "transpose_c",
    "UsePersistentKernel": "persistent", "BlockPerCu": "block_per_cu", "Block_Per_CU": "block_per_cu",
    "kBlockPerCu": "block_per_cu", "AQRowMajor": "aq_row_major",
}  # fmt: skip
#: WAVE_TILE and WAVE_MAP name the instruction and the MFMA tiles of a wave in the classic families
_CLASSIC_KEYS = {
    "WAVE_TILE_M": "m_per_xdl", "WAVE_TILE_N": "n_per_xdl", "WAVE_MAP_M": "m_xdl_per_wave",
    "WAVE_MAP_N": "n_xdl_per_wave",
}  # fmt: skip
#: ... and the instruction and the number of waves in the families built on ck_tile
_TILE_KEYS = {
    "WAVE_TILE_M": "m_warp_tile", "WAVE_TILE_N": "n_warp_tile", "WAVE_TILE_K": "k_warp_tile", "WAVE_MAP_M": "m_warp",
    "WAVE_MAP_N": "n_warp",
}  # fmt: skip
_ON_CK_TILE = ("deepgemm", "moe_cktile2stages", "a8w8_blockscale_cktile", "a8w8_bpreshuffle_cktile")


class Instance(msgspec.Struct, frozen=True, kw_only=True):
    """One instance that aiter's generator knows.

    Attributes:
        name: what the generator's own `name` property gives.
        id: its key in the table: the `kernelId` of the tuned CSVs, negative for a default instance.
        fields: the generator's own field names and values.
        values: the same in the words of `tracer.names`, where there is a word.
        file, line: where it is constructed, in the text of the generator module.
        table: the name of the table.
    """

    name: str
    id: int
    fields: dict[str, Any]
    values: dict[str, Any]
    file: str
    line: int
    table: str

    def not_in_name(self) -> dict[str, Any]:
        """The values that the source states and the name does not print."""
        stated = registry.decode(self.name).fields
        return {key: value for key, value in self.values.items() if key not in stated}


class InstanceTable(msgspec.Struct, frozen=True, kw_only=True):
    """The instances of one family.

    Attributes:
        family: the key in MODULES.
        file: the generator module.
        by_id: the table that tuned CSVs index by `kernelId`.
        defaults: the instances that are always compiled in, by their (negative) key.
        line: line of the table.
    """

    family: str
    file: str
    by_id: dict[int, Instance]
    defaults: dict[int, Instance]
    line: int | None

    def named(self, name: str) -> Instance | None:
        """The instance of this name; a default one where the table has none."""
        everything = (*self.by_id.values(), *self.defaults.values())
        return next((instance for instance in everything if instance.name == name), None)


def module_file(tree: AiterTree, family: str) -> str | None:
    """The generator module of a family in this tree; None when this aiter has none."""
    return next((file for file in MODULES[family] if tree.absolute(file).is_file()), None)


def instance_table(tree: AiterTree, family: str, arch: str) -> InstanceTable:
    """The instances of a family.

    Args:
        tree: the aiter.
        family: a key of MODULES, not one of the MoE families (their tables depend on types: tracer.aiter.moe).
        arch: the target; some tables depend on it.

    Raises:
        SourceTreeError: this aiter has no such family, or its table can't be read.
    """
    file = module_file(tree, family)
    if file is None:
        raise SourceTreeError(
            f"this aiter has no instances of {family}", expected=" or ".join(MODULES[family]), hint="see ktrace doctor"
        )
    path = tree.absolute(file)
    source = text.read(path)
    return _table(source, path, file, family, arch if _TARGET_ASKED in source else "")


@lru_cache(maxsize=32)
def _table(source: str, path: Path, file: str, family: str, arch: str) -> InstanceTable:
    del source  # part of the cache's key
    module = Evaluator(path, {_TARGET_ASKED: lambda: arch})
    table = next((name for name in _TABLES if name in module.scope), _TABLES[-1])
    defaults = next((name for name in _DEFAULTS if name in module.scope), _DEFAULTS[0])
    return InstanceTable(
        family=family,
        file=file,
        by_id=instances_of(module.value(table), family, file, table),
        defaults=instances_of(module.value(defaults), family, file, defaults),
        line=text.find_line(path, rf"^{table}\b.*="),
    )


def instances_of(records: dict[Any, Record], family: str, file: str, table: str) -> dict[int, Instance]:
    """The instances of one evaluated table. Raises SourceTreeError when an entry has no name."""
    words = SHARED_KEYS | (_TILE_KEYS if family in _ON_CK_TILE else _CLASSIC_KEYS)
    made = {}
    for key, record in records.items():
        try:
            name = str(record.get("name"))
        except (AttributeError, LookupError, TypeError) as error:
            raise SourceTreeError(f"{file}:{record.line}: the instance has no name: {error}") from None
        values = {words[f]: _value(words[f], v) for f, v in record.fields.items() if f in words}
        made[int(key)] = Instance(
            name=name, id=int(key), fields=dict(record.fields), values=values, file=file, line=record.line, table=table
        )
    return made


def _value(key: str, value: Any) -> Any:
    """A value as `tracer.names` spells it: schedulers in lower case, scalars per vector always as a list."""
    if key == "pipeline_sched":
        return str(value).lower()
    return [value] if key == "c_block_spv" and isinstance(value, int) else value
