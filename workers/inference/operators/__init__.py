"""The two ways to compute a decoder: batch-invariant, and stock PyTorch for speed."""
