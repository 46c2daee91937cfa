"""A comparison over weeks as a report that can be sent: `report` gathers it, `html` and `tables` write it."""
