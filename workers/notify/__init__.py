"""Sends what `drift.alerts` wrote: one transport per kind of channel, and the loop that claims and sends."""
