"""Performs eval runs: through the same prober, limits and circuit breaker as the canaries."""
