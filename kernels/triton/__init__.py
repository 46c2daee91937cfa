"""The CUDA side: one Triton kernel per reduction, with tile sizes that the batch cannot choose.

Rotary embedding, residual sums and the embedding look-up are element-wise or copies, each element rounded on its own;
torch's CUDA kernels for them have no order to vary, so they are used as they are. Nothing here is autotuned: a tuner
picks by timing, and would pick another reduction on another day.
"""
