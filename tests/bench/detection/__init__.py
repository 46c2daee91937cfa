"""The detection benchmark: simulated endpoints, rules that watch them, and the report."""
