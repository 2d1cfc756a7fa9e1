"""Tensile kernels of hipBLASLt and rocBLAS: `Cijk_Alik_Bljk_..._MT128x96x64_MI16x16x1_SN_...` in, every parameter out.

    [Custom_|CustomGSUs_]{ProblemType}_MT{M}x{N}x{DepthU}[_MI{M}x{N}x[{K}x]{blocks}][_CMS]_{SN|SE}{_{parameter}{value}}
    {ProblemType}_MT..._MI...{_word}                                    a custom kernel, the rest of whose name is free
    C{indices}_{types}..._PostGSU{N}, C{indices}_{type}[_GA], ...       helpers that run before or after a kernel

The parameters are sorted by their full names, and joined by underscores as their lists are (`WG64_4_1`). A parameter
that has no key of its own is kept in `other_parameters` under its full name, an unknown one under its abbreviation.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import ClassVar

from tracer.model.kernel import DecodedName, FieldValue, GemmView, Span, Unparsed
from tracer.names import tensile_helpers, tensile_parameters, tensile_problem
from tracer.names.base import NO_CONTEXT, Context, Grammar, Key
from tracer.names.converters import NUMBERS
from tracer.names.stated_view import exact_quotient
from tracer.names.tensile_keys import PARAMETER_KEYS
from tracer.names.vocabulary import pick

_N = "(0|[1-9][0-9]{0,8})"
_START = re.compile(
    rf"(Custom_|CustomGSUs_)?(C[i-z]{{2,}}_A[A-Za-z]+_(?:C_)?B[A-Za-z]+_\w{{1,300}}?)_MT{_N}x{_N}x{_N}(?=_|$)"
    rf"(?:_MI{_N}x{_N}x{_N}(?:x{_N})?(?=_|$))?(?:(_CMS)?_(SN|SE)(?=_|$))?"
)
#: characters of a list of numbers; the longest that is printed has four numbers
_LONGEST_LIST = 64
_CUSTOM_ISA = re.compile(r"(gfx\w+)$")
_FAMILIES = ("tensile_hipblaslt", "tensile_real", "tensile_custom", tensile_helpers.FAMILY)


class Tensile(Grammar):
    """Tensile's GEMM kernels, and the helper kernels around them.

    `tensile_real` is a name as a compiled library carries it (it states the ISA), `tensile_hipblaslt` one as logic
    files hold it; both have one grammar.
    """

    name = "tensile"
    families = _FAMILIES
    formal = frozenset(_FAMILIES)
    prefixes = ("Cijk", "Cij_", "Dijk", "Dij_", "Cijkl", "Custom_Cij", "CustomGSUs_Cij")
    link = "https://github.com/ROCm/rocm-libraries/tree/develop/projects/hipblaslt/tensilelite/Tensile/SolutionStructs"
    keys: ClassVar[Mapping[str, Key]] = {
        **tensile_problem.KEYS,
        **tensile_helpers.KEYS,
        **pick("m_per_block", "n_per_block", "k_per_block", "dtype_a", "dtype_b", "dtype_c", "dtype_compute", "isa"),
        **PARAMETER_KEYS,
        "mi_m": Key("M extent of the matrix instruction.", "elements"),
        "mi_n": Key("N extent of the matrix instruction.", "elements"),
        "mi_k": Key("K extent of the matrix instruction; printed only where the name has four numbers.", "elements"),
        "mi_b": Key("Blocks that one matrix instruction computes.", "blocks"),
        "other_parameters": Key("Parameters without a key of their own: full name (or raw abbreviation) -> value."),
        "parameter_order": Key("The parameters as printed, where they are not sorted by full name or not all known."),
        "abbreviations_keep_digits": Key(
            "Whether abbreviations keep digits (rocBLAS: 1LDSB) or not (hipBLASLt: LDSB)."
        ),
        "custom_main_loop": Key("Whether the main loop has a hand-made schedule (CMS)."),
        "ldc_equals_ldd": Key("Whether C and D must have one leading dimension (SE), or not (SN)."),
        "custom_prefix": Key("Custom or CustomGSUs, for a kernel that ships as an assembly file of its own."),
        "custom_suffix": Key("The free end of a custom kernel's name."),
    }

    def accepts(self, name: str) -> bool:
        return _START.match(name) is not None or tensile_helpers.accepts(name)

    def decode(self, name: str, context: Context = NO_CONTEXT) -> DecodedName:
        start = _START.match(name)
        return tensile_helpers.read(name, self.name) if start is None else self._solution(name, start)

    def read(self, name: str, context: Context = NO_CONTEXT) -> DecodedName | None:
        start = _START.match(name)
        if start is not None:
            return self._solution(name, start)
        return tensile_helpers.read(name, self.name) if tensile_helpers.accepts(name) else None

    def _solution(self, name: str, start: re.Match[str]) -> DecodedName:
        custom, problem, m, n, k, mi_1, mi_2, mi_3, mi_4, custom_loop, leading = start.groups()
        places = start.regs
        remembered, where, unparsed = tensile_problem.read(problem, places[2][0])
        reader = _Reader(name, {**remembered}, {**where}, [*unparsed])
        fields, spans, number = reader.fields, reader.spans, NUMBERS
        if "bias_types" in fields:  # what is remembered of problem types is not for others to change
            fields["bias_types"] = list(fields["bias_types"])
        if custom:
            reader.put("custom_prefix", custom.rstrip("_"), places[1])
        fields.update(m_per_block=number[m], n_per_block=number[n], k_per_block=number[k])
        spans.update(m_per_block=places[3], n_per_block=places[4], k_per_block=places[5])
        if mi_4:
            fields.update(mi_m=number[mi_1], mi_n=number[mi_2], mi_k=number[mi_3], mi_b=number[mi_4])
            spans.update(mi_m=places[6], mi_n=places[7], mi_k=places[8], mi_b=places[9])
        elif mi_1:
            fields.update(mi_m=number[mi_1], mi_n=number[mi_2], mi_b=number[mi_3])
            spans.update(mi_m=places[6], mi_n=places[7], mi_b=places[8])
        at = start.end()
        if leading:
            if custom_loop:
                reader.put("custom_main_loop", True, places[10])
            reader.put("ldc_equals_ldd", leading == "SE", places[11])
            reader.parameters(at)
            family = "tensile_real" if "isa" in fields else "tensile_hipblaslt"
        elif custom:
            reader.suffix(at)
            family = "tensile_custom"
        else:
            reader.unparsed.append(Unparsed(name[at:], at, "expected _SN and the parameters"))
            family = "tensile_hipblaslt"
        return DecodedName(name, name, self.name, family, fields, spans, tuple(reader.unparsed))

    def format(self, family: str, fields: Mapping[str, FieldValue]) -> str:
        if family == tensile_helpers.FAMILY:
            return tensile_helpers.write(fields)
        if family not in _FAMILIES:
            return super().format(family, fields)
        try:
            return _write(fields)
        except KeyError as error:
            raise ValueError(f"{family}: field {error} is missing") from error

    def view(self, decoded: DecodedName) -> GemmView | None:
        f = decoded.fields
        if decoded.family == tensile_helpers.FAMILY or "m_per_block" not in f:
            return None
        wave_tile: FieldValue = f.get("mi_wave_tile")
        wave_m = wave_n = None
        # several blocks an instruction may lie along M or N: then the wave's extent is not M x tiles
        if isinstance(wave_tile, list) and len(wave_tile) == 2 and f.get("mi_b") == 1:
            wave_m, wave_n = f["mi_m"] * wave_tile[0], f["mi_n"] * wave_tile[1]
        work_group = f.get("work_group")
        group: list[int] = work_group if isinstance(work_group, list) and len(work_group) == 3 else []
        return GemmView(
            op="gemm",
            tile_m=f["m_per_block"],
            tile_n=f.get("n_per_block"),
            tile_k=f.get("k_per_block"),
            wave_tile_m=wave_m,
            wave_tile_n=wave_n,
            instruction_m=f.get("mi_m"),
            instruction_n=f.get("mi_n"),
            instruction_k=f.get("mi_k"),
            waves_m=exact_quotient(f["m_per_block"], wave_m),
            waves_n=exact_quotient(f.get("n_per_block"), wave_n),
            waves_k=group[2] if group else None,
            threads_per_block=math.prod(group) if group else None,
            dtype_a=f.get("dtype_a"),
            dtype_b=f.get("dtype_b"),
            dtype_c=f.get("dtype_c"),
            dtype_acc=f.get("dtype_compute"),
            layout_a=_letter(f.get("trans_a")),
            layout_b=_letter(f.get("trans_b")),
            layout_c="N",
            split_k=f.get("global_split_u") if isinstance(f.get("global_split_u"), int) else None,
            pipeline=f"PGR{f['prefetch_global_read']}" if "prefetch_global_read" in f else None,
        )


def _letter(transposed: FieldValue) -> str | None:
    return None if transposed is None else "T" if transposed else "N"


class _Reader:
    """The fields of one name while they are read."""

    def __init__(
        self, name: str, fields: dict[str, FieldValue], spans: dict[str, Span], unparsed: list[Unparsed]
    ) -> None:
        self.name = name
        self.fields = fields
        self.spans = spans
        self.unparsed = unparsed

    def put(self, key: str, value: FieldValue, span: Span) -> None:
        if value is not None:
            self.fields[key] = value
            self.spans[key] = span

    def suffix(self, at: int) -> None:
        """The free end of a custom kernel's name."""
        text = self.name[at:]
        if text:
            self.put("custom_suffix", text[1:], (at + 1, len(self.name)))
        isa = _CUSTOM_ISA.search(text)
        if isa:
            self.put("isa", isa.group(1), (at + isa.start(), at + isa.end()))

    def parameters(self, at: int) -> None:
        """The parameter list, from the underscore at `at` on."""
        if not self._sound_parameters(at):
            self._damaged_parameters(at)

    def _sound_parameters(self, at: int) -> bool:
        """Reads a list of known parameters in their order; says whether it is one."""
        fields: dict[str, FieldValue] = {}
        spans: dict[str, Span] = {}
        others: dict[str, FieldValue] = {}
        first_other = last_other = -1
        keeps_digits: bool | None = None
        last = ""
        known = tensile_parameters.PARAMETERS
        for piece in tensile_parameters.SPLIT(self.name[at + 1 :]) if at < len(self.name) else ():
            start = at + 1
            at = start + len(piece)
            parameter = known[piece]
            if parameter is None:
                return False
            full, key, value, length, digits, is_list = parameter
            if digits is not None and digits is not keeps_digits:
                if keeps_digits is not None:
                    return False
                keeps_digits = digits
            if full <= last:
                second = tensile_parameters.second(full) if full == last and digits is False else None
                if second is None:
                    return False
                full, key = second, None
            last = full
            if is_list:
                value = value.copy()
            if key is None:
                others[full] = value
                if first_other < 0:
                    first_other = start
                last_other = at
            else:
                fields[key] = value
                spans[key] = (at - length, at)
        end = len(self.name)
        self.fields.update(fields)
        self.spans.update(spans)
        if others:
            self.put("other_parameters", others, (first_other, last_other))
        self.put("abbreviations_keep_digits", keeps_digits, (end, end))
        return True

    def _damaged_parameters(self, at: int) -> None:
        """Reads a list with unknown parameters, in another order or with pieces that are none."""
        fields, spans = self.fields, self.spans
        others: dict[str, FieldValue] = {}
        first_other = last_other = -1
        # every parameter's full name, in the order of the tokens
        printed: dict[str, None] = {}
        keeps_digits: bool | None = None
        in_order, last = True, ""
        goes_on = False
        text = ""
        tokens = tensile_parameters.TOKENS
        for piece in self.name[at + 1 :].split("_") if at < len(self.name) else ():
            start, at = at + 1, at + 1 + len(piece)
            token = tokens[piece]
            if token is None:
                if not goes_on or len(text) > _LONGEST_LIST or not tensile_parameters.CONTINUES(piece):
                    self.unparsed.append(Unparsed(piece, start, "expected a parameter and its value"))
                    goes_on = False
                    continue
                text = f"{text}_{piece}"
                value = tensile_parameters.read_value(last, text)
            else:
                full, key, value, text, digits, known, goes_on = token
                if digits is not None:
                    if keeps_digits is not None and digits is not keeps_digits:
                        reason = "expected abbreviations as one library prints them: all with their digits or without"
                        self.unparsed.append(Unparsed(piece, start, reason))
                        goes_on = False
                        continue
                    keeps_digits = digits
                if full in printed:
                    full, key = (tensile_parameters.second(full) if digits is False else None) or full, None
                    if full in printed:
                        self.unparsed.append(Unparsed(piece, start, f"expected {full} once only"))
                        goes_on = False
                        continue
                printed[full] = None
                if not known or full < last:
                    in_order = False
                last = full
            if key is None:
                others[last] = value
                if first_other < 0:
                    first_other = start
                last_other = at
            else:
                fields[key] = value
                spans[key] = (at - len(text), at)
        end = len(self.name)
        if others:
            self.put("other_parameters", others, (first_other, last_other))
        self.put("abbreviations_keep_digits", keeps_digits, (end, end))
        if not in_order:
            self.put("parameter_order", list(printed), (end, end))


