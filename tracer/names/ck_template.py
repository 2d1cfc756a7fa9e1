"""CK kernel symbols: `ck::kernel_...<ck::Gridwise...<...>, ...>`, mangled or demangled, whole or cut off.

    [void ]ck::[namespaces::]kernel_function<Gridwise struct<its arguments>, function's arguments>[(parameters)]

Arguments are matched by position with the parameter list of the struct and of the function (`ck_lists`), in the
version whose list fits. `unsigned short` is bf16, as `__bf16` is: both spellings of one kernel give the same fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tracer.model.kernel import DecodedName, GemmView, Unparsed
from tracer.names import ck_lists, ck_view, cpp, cpp_lists
from tracer.names.base import NO_CONTEXT, Context, Grammar, Key
from tracer.names.ck_parameters import parameter
from tracer.names.cpp_lists import CUT, MORE
from tracer.names.vocabulary import WhenAsked, pick

_HEADERS = "include/ck/tensor_operation/gpu/grid (ROCm/composable_kernel)"
_PRESHUFFLE = ("_b_preshuffle", "_bpreshuffle", "_BPreshuffle")

_SHARED = pick(
    "block_size", "m_per_block", "n_per_block", "k_per_block", "ak1", "bk1", "m_per_xdl", "n_per_xdl", "m_xdl_per_wave",
    "n_xdl_per_wave", "a_block_transfer", "b_block_transfer", "c_block_transfer", "c_block_spv", "cshuffle_m",
    "cshuffle_n", "pipeline_sched", "pipeline_version", "scale_block_m", "scale_block_n", "scale_block_k", "dtype_a",
    "dtype_b", "dtype_c", "dtype_acc", "dtype_compute", "layout_a", "layout_b", "layout_c", "b_preshuffle", "stage",
    "activation", "mul_routed_weight", "split_k_enabled",
)  # fmt: skip
_OWN: Mapping[str, Key] = {
    **pick(
        "kernel",
        "a_src_scalar_per_vector",
        "b_src_scalar_per_vector",
        "c_scalar_per_vector",
        "k0_per_block",
        "k1",
        "loop_scheduler",
        "pipeline_version_classic",
        "layout_e",
        "layouts_d",
        "dtypes_d",
        "dtype_sfa",
        "dtype_sfb",
        "cde_element_op",
        "n_swizzle",
        "per_token_quant",
        "pad_n",
        "masked",
    ),
    "gridwise": Key("The struct that computes one block's tile.", None, _HEADERS),
    "a_dst_scalar_per_vector": Key("Elements of A that one store to LDS writes.", "elements", _HEADERS),
    "b_dst_scalar_per_vector": Key("Elements of B that one store to LDS writes.", "elements", _HEADERS),
    "m_per_wmma": Key("M extent of one WMMA tile.", "elements", _HEADERS),
    "n_per_wmma": Key("N extent of one WMMA tile.", "elements", _HEADERS),
    "m_repeat": Key("WMMA tiles along M that one wave computes.", "WMMA tiles", _HEADERS),
    "n_repeat": Key("WMMA tiles along N that one wave computes.", "WMMA tiles", _HEADERS),
    "gemm1_n_per_block": Key("N extent of the second GEMM's tile.", "elements", _HEADERS),
    "gemm1_k_per_block": Key("K extent per step of the second GEMM.", "elements", _HEADERS),
    "num_gemm_k_prefetch_stage": Key("Main-loop steps loaded ahead.", "stages", _HEADERS),
    "gemm_spec": Key("Which extents of the problem may end inside a tile (GemmSpecialization).", None, _HEADERS),
    "main_k_loop": Key("Whether the kernel has a main loop over K (else K is a few tiles only).", None, _HEADERS),
    "double_tail_k_loop": Key("Whether the loop over K ends with two steps.", None, _HEADERS),
    "mem_op": Key("How the result is written: Set, AtomicAdd (split-K), AtomicMax or Add.", None, _HEADERS),
    "tail": Key("The number of main-loop steps that the kernel's tail computes (TailNumber).", None, _HEADERS),
    "min_occupancy": Key("Waves per SIMD that the compiler must leave room for (launch bounds).", "waves", _HEADERS),
    "lds_buffers": Key("LDS buffers for one operand, said by the function's suffix.", "buffers", _HEADERS),
    "layouts_a": Key("Layouts of the A tensors.", None, _HEADERS),
    "layouts_b": Key("Layouts of the B tensors.", None, _HEADERS),
    "dtypes_a": Key("Element types of the A tensors.", None, _HEADERS),
    "dtypes_b": Key("Element types of the B tensors.", None, _HEADERS),
    "dtype_cshuffle": Key("Element type in which C passes LDS.", None, _HEADERS),
    "dtype_compute_a": Key("Element type of A in the matrix instruction.", None, _HEADERS),
    "dtype_compute_b": Key("Element type of B in the matrix instruction.", None, _HEADERS),
    "dtype_lds_a": Key("Element type of A in LDS.", None, _HEADERS),
    "dtype_lds_b": Key("Element type of B in LDS.", None, _HEADERS),
    "a_element_op": Key("Operation applied to every element of A.", None, _HEADERS),
    "b_element_op": Key("Operation applied to every element of B.", None, _HEADERS),
    "acc_element_op": Key("Operation between the two GEMMs.", None, _HEADERS),
    "scale_block_size": Key("Elements along K that share one scale (MX formats).", "elements", _HEADERS),
    "b_nontemporal": Key("Whether loads of B pass the caches by.", None, "gridwise_moe_gemm_blockscale.hpp"),
    "permute_a": Key("Whether A is permuted.", None, _HEADERS),
    "permute_b": Key("Whether B is permuted.", None, _HEADERS),
    "direct_load": Key("Whether tiles go from memory to LDS without passing registers.", None, _HEADERS),
    "large_tensors": Key("Whether offsets may pass 2 GB.", None, _HEADERS),
    "elementwise_before_cshuffle": Key("Whether the epilogue's operation comes before C passes LDS.", None, _HEADERS),
    "num_groups_to_merge": Key("Convolution groups that one block computes.", "groups", _HEADERS),
    "is_multi_a": Key("Whether there are several A tensors.", None, _HEADERS),
    "is_multi_b": Key("Whether there are several B tensors.", None, _HEADERS),
    "c_transpose": Key("Whether the GEMM computes the transpose of C.", None, _HEADERS),
    "zeroing": Key("Whether the kernel sets its output to zero first.", None, _HEADERS),
}


def _glossary() -> dict[str, Key]:
    """The keys above, and CK's own parameter names for the rest."""
    named = {**_SHARED, **_OWN}
    stated = ck_lists.keys(ck_lists.structs(), ck_lists.kernels())
    rest = {key: parameter(key, _HEADERS) for key in stated if key[0].isupper()}
    return {**rest, **named}


