"""What a trap is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from workers.simulate.draft import Draft
from workers.simulate.wire import Wire


@dataclass(frozen=True, slots=True)
class Trap:
    """`any_route`: it answers every path, `/models` included. `any_model`: it does not mind the model's name."""

    answer: Callable[[Draft], Wire]
    any_route: bool = False
    any_model: bool = False
