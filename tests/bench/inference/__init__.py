"""The price ledger of the in-house worker: who is measured, how, and the report."""
