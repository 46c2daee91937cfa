"""Continuous batching: schedule, run, postprocess."""
