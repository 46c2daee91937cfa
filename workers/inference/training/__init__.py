"""Gradients through the very kernels that serve, so that trainer and sampler compute one policy."""
