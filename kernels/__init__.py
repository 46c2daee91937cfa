"""Batch-invariant operations: what a row comes to depends on that row alone, bit for bit.

The rule: no scalar computed over a batch (its rows, its longest sequence, how many sequences share it) may choose
anything that changes the order of a reduction. It may choose how many calls of a fixed shape are made.
"""
