"""PTX text (Triton's `.ptx`): text in, kernels with arguments, block and instruction counts out.

PTX has virtual registers: how many real ones a kernel takes, and what it spills, the assembler decides later. They stay
None here, as does shared memory that the launch brings along (`.extern .shared`).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

from tracer.codeobjects.kernel import CodeObject, KernelArgument, KernelCode
from tracer.codeobjects.targets import TargetId
from tracer.model.capture import Lost, Resources

FROM = "PTX text"
_MARKS = re.compile(r"^\s*\.version\s+[\d.]+\s*$.*?^\s*\.target\s+(sm_\w+)", re.MULTILINE | re.DOTALL)
_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_PLACES = re.compile(r"^\s*\.(?:loc|file|section)\b[^\n]*$", re.MULTILINE)
_ENTRY = re.compile(r"\.entry\s+([\w$]+)")
_PARAMETER = re.compile(
    r"\.param\s+(?:\.align\s+\d+\s+)?\.([a-z]+)(\d+)\s+(\.ptr\s+)?(?:\.(global|shared|const|local)\s+)?"
    r"(?:\.align\s+\d+\s+)?([\w$]+)(?:\[(\d+)\])?"
)
_BLOCK = re.compile(r"\.(reqntid|maxntid)\s+(\d+)(?:\s*,\s*(\d+))?(?:\s*,\s*(\d+))?")
_MAX_REGISTERS = re.compile(r"\.maxnreg\s+(\d+)")
_REGISTERS = re.compile(r"\.reg\s+\.(\w+)\s+%\w+<(\d+)>")
_SHARED = re.compile(r"(\.extern\s+)?\.shared\s+(?:\.align\s+\d+\s+)?\.[a-z]+(\d+)\s+([\w$]+)(?:\[(\d*)\])?")
_LEAD = re.compile(r"(?:\s|[{}]|[\w$]+:(?!:))*(?:@!?%?[\w$]+\s+)?")
_MNEMONIC = re.compile(r"[a-z][\w.:]*")
_WARP = 32


def is_ptx(text: str) -> bool:
    """Whether a text is PTX."""
    return _MARKS.search(text) is not None


def read_ptx(text: str) -> CodeObject:
    """Reads PTX. A kernel whose end is missing is counted in `lost`, never raised."""
    found = _MARKS.search(text)
    plain = _PLACES.sub("", _COMMENTS.sub(" ", text))
    lost: list[Lost] = []
    kernels: list[KernelCode] = []
    shared = {name: (bool(extern), int(bits), size) for extern, bits, name, size in _SHARED.findall(plain)}
    for entry in _ENTRY.finditer(plain):
        start = plain.find("{", entry.end())
        closed = re.search(r";", plain[entry.end() : start if start >= 0 else None])
        if start < 0 or closed is not None:  # a declaration, or a text that is cut off
            if closed is None:
                lost.append(Lost("kernels whose body is missing", 1, entry.group(1)))
            continue
        end = _closing(plain, start)
        if end is None:
            lost.append(Lost("kernels whose end is missing", 1, entry.group(1)))
        kernels.append(_kernel(entry.group(1), plain[entry.end() : start], plain[start:end], shared))
    return CodeObject(target=TargetId(arch=found.group(1) if found else None), kernels=tuple(kernels), lost=tuple(lost))


def _closing(text: str, start: int) -> int | None:
    """The place of the brace that closes the one at `start`; None where there is none."""
    depth = 0
    for brace in re.finditer(r"[{}]", text[start:]):
        depth += 1 if brace.group() == "{" else -1
        if depth == 0:
            return start + brace.start()
    return None


def _kernel(name: str, head: str, body: str, shared: dict[str, tuple[bool, int, str]]) -> KernelCode:
    arguments = tuple(
        KernelArgument(
            name=parameter,
            kind="pointer" if pointer else "by_value",
            size_bytes=int(bits) // 8 * int(count or 1),
            value_type=f"{kind}{bits}",
            address_space=space or None,
        )
        for kind, bits, pointer, space, parameter, count in _PARAMETER.findall(head)
    )
    block = _BLOCK.search(head)
    sides = tuple(int(side or 1) for side in block.groups()[1:]) if block else ()
    used = [entry for symbol, entry in shared.items() if re.search(rf"(?<![\w$]){re.escape(symbol)}(?![\w$])", body)]
    static = sum(bits // 8 * int(size or 1) for extern, bits, size in used if not extern)
    dynamic = any(extern for extern, _, _ in used)
    notes = ["real registers and spills are decided when the PTX is assembled"]
    if dynamic:
        notes.append("it uses shared memory that the launch brings along: how much, PTX does not say")
    limit = _MAX_REGISTERS.search(head)
    if limit:
        notes.append(f"at most {limit.group(1)} registers a thread (.maxnreg)")
    return KernelCode(
        name=name,
        resources=Resources(lds_bytes=None if dynamic else static),
        wave_size=_WARP,
        max_block_threads=math.prod(sides) if sides else None,
        required_block=(sides[0], sides[1], sides[2]) if block and block.group(1) == "reqntid" else None,
        arguments=arguments,
        kernarg_bytes=None,
        instructions=dict(Counter(_mnemonics(body))),
        instructions_from=FROM,
        virtual_registers={kind: int(count) - 1 for kind, count in _REGISTERS.findall(body)},
        notes=tuple(notes),
    )


def _mnemonics(body: str) -> Iterator[str]:
    for statement in body.split(";"):
        lead = _LEAD.match(statement)
        found = _MNEMONIC.match(statement, lead.end() if lead else 0)
        if found is not None:
            yield found.group()
