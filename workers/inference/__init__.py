"""The in-house inference worker: an OpenAI-compatible server with continuous batching, in two modes.

``invariant`` computes every answer in an order that its batch cannot influence; ``fast`` is stock PyTorch written for
speed. The package stands alone: no Django, nothing from the rest of the project but ``kernels``.
"""
