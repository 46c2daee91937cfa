"""Charts: each with the question it answers, its figure for the browser, and the table that says the same.

Figures are plain dicts; `validated` has plotly check them in tests, so that no page waits for its import.
"""

from dashboard.charts.alike import alike, matrix
from dashboard.charts.axes import local
from dashboard.charts.chart import Chart, Event, Value, validated
from dashboard.charts.comparison import comparison
from dashboard.charts.divergence import Datum, datum_of, divergence, new_identities
from dashboard.charts.in_house import batches, price
from dashboard.charts.lanes import heatmap, identities
from dashboard.charts.marks import marked
from dashboard.charts.requests import costs, latencies, outcomes

__all__ = [
    "Chart",
    "Datum",
    "Event",
    "Value",
    "alike",
    "batches",
    "comparison",
    "costs",
    "datum_of",
    "divergence",
    "heatmap",
    "identities",
    "latencies",
    "local",
    "marked",
    "matrix",
    "new_identities",
    "outcomes",
    "price",
    "validated",
]
