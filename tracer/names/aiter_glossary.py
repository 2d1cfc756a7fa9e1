"""What template parameters of aiter's own C++ kernels mean: no input, out come keys with a sentence and a unit.

Read from the kernels' bodies and comments in csrc of aiter's main of August 2026. A parameter that no kernel explains
by what it does with it is not here; the grammar then says so.
"""

from __future__ import annotations

#: key | unit (may be empty) | meaning
_TEXT = """
a16w4_shuffle || Whether scales are stored in the order that a16w4 kernels read.
a_chunk | elements | Elements of K that a thread fetches at once.
asm_layout || Whether the value cache has the layout of the assembly kernels, [blocks, heads, tokens/x, head_dim, x].
aux || Cache policy of the loads: 0 is a regular load, others are non-temporal.
big_tile_size_k | elements | K extent of the tile that one block works through.
big_tile_size_n | elements | N extent of the tile that one block works through.
bits_per_pass | bits | Bits of the value that one pass of the radix selection looks at.
bk | elements | K extent of the tile that one block takes.
block_x_size | threads | Threads of the block in x, along the head dimension.
block_y_size | tokens | Threads of the block in y, one token each.
bm | rows | Rows of a block of sorted tokens: 32, 64, 128 or 256.
bv | threads | Threads of a block; they split the value dimension.
bv_p | elements | Elements of the value dimension that one block computes.
bytes_per_ldg | B | Bytes of one global load.
capacity | elements | Capacity of the selection's buffer: the number wanted, up to a power of 2, at least a wave.
col_major_group_m | tiles | Rows of tiles that are walked column by column as one group; 0 walks them in order.
cols_per_thread | elements | Columns that one thread computes.
context_partition_num | parts | Parts of the context whose results are reduced.
cta | threads | Threads of a block.
dim | elements | Extent of the rotation: the length of the Hadamard transform.
do_rotate_act || Whether the activation is rotated by a Hadamard transform.
double_buffer || Whether two heads are taken at a time, in registers of their own.
dp_mode || Whether the end of a sequence's keys depends on the query's place in it.
e8m0_shuffle || Whether e8m0 scales are stored shuffled.
emit_e8m0_scale || Whether scales are powers of two, stored as one e8m0 byte.
enable_directwrite || Whether candidates that fit are compacted into LDS and finished there.
f32vec || Type by which several fp32 scores are read at a time.
fp16_filter || Argument that enables the overload for 16-bit types (SFINAE); it states nothing else.
fuse_rope || Whether the rotary embedding is applied too.
fused_last_filter || Whether the last pass of the radix selection writes the result itself.
g_head_major || Whether the gates are stored head by head.
gemma_norm || Whether the norm multiplies by 1 + weight, as Gemma's does.
greater || Whether the largest values are selected; false selects the smallest.
group_size | elements | Elements that share one scale.
has_gk || Whether gates for each element of the key dimension are given.
has_limit || Whether the inputs of the activation are clamped to a limit.
has_q_weight || Whether the norm of Q has a weight.
has_smscale_hash || Whether experts are mapped to smooth scales by a hash table.
has_smscale_map || Whether rows are mapped to smooth scales by a table.
hc_mult | streams | Residual streams of the hyper-connection.
hidden_size | elements | Columns of the hidden state.
index_dtype_id || Number of the index cache's data type: 0 is that of the inputs, others are fp8.
is_biased || Whether a correction bias is added to the scores before the selection.
is_broadcast_reg_outptr || Whether results are written to every GPU's registered output, without a gather afterwards.
is_fn_pack_bf16 || Whether the fp32 weight is split into two bf16 parts for bf16 MFMA, instead of fp32 MFMA.
is_interleaved || Whether the sections of the multimodal rotary embedding are interleaved.
is_mrope || Whether the rotary embedding is multimodal, with sections of its own.
is_nope_first || Whether the part that is not rotated comes first in a head.
is_softmax || Whether scores are softmax; false is sigmoid.
is_varlen || Whether sequences differ in length (packed).
k_asm_layout || Whether the value cache has the layout of the assembly kernels.
k_insert_kv || Whether keys and values are written to the cache.
k_is_circular_buffer || Whether the convolution's state is a circular buffer.
k_is_sparse || Whether the query and key of the sparse-attention index are processed as well.
k_per_thread | groups | Groups that one thread quantises.
k_per_token_kvscale || Whether keys and values get a scale for each token.
k_skip_quant || Whether the quantising part is left out.
k_skip_sort || Whether the sorting part is left out.
kv_lora | elements | Extent of the compressed K and V (kv_lora_rank).
m | sections | Sections of the multimodal rotary embedding.
m_swizzle | tiles | Rows of tiles that neighbouring blocks take, for the caches.
max_iters | iterations | Most iterations of the kernel's loop.
max_smscale_map_hash_size | entries | Most entries of the hash table of smooth scales that LDS holds.
mt0 | rows | Rows that one group of threads computes.
mt1 | elements | Elements of a row that one thread takes at a time.
n | rows | Rows of the activation, the small side of the product.
n_ctas | blocks | Blocks that share the quantising.
n_loop | iterations | Rounds in which a block takes its row.
n_sort_ctas | blocks | Blocks that share the counting for the sort.
n_threads_per_row | threads | Threads that compute one row.
n_vec | vectors | Vectors of one row, one a thread.
need_renorm || Whether the selected weights are divided by their sum.
need_sum || Whether the softmax's sum is computed too.
no_quant || Whether the result stays unquantised.
nope_first || Whether the part that is not rotated comes first in a head.
norm_block | elements | Elements of the hidden dimension that the norm takes at a time.
nt_hints || Whether loads and stores are non-temporal.
num_a_rows_per_block | rows | Rows of the weight that one block computes.
num_grp | groups | Groups of experts.
num_kv_heads | heads | Heads of the KV cache.
num_rows | rows | Rows that one block computes.
num_shared_experts | experts | Shared experts, behind the routed ones.
oop || Whether the new residual goes to a tensor of its own; false adds in place.
order_flag || Whether the first operand stands on the left; false swaps them, which matters to minus and divide.
output_unquant || Whether the unquantised result is written too.
pack_size | elements | Elements of one load or store of a thread.
pe_dim | elements | Extent of a head that is rotated.
phase || Whether rows are of prefill or of decode, which says where they begin and end.
plan_based || Whether slots and positions come from a plan, resolved in the kernel, rather than from tensors.
prioritize_smaller_indice || Whether of equal values those with the smaller index are taken.
q_dtype_id || Number of Q's stored data type: 0 is that of the inputs, others are fp8.
q_group_size | elements | Elements of Q that share one scale.
q_scale_fp32 || Whether scales of Q are fp32.
quad_k_ct | heads | Heads of K in fours, where fixed at compile time; 0 is read at run time.
quad_q_ct | heads | Heads of Q in fours, where fixed at compile time; 0 is read at run time.
quant_method || How the fp8 KV cache is scaled: one scale for a tensor, or one a head.
quant_scale | elements | Elements that share one scale.
query_group_size | heads | Query heads that share one head of K and V.
reduce_thread_size | threads | Threads that share one scale, whose maximum is reduced.
residual_block | elements | Elements of the hidden dimension that a block takes at a time.
reuse_freqs_front_part || Whether cos and sin are given once for both halves, and reused.
rmode || How e8m0 scales are rounded: 0 down, 1 up, 2 to even, 3 ceiling.
rope_dim | elements | Extent of a head that is rotated.
rotate_style || How pairs are rotated: 0 halves of the head (NEOX), 1 neighbours (GPT-J).
route_fp8 || Whether the routed partial outputs are MXFP8.
row_based || Whether the row is put into the base address rather than into each offset.
rows | rows | Rows or vectors that one thread works through.
rows_per_block | rows | Rows that one block reduces.
rows_per_cta | rows | Rows that one block takes.
rows_per_warp | rows | Rows that one wave takes.
rpw | rows | Rows that one wave takes.
save_new_value || Whether the new values are written out.
scale_layout || How scales are stored: 0 row by row, others in the tile order of the scaled MFMA.
score_func || How scores are computed: 0 sqrt of softplus, 1 sigmoid, 2 softmax.
scoring_func || How the shared experts are scored: 0 not at all, 1 sigmoid.
shuffle_scale || Whether scales are stored shuffled, in the order that the matrix kernels read.
shuffle_weight || Whether the quantised weight is stored shuffled.
snapshot_bf16 || Whether the state of each chunk is stored as bf16; false is fp32.
stable || Whether the choice among equal values is deterministic.
state_bf16 || Whether the first and last state are bf16; false is fp32.
store_final_state || Whether the last state is written.
store_nt || Whether stores are non-temporal.
stride_deq1 || Whether the innermost stride is 1.
stride_din_eq1 || Whether the input's innermost stride is 1.
stride_din_xeq1 || Whether the first input's innermost stride is 1.
stride_din_yeq1 || Whether the second input's innermost stride is 1.
stride_dout_eq1 || Whether the output's innermost stride is 1.
stride_dout_xeq1 || Whether the first output's innermost stride is 1.
stride_dout_yeq1 || Whether the second output's innermost stride is 1.
stride_dxeq1 || Whether the first tensor's innermost stride is 1.
stride_dyeq1 || Whether the second tensor's innermost stride is 1.
threads_per_row | threads | Threads that share one row, one for each group of experts.
tier || Order in which lanes take groups: 0 as they come, 4 and 8 rotated ones apart, in runs of so many.
tile_k | elements | K extent of one step of the block's tile.
tile_m | rows | M extent of the tile that one block computes.
tile_n | elements | N extent of the tile that one block computes.
tile_t | tokens | Tokens that one block takes.
tm | tokens | Tokens of the chunk that one block takes.
tnum | threads | Threads of a block.
tokens_per_block | tokens | Tokens that one block takes, a wave each (in the fine-grained kernel heads).
tpb | threads | Threads of a block.
tpw | tokens | Tokens that one wave takes.
transpose_out_dim01 || Whether the output's first two dimensions are swapped.
transpose_scale || Whether scales are stored column by column.
two_way || Whether a block's halves each compute an output stream, two at a time.
unrl | steps | How far the loop over K is unrolled.
use_buffer_addressing || Whether loads go through a buffer descriptor, which reaches 4 GiB, rather than a pointer.
use_exp2 || Whether the gates are powers of 2 rather than of e.
use_initial_state || Whether a first state is given.
use_qk_l2_norm || Whether Q and K are divided by their L2 norm.
use_sinks || Whether attention sinks are added.
v_shuffle || Whether V's cache is shuffled, 16 bytes of tokens together.
vec | elements | Elements along the innermost dimension that one thread computes.
vec_pairs | pairs | Pairs that one thread rotates at a time.
vpt | elements | Scores that one thread holds.
warps_per_cta | waves | Waves of a block.
waves_per_token | waves | Waves that share one token.
wg_size | threads | Threads of a block.
width | elements | Elements of one vector load.
write_topk_values || Whether the selected values are written beside their indices.
wv_pr_grp | waves | Waves of a block.
x | elements | Innermost extent of the key cache's layout, [blocks, heads, head_dim/x, tokens, x].
ytile | columns | Columns of the weight that one wave computes.
"""


def meanings() -> dict[str, tuple[str, str | None]]:
    """Key -> what it means, and what is counted (None for a flag or a label)."""
    rows = ([part.strip() for part in line.split("|")] for line in _TEXT.strip().splitlines())
    return {key: (meaning, unit or None) for key, unit, meaning in rows}
