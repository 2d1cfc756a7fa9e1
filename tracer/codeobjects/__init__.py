"""Built modules and code objects: targets, kernels and their resources."""
