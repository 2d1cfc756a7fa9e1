"""AMD assembly as compilers write it (Triton's `.amdgcn`, clang's `.s`): text in, kernels with their resources out.

Resources are those of the metadata block (`.amdgpu_metadata`, YAML), else of the `.amdhsa_kernel` directives.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import msgspec
import yaml

from tracer.codeobjects.kernel import CodeObject, KernelCode
from tracer.codeobjects.metadata import KernelMetadata, kernel_code
from tracer.codeobjects.targets import TargetId, parse_target
from tracer.model.capture import Lost, Resources

FROM = "assembly text"
_MARKS = re.compile(r"^\s*\.(?:amdgcn_target|amdhsa_kernel|amdgpu_metadata|amdhsa_code_object_version)\b", re.MULTILINE)
_TARGET = re.compile(r'^\s*\.amdgcn_target\s+"([^"]+)"', re.MULTILINE)
_METADATA = re.compile(r"^\s*\.amdgpu_metadata\b(.*?)(?:^\s*\.end_amdgpu_metadata\b|\Z)", re.MULTILINE | re.DOTALL)
_DIRECTIVES = re.compile(r"^\s*\.amdhsa_kernel\s+(\S+)(.*?)^\s*\.end_amdhsa_kernel", re.MULTILINE | re.DOTALL)
_SETTING = re.compile(r"^\s*\.amdhsa_(\w+)\s+(\d+)\s*(?:;.*)?$", re.MULTILINE)
_FUNCTION = re.compile(r"^\s*\.type\s+(\S+?)\s*,\s*@function", re.MULTILINE)
_LABEL = re.compile(r"([\w.$@]+):")
_SIZE = re.compile(r"\.size\s+(\S+?)\s*,")
_CODE_LENGTH = re.compile(r";\s*codeLenInByte\s*=\s*(\d+)")
_INSTRUCTION = re.compile(r"\s+([a-z][a-z0-9_]+)\b(.*)")
#: a load that goes straight to LDS says so behind its operands
_TO_LDS = re.compile(r"\blds\s*(?://.*)?$")


def is_amdgcn(text: str) -> bool:
    """Whether a text is AMD assembly with directives of the HSA ABI."""
    return _MARKS.search(text) is not None


def read_amdgcn(text: str) -> CodeObject:
    """Reads AMD assembly. What can't be read is counted in `lost`, never raised."""
    lost: list[Lost] = []
    described, stated = _metadata(text, lost)
    settings = {name: dict(_SETTING.findall(body)) for name, body in _DIRECTIVES.findall(text)}
    kernels = {kernel.name: kernel for kernel in map(kernel_code, described)}
    for name, values in settings.items():
        kernels.setdefault(name, _of_directives(name, values))
    counted = _count(text, {*kernels, *_FUNCTION.findall(text)})
    elsewhere = sum(sum(counts.values()) for name, (counts, _) in counted.items() if name not in kernels)
    if elsewhere:
        lost.append(Lost("instructions of functions that are no kernel, counted to none", elsewhere))
    found = _TARGET.search(text)
    target = parse_target(found.group(1)) if found else stated
    return CodeObject(
        target=target or TargetId(arch=None),
        kernels=tuple(_counted(kernel, settings.get(kernel.name, {}), counted) for kernel in kernels.values()),
        lost=tuple(lost),
    )


def mnemonic(name: str, operands: str) -> str:
    """The key an instruction is counted under: its mnemonic, with ` lds` where a load goes straight to LDS."""
    return f"{name} lds" if "load" in name and _TO_LDS.search(operands) else name


def _metadata(text: str, lost: list[Lost]) -> tuple[list[KernelMetadata], TargetId | None]:
    kernels: list[KernelMetadata] = []
    target: TargetId | None = None
    for block in _METADATA.findall(text):
        try:
            # every scalar stays text: msgspec turns it into what the field wants
            loaded = yaml.load(block, getattr(yaml, "CBaseLoader", yaml.BaseLoader))
        except yaml.YAMLError as error:
            lost.append(Lost("metadata blocks that are no YAML", 1, " ".join(str(error).split())))
            continue
        if not isinstance(loaded, dict) or not isinstance(loaded.get("amdhsa.kernels", []), list):
            lost.append(Lost("metadata blocks that are no map of kernels", 1))
            continue
        target = target or parse_target(str(loaded.get("amdhsa.target", "")))
        for entry in loaded.get("amdhsa.kernels", []):
            try:
                kernels.append(msgspec.convert(entry, KernelMetadata, strict=False))
            except msgspec.ValidationError as error:
                lost.append(Lost("kernels whose metadata can't be read", 1, str(error)))
    return kernels, target


def _of_directives(name: str, values: dict[str, str]) -> KernelCode:
    """A kernel as its directives alone state it: what is an expression there is not known."""
    number = {key: int(value) for key, value in values.items()}
    return KernelCode(
        name=name,
        resources=Resources(
            vgprs=number.get("next_free_vgpr"),
            lds_bytes=number.get("group_segment_fixed_size"),
            scratch_bytes=number.get("private_segment_fixed_size"),
        ),
        kernarg_bytes=number.get("kernarg_size"),
        wave_size=32 if number.get("wavefront_size32") == 1 else None,
    )


def _counted(
    kernel: KernelCode, settings: dict[str, str], counted: dict[str, tuple[Counter[str], int | None]]
) -> KernelCode:
    counts, length = counted.get(kernel.name, (None, None))
    offset = settings.get("accum_offset")
    return msgspec.structs.replace(
        kernel,
        architectural_vgprs=int(offset) if offset is not None else None,
        instructions=dict(counts) if counts is not None else None,
        instructions_from=FROM if counts is not None else None,
        code_bytes=length,
        notes=() if counts is not None else ("its code is not in this text",),
    )


def _count(text: str, functions: set[str]) -> dict[str, tuple[Counter[str], int | None]]:
    """Function -> (mnemonic -> count, bytes of its code where a comment of the compiler says so)."""
    counted: dict[str, tuple[Counter[str], int | None]] = {}
    current: Counter[str] | None = None
    last: str | None = None
    for line in _lines(text):
        label = _LABEL.match(line)
        if label is not None:
            name = label.group(1)
            if name in functions:
                current, last = Counter(), name
                counted[name] = (current, None)
            elif name.startswith(".Lfunc_end"):
                current = None
            continue
        length = _CODE_LENGTH.search(line)
        if length is not None and last is not None:
            counted[last] = (counted[last][0], int(length.group(1)))
            continue
        if current is None:
            continue
        found = _INSTRUCTION.match(line)
        if found is not None:
            name, operands = found.groups()
            current[mnemonic(name, operands.partition(";")[0])] += 1
        elif last is not None and (size := _SIZE.match(line.strip())) is not None and size.group(1) == last:
            current = None
    return counted


def _lines(text: str) -> Iterator[str]:
    """The lines outside of the metadata, whose keys look like labels."""
    start = 0
    for block in _METADATA.finditer(text):
        yield from text[start : block.start()].splitlines()
        start = block.end()
    yield from text[start:].splitlines()
