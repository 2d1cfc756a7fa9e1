"""From aiter's generated instances to Composable Kernel's own source: a generator script in, CK's places out.

The generator's text names the helper alias that an instance is made with; the alias names CK's device operation; its
header includes the grid-wise kernel, which selects the block-wise pipeline. Each step is found in the file's text.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from tracer.aiter import text
from tracer.aiter.tree import AiterTree

CK = "3rdparty/composable_kernel"
_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"](ck(?:_tile)?/[^">]+)[">]', re.MULTILINE)
_DEVICE_OP = re.compile(r"ck::tensor_operation::device::(Device\w+)")


class Place(msgspec.Struct, frozen=True):
    """A name and where it stands (file relative to the tree)."""

    name: str
    file: str
    line: int


class CkPlaces(msgspec.Struct, frozen=True, kw_only=True):
    """Where one family's instances lead to. A place is None when it was not found; `missing` says why.

    Attributes:
        helper: aiter's alias of CK's device operation.
        wrapper: aiter's function that runs an instance (`..._impl`).
        device_op: CK's device operation.
        launch: the line in it that launches.
        kernel: the `__global__` function.
        gridwise: the grid-wise struct's header, where grid and LDS are computed.
        pipeline: the block-wise pipeline of the instance's version.
        missing: what could not be found, and why.
    """

    helper: Place | None = None
    wrapper: Place | None = None
    device_op: Place | None = None
    launch: Place | None = None
    kernel: Place | None = None
    gridwise: Place | None = None
    pipeline: Place | None = None
    missing: str | None = None


def ck_places(tree: AiterTree, generator: str, pipeline_version: int | None) -> CkPlaces:
    """Follows a generator script to CK.

    Args:
        tree: the aiter.
        generator: its gen_instances.py, relative to the tree.
        pipeline_version: `v` of the instance; picks the kernel of two and the pipeline.

    Raises:
        SourceTreeError: a file that is there can't be read.
    """
    script = text.read(tree.absolute(generator))
    header = header_of(tree, generator, script)
    if header is None:
        return CkPlaces(missing=f"{generator} includes no header of its folder")
    alias = re.search(r"using \w*Instance = (\w+)<", script)
    helper = _place(tree, header, alias.group(1), rf"^\s*using\s+{alias.group(1)}\b") if alias else None
    called = re.search(r"return (\w+_impl)<", script)
    wrapper = _place(tree, header, called.group(1), rf"\b{called.group(1)}\s*\(") if called else None
    found = CkPlaces(helper=helper, wrapper=wrapper)
    if helper is None:
        return msgspec.structs.replace(found, missing=f"{header} declares no alias that {generator} uses")
    shuffled = re.search(rf"= {helper.name}<\s*MFMA\b", script) is not None
    return _from_header(tree, found, header, helper.line, 4, pipeline_version, shuffled)


def places_of_function(tree: AiterTree, header: str, function: str, pipeline_version: int | None) -> CkPlaces:
    """Follows a function of aiter's that makes CK's device operation in its own body.

    Args:
        tree: the aiter.
        header: the file that defines it, relative to the tree.
        function: its name.
        pipeline_version: as for `ck_places`.

    Raises:
        SourceTreeError: a file that is there can't be read.
    """
    wrapper = _place(tree, header, function, rf"\b{function}\s*\(")
    if wrapper is None:
        return CkPlaces(missing=f"{header} defines no {function}")
    end = text.block_end(tree.absolute(header), wrapper.line) or wrapper.line
    found = CkPlaces(wrapper=wrapper)
    return _from_header(tree, found, header, wrapper.line, end - wrapper.line + 1, pipeline_version)


def _from_header(
    tree: AiterTree,
    found: CkPlaces,
    header: str,
    line: int,
    count: int,
    pipeline_version: int | None,
    shuffled: bool = False,
) -> CkPlaces:
    """Goes on from the lines of a header that name CK's device operation.

    `shuffled` says whether B's layout is MFMA, by which one of CK's operations picks its grid-wise header (2025).
    """
    named = _DEVICE_OP.search("\n".join(text.lines(tree.absolute(header))[line - 1 : line - 1 + count]))
    if named is None:
        return msgspec.structs.replace(found, missing=f"{header}:{line} names no device operation of CK")
    if tree.ck_root is None:
        return msgspec.structs.replace(
            found,
            missing=f"{named.group(1)} is defined in {CK}, a submodule that this tree does not have (not fetched)",
        )
    return _in_ck(tree, found, header, named.group(1), pipeline_version, shuffled)


def _in_ck(
    tree: AiterTree, found: CkPlaces, header: str, device_op: str, version: int | None, shuffled: bool
) -> CkPlaces:
    op_file = _defining(tree, _includes(tree, header), device_op)
    if op_file is None:
        return msgspec.structs.replace(found, missing=f"no header that {header} includes defines {device_op}")
    op_path = tree.absolute(op_file)
    op = _place(tree, op_file, device_op, rf"^\s*struct\s+{device_op}\b")
    launch = _place(tree, op_file, "launch_and_time_kernel", r"\blaunch_and_time_kernel\s*\(")
    kernels = list(dict.fromkeys(re.findall(r"\b(kernel_\w+)\s*<", text.blank_comments(text.read(op_path)))))
    two_buffers = [name for name in kernels if name.endswith("_2lds")]
    single = [name for name in kernels if name not in two_buffers]
    chosen = (two_buffers if _has_two_buffers(op_path, version) else single)[:1]
    grids = [f for f in _includes(tree, op_file) if "/gpu/grid/gridwise" in f]
    if re.search(r"is_same_v<BLayout,\s*(?:\w+::)*MFMA>", text.read(op_path)):
        grids = [f for f in grids if f.endswith("_bpreshuffle.hpp") is shuffled]
    two_lds = _uses_two_lds(op_path, version)
    kernel = next(
        (k for f in (op_file, *grids) if chosen and (k := _global_function(tree, f, chosen[0], two_lds))), None
    )
    grid_file = kernel.file if kernel is not None and kernel.file in grids else grids[0] if grids else None
    gridwise = _place(tree, grid_file, "GridwiseGemm", r"^\s*struct\s+Gridwise\w+") if grid_file else None
    pipeline = _pipeline(tree, grid_file, version) if grid_file and version is not None else None
    return msgspec.structs.replace(
        found,
        device_op=op,
        launch=launch,
        kernel=kernel,
        gridwise=gridwise,
        pipeline=pipeline,
        missing=None if kernel else f"no grid-wise header that {op_file} includes defines its kernel",
    )


def _has_two_buffers(op_path: Path, version: int | None) -> bool:
    """Whether the device operation launches the kernel with two LDS buffers for a pipeline version."""
    content = text.blank_comments(text.read(op_path))
    launched = re.search(r"\bkernel\s*=\s*kernel_\w+_2lds\s*<", content)
    if version is None or launched is None:
        return False
    conditions = re.findall(r"if constexpr\(([^{;]*BlockGemmPipelineVersion::v\d[^{;]*)\)", content[: launched.start()])
    return bool(conditions) and str(version) in re.findall(r"BlockGemmPipelineVersion::v(\d)", conditions[-1])


def _uses_two_lds(op_path: Path, version: int | None) -> bool | None:
    """What the device operation passes for `Use2LDS` with a pipeline version; None where its kernels have no such."""
    found = re.search(r"constexpr bool Use2LDS = (.*?)\}\(\);", text.read(op_path), re.DOTALL)
    if found is None or version is None:
        return None
    branch = re.search(rf"BlockGemmPipelineVersion::v{version}\)\s*return (true|false);", found.group(1))
    return branch.group(1) == "true" if branch is not None else None


def header_of(tree: AiterTree, generator: str, script: str) -> str | None:
    """The header of aiter's that a generator's instances include; None where it is not found."""
    folder = generator.rsplit("/", 1)[0]
    for name in dict.fromkeys(re.findall(r'#include "([\w/]+_common\w*\.cuh)"', script)):
        for candidate in (f"{folder}/include/{name}", f"{folder}/{name}"):
            if tree.absolute(candidate).is_file():
                return candidate
    return None


def _includes(tree: AiterTree, file: str) -> list[str]:
    """CK headers that a file includes itself, relative to the tree, those that exist."""
    found = [f"{CK}/include/{name}" for name in _INCLUDE.findall(text.read(tree.absolute(file)))]
    return [name for name in found if tree.absolute(name).is_file()]


def _defining(tree: AiterTree, files: list[str], struct: str) -> str | None:
    wanted = rf"^\s*struct\s+{struct}\b"
    return next((f for f in files if text.find_line(tree.absolute(f), wanted) is not None), None)


def _place(tree: AiterTree, file: str, name: str, pattern: str) -> Place | None:
    line = text.find_line(tree.absolute(file), pattern)
    return None if line is None else Place(name, file, line)


def _global_function(tree: AiterTree, file: str, name: str, two_lds: bool | None = None) -> Place | None:
    """Where a `__global__` function of this name is defined in a file; of two the one that `Use2LDS` selects."""
    content = text.blank_comments(text.read(tree.absolute(file)))
    for found in re.finditer(rf"\b{name}\s*\(", content):
        before = content[max(0, found.start() - 600) : found.start()].rpartition("}")[2]
        selected = two_lds is None or f"enable_if_t<{'' if two_lds else '!'}Use2LDS," in before
        if "__global__" in before and (selected or "Use2LDS" not in before):
            return Place(name, file, content.count("\n", 0, found.start()) + 1)
    return None


def _pipeline(tree: AiterTree, grid_file: str, version: int) -> Place | None:
    """The block-wise pipeline that the grid-wise header's selector gives for a version."""
    for selector in (f for f in _includes(tree, grid_file) if f.endswith("_selector.hpp")):
        content = text.blank_comments(text.read(tree.absolute(selector)))
        # the last branch for this version: earlier ones are for direct loads and fused gate-up
        branches = list(re.finditer(rf"BlockGemmPipelineVersion::v{version}\b", content))
        for branch in reversed(branches):
            until = content.find("BlockGemmPipelineVersion::", branch.end())
            part = content[branch.end() : until if until >= 0 else None]
            plain = [n for n in re.findall(r"return\s+(Blockwise\w+)\s*<", part) if not _special(n)]
            if plain:
                file = _defining(tree, _includes(tree, selector), plain[0])
                return _place(tree, file, plain[0], rf"^\s*struct\s+{plain[0]}\b") if file else None
    return None


def _special(name: str) -> bool:
    return any(word in name.lower() for word in ("gufusion", "bdequant", "directload"))