def _write(f: Mapping[str, FieldValue]) -> str:
    prefix = f"{f['custom_prefix']}_" if f.get("custom_prefix") else ""
    name = f"{prefix}{f['problem_type']}_MT{f['m_per_block']}x{f['n_per_block']}x{f['k_per_block']}"
    if "mi_m" in f:
        numbers = (f["mi_m"], f["mi_n"], f["mi_k"], f["mi_b"]) if "mi_k" in f else (f["mi_m"], f["mi_n"], f["mi_b"])
        name += "_MI" + "x".join(map(str, numbers))
    if "ldc_equals_ldd" not in f:
        return f"{name}_{f['custom_suffix']}" if "custom_suffix" in f else name
    name += ("_CMS" if f.get("custom_main_loop") else "") + ("_SE" if f["ldc_equals_ldd"] else "_SN")
    values: dict[str, FieldValue] = dict(f.get("other_parameters", {}))
    values.update({full: f[key] for key, full in tensile_parameters.FULL_NAME_OF.items() if key in f})
    digits = f.get("abbreviations_keep_digits") is True
    tokens = [
        tensile_parameters.abbreviation(full, digits) + tensile_parameters.write_value(full, values[full])
        for full in f.get("parameter_order", sorted(values))
    ]
    return "_".join([name, *tokens])
