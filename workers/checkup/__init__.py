"""Performs check-ups: asks what is missing, within the caps, and hands the answers to `drift.checkup`."""
