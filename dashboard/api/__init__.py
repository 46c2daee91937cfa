"""The REST API under /api/v1: one module per resource, each lookup through `dashboard.access`."""
