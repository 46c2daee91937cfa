"""An OpenAI-compatible server with scripted behaviour, for tests, demonstrations and fire drills."""

from workers.simulate.library import NAMED
from workers.simulate.scenario import Phase, Scenario, Storm, Support, Version
from workers.simulate.server import Clock, Simulator

__all__ = ["NAMED", "Clock", "Phase", "Scenario", "Simulator", "Storm", "Support", "Version"]