class CkTemplate(Grammar):
    """CK kernel symbols."""

    name = "ck_template"
    families = ("ck_template",)
    formal: ClassVar[frozenset[str]] = frozenset()
    prefixes = ("void ck::", "ck::", "std::enable_if<")
    reads_cpp = True
    link = "https://github.com/ROCm/composable_kernel/tree/develop/include/ck/tensor_operation/gpu/grid"
    keys: ClassVar[Mapping[str, Key]] = WhenAsked(_glossary)

    def accepts(self, name: str) -> bool:
        if name.startswith("std::enable_if<"):  # kernels that two overloads share a name by
            return cpp.read_function(name).name.startswith("ck::")
        return super().accepts(name)

    def decode(self, name: str, context: Context = NO_CONTEXT) -> DecodedName:
        return _Reading(cpp.read_function(name), {}, {}).read()

    def view(self, decoded: DecodedName) -> GemmView | None:
        return ck_view.gemm_view(decoded.fields, "conv" if "conv" in decoded.fields.get("kernel", "") else "gemm")


class _Reading(cpp_lists.Reading):
    """What one symbol states."""

    def read(self) -> DecodedName:
        """Reads the symbol."""
        function, name = self.function, self.function.text
        leaf, (start, end) = function.leaf, function.leaf_span
        args = function.arguments
        if not leaf or (args is None and function.parameters is None and function.start > 0):
            self.notes += (CUT,)
            self.unparsed.append(Unparsed(name[start:], start, "a function and its template arguments"))
        elif leaf.startswith("Gridwise"):
            self.struct(function)
        else:
            self.add("kernel", leaf, (start, end))
            if leaf.endswith("_2lds"):
                self.add("lds_buffers", 2, (end - 5, end))
            if args is None:
                self.notes += ("no template argument is there",)
                self.unparsed.append(Unparsed("", len(name), "template arguments"))
            else:
                self.arguments(leaf, args)
        return self.answer("ck_template", "ck_template")

    def arguments(self, leaf: str, args: cpp.Arguments) -> None:
        """Reads the template arguments of a kernel function."""
        text = self.function.text
        items = args.whole(text)
        found = ck_lists.read(ck_lists.kernels().get(leaf, ()), items, args.cut)
        for index, item in enumerate(args.items):
            if item.startswith("ck::Gridwise"):
                struct = cpp.template(text, args.span(index), args.plain)
                if struct.arguments is None and index >= len(items):
                    break  # the name is cut off inside the struct's own name
                self.struct(struct)
                break
        self.take(found, args, f"function {leaf}")
        if args.cut and not self.unparsed:
            self.cut(args, len(items))

    def struct(self, struct: cpp.Template) -> None:
        """Reads a gridwise struct and its template arguments."""
        leaf, (start, end) = struct.leaf, struct.leaf_span
        self.add("gridwise", leaf, (start, end))
        for word in _PRESHUFFLE:
            at = leaf.find(word)
            if at >= 0:
                self.add("b_preshuffle", True, (start + at + 1, start + at + len(word)))
        args = struct.arguments
        if args is None:
            return
        items = args.whole(self.function.text)
        self.take(ck_lists.read(ck_lists.structs().get(leaf, ()), items, args.cut), args, leaf)
        if args.cut:
            self.cut(args, len(items))

    def cut(self, args: cpp.Arguments, whole: int) -> None:
        """Says where arguments are lost: behind the `whole` ones that are complete."""
        self.notes += (CUT,)
        text = self.function.text
        if whole < len(args.items):
            start, end = args.span(whole)
            self.unparsed.append(Unparsed(text[start:end], start, "a whole template argument; the name is cut off"))
        else:
            self.unparsed.append(Unparsed("", len(text), MORE))
