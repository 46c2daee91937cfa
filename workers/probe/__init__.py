"""Asks endpoints and reads their answers faithfully. Knows no database: what it returns, others store."""
