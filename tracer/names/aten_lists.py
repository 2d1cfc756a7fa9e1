"""Template parameters of PyTorch's own kernels: no input, out come function names and the keys of their arguments.

Read from aten/src/ATen/native/cuda of PyTorch 1.8 to 2.11; `ck_lists` has the notation. A kernel that is not here, or
whose list changed, is read by its name alone. The last entries are structs among a kernel's arguments.
"""

from __future__ import annotations

KERNELS = """
vectorized_elementwise_kernel
| vec_size functor num_tensors
vectorized_templated_elementwise_kernel
| vec_size functor num_tensors -4 dtype_c
| vec_size functor num_tensors -4 dtype_c dtype_a
| vec_size functor num_tensors -4 dtype_c dtype_a dtype_b
unrolled_elementwise_kernel
| functor num_tensors -4
| functor num_tensors items_per_thread -4
unrolled_elementwise_kernel_for_multi_outputs
| num_outputs functor num_tensors -2
elementwise_kernel elementwise_kernel_manual_unroll index_elementwise_kernel _scatter_gather_elementwise_kernel
| num_threads items_per_thread functor
reduce_kernel
| max_threads output_vec_size -
vectorized_gather_kernel
| alignment dtype_index
CatArrayBatchedCopy CatArrayBatchedCopy_contig CatArrayBatchedCopy_aligned16_contig
| dtype_a dtype_index dims batch_size stride_size
| element_size dtype_index dims batch_size stride_size
CatArrayBatchedCopy_alignedK_contig
| dtype_a dtype_index dims batch_size stride_size alignment
| element_size dtype_index dims batch_size stride_size alignment
cunn_SoftMaxForward cunn_SoftMaxBackward cunn_SoftMaxForwardSmem cunn_SoftMaxBackwardSmem
| vec_size dtype_a dtype_acc dtype_c epilogue
| vec_size dtype_a dtype_acc dtype_c epilogue dtype_index
cunn_SoftMaxForwardReg
| dtype_a dtype_acc dtype_c epilogue dtype_index items_per_thread
cunn_SpatialSoftMaxForward cunn_SpatialSoftMaxBackward
| dtype_a dtype_acc dtype_c epilogue
| dtype_a dtype_acc dtype_c dtype_index epilogue
softmax_warp_forward
| dtype_a dtype_c dtype_acc log2_elements log_softmax
| dtype_a dtype_c dtype_acc log2_elements log_softmax masked
softmax_warp_backward
| dtype_a dtype_c dtype_acc log2_elements log_softmax masked
indexSelectLargeIndex
| dtype_a dtype_indices dtype_index dst_dims src_dims idx_dims index_is_major
indexSelectSmallIndex
| dtype_a dtype_indices dtype_index dst_dims src_dims idx_dims
vectorized_layer_norm_kernel LayerNormForwardCUDAKernel
| dtype_a dtype_acc
| dtype_a dtype_acc rms_norm
RowwiseMomentsCUDAKernel
| dtype_a
| dtype_a dtype_acc
| dtype_a dtype_acc rms_norm
batch_norm_transform_input_kernel
| dtype_a dtype_stat dtype_acc train dtype_index
batch_norm_collect_statistics_kernel
| statistic dtype_a dtype_stat dtype_acc dtype_index
batch_norm_backward_kernel batch_norm_backward_reduce_kernel batch_norm_backward_elemt_kernel
| dtype_a dtype_stat dtype_acc dtype_index
batch_norm_reduce_statistics_kernel
| dtype_a dtype_acc dtype_index
distribution_elementwise_grid_stride_kernel
| dtype_acc vec_size functor -
max_pool_forward_nchw
| dtype_a
| dtype_a dtype_index
max_pool_backward_nchw
| dtype_a dtype_acc
| dtype_a dtype_acc dtype_index
upsample_nearest1d_out_frame upsample_nearest2d_out_frame upsample_nearest3d_out_frame
| dtype_a -
fused_dropout_kernel_vec
| dtype_a dtype_acc dtype_index dims vec_size dtype_mask
tensor_kernel_scan_innermost_dim tensor_kernel_scan_innermost_dim_with_indices
tensor_kernel_scan_outer_dim_with_indices
| dtype_a functor
tensor_kernel_scan_outer_dim
| dtype_a functor
| dtype_a dtype_index functor
bitonicSortKVInPlace
| key_dims value_dims block_x block_y dtype_key dtype_value comparator dtype_index
warpMergeSortKVInPlace
| key_dims value_dims sort_size block_y dtype_key dtype_value comparator dtype_index
| key_dims value_dims sort_size block_y dtype_key dtype_value comparator dtype_index warp_size
radixSortKVInPlace
| key_dims value_dims block_size items_per_thread dtype_key dtype_value dtype_index
gatherTopK
| dtype_a dtype_index dims with_kth_values
im2col_kernel col2im_batched_kernel vol2col_kernel
| dtype_a
col2im_kernel vol2im_kernel
| dtype_a dtype_acc
multi_tensor_apply_kernel
| tensor_lists functor
| tensor_lists functor -
| tensor_lists functor -2
| tensor_lists functor -3
| tensor_lists functor -4
| tensor_lists functor -5
| tensor_lists functor -6
| tensor_lists functor -7
| tensor_lists functor -8
| tensor_lists functor -9
| tensor_lists functor operation
| tensor_lists functor operation -
| tensor_lists functor operation -2
| tensor_lists functor operation -3
| tensor_lists functor operation -4
ReduceOp
| dtype_a - dtype_index dtype_c
| dtype_a - dtype_index dtype_c items_per_thread
| dtype_a - dtype_index dtype_c items_per_thread input_vec_size
"""
