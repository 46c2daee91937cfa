"""What is stored. One module per subject."""

from drift.models.endpoint import Capability, Endpoint, EndpointCheck, Traffic
from drift.models.reading import Reading
from drift.models.rollup import CanaryBucket, SeriesBucket, Span
from drift.models.run import Run
from drift.models.sample import Identity, Output, Sample
from drift.models.series import Monitor, Series
from drift.models.service import Heartbeat
from drift.models.suite import Canary, Suite, SuiteCanary
from drift.models.team import Membership, Role, Team, User

__all__ = [
    "Canary",
    "CanaryBucket",
    "Capability",
    "Endpoint",
    "EndpointCheck",
    "Heartbeat",
    "Identity",
    "Membership",
    "Monitor",
    "Output",
    "Reading",
    "Role",
    "Run",
    "Sample",
    "Series",
    "SeriesBucket",
    "Span",
    "Suite",
    "SuiteCanary",
    "Team",
    "Traffic",
    "User",
]
