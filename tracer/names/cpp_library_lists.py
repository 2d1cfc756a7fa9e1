"""Template parameters of kernels that serving libraries bring along: no input, function names and argument keys out.

Read from vLLM's csrc, SGLang's jit_kernel, FlashInfer's include, PyTorch's symmetric memory and aiter's csrc, 2024 to
2026; `ck_lists` has the notation. The last entries are structs among a kernel's arguments.
"""

from __future__ import annotations

KERNELS = """
rms_norm_kernel
| dtype_a
| dtype_a vec_size
| dtype_a vec_size num_dims
fused_add_rms_norm_kernel
| dtype_a vec_size
rms_norm_static_fp8_quant_kernel scaled_fp8_quant_kernel scaled_fp8_quant_kernel_strided
dynamic_per_token_scaled_fp8_quant_kernel dynamic_per_token_scaled_fp8_quant_kernel_strided segmented_max_reduction
segmented_max_reduction_strided
| dtype_a dtype_c
fused_add_rms_norm_static_fp8_quant_kernel
| dtype_a vec_size dtype_c
rotary_embedding_kernel batched_rotary_embedding_kernel
| dtype_a is_neox
act_and_mul_kernel
| dtype_a activation
| dtype_a activation act_first
activation_kernel
| dtype_a activation
reshape_and_cache_kernel reshape_and_cache_flash_kernel concat_and_cache_mla_kernel
| dtype_a dtype_kv kv_dtype_id
paged_attention_v1_kernel
| dtype_a dtype_kv head_dim page_size block_size kv_dtype_id block_sparse
paged_attention_v2_kernel
| dtype_a dtype_kv head_dim page_size block_size kv_dtype_id block_sparse partition_size
paged_attention_v2_reduce_kernel
| dtype_a head_dim block_size partition_size
paged_attention_ll4mi_reduce_kernel
| dtype_a dtype_c head_dim block_size partition_size npar_loops
| dtype_a dtype_c head_dim block_size partition_size npar_loops enable_last_page_lens
cross_device_reduce_1stage cross_device_reduce_2stage
| dtype_a num_gpus
moe_sum_kernel
| dtype_a topk
moe_align_block_size_kernel count_and_sort_expert_tokens_kernel
| dtype_indices
store_kvcache
| element_bytes splits programmatic_launch dtype_indices
| k_element_bytes v_element_bytes splits programmatic_launch dtype_indices
multimem_all_reduce_kernel multimem_one_shot_all_reduce_kernel
| dtype_a alignment
RMSNormKernel FusedAddRMSNormKernel QKRMSNormKernel
| vec_size dtype_a
RMSNormQuantKernel FusedAddRMSNormQuantKernel
| vec_size dtype_a dtype_c
allreduce_fusion_kernel_oneshot_lamport
| fusion_pattern dtype_a num_gpus fp32_acc
| fusion_pattern dtype_a num_gpus fp32_acc trigger_at_end
quantize_with_block_size
| quant_type_id dtype_a scale_vec_size ue8m0_scales
elementwise_kernel_with_index
| dtype_index functor
softmax_warp_forward
| dtype_a dtype_c dtype_acc log2_elements log_softmax
| dtype_a dtype_c dtype_acc log2_elements log_softmax masked
softmax_warp_backward
| dtype_a dtype_c dtype_acc log2_elements log_softmax masked
"""
