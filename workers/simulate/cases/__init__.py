"""Known traps of OpenAI-compatible endpoints, each reproduced under its number.

A trap takes a `Draft` and answers it its own way. Traps that need no code of their own are scenarios only, see the
library.
"""

from __future__ import annotations

from collections.abc import Mapping

from workers.simulate.cases.determinism import DETERMINISM
from workers.simulate.cases.hostile import HOSTILE
from workers.simulate.cases.scores import SCORES
from workers.simulate.cases.shapes import SHAPES
from workers.simulate.cases.transport import TRANSPORT
from workers.simulate.cases.trap import Trap

CASES: Mapping[str, Trap] = {**DETERMINISM, **SCORES, **SHAPES, **TRANSPORT, **HOSTILE}
