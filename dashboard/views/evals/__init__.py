"""The pages of evals: sets and how they come in, runs, reports, comparisons, uploads."""
