"""The decoder that all supported families share."""
