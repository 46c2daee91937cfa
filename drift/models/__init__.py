"""What is stored. One module per subject."""

from drift.models.annotation import Annotation
from drift.models.answer_file import AnswerFile
from drift.models.audit import AuditEntry
from drift.models.baseline import Baseline, SeriesWatch
from drift.models.channel import Channel, Delivery, DeliveryAttempt
from drift.models.checkup import Checkup, CheckupAnswer, CheckupStage
from drift.models.drill import Drill
from drift.models.endpoint import Capability, Endpoint, EndpointCheck, Traffic
from drift.models.eval_run import EvalAnswer, EvalArm, EvalRun, EvalScore
from drift.models.eval_set import EvalCase, EvalSet, EvalUpload, EvalVersion
from drift.models.finding import Finding
from drift.models.fit import FitThresholds
from drift.models.incident import Event, Incident
from drift.models.invitation import Invitation, StatusLink
from drift.models.observation import ObservedBucket, ObservedPrompt
from drift.models.reading import Reading
from drift.models.rollup import CanaryBucket, SeriesBucket, Span
from drift.models.run import Run
from drift.models.sample import Identity, Output, Sample
from drift.models.series import Monitor, Series
from drift.models.service import Heartbeat
from drift.models.silence import AlertRules, Silence
from drift.models.suite import Canary, Suite, SuiteCanary
from drift.models.team import Membership, Role, Team, User
from drift.models.token import ApiToken, IdempotentAnswer
from drift.models.trial import Trial, TrialAnswer

__all__ = [
    "AlertRules",
    "Annotation",
    "AnswerFile",
    "ApiToken",
    "AuditEntry",
    "Baseline",
    "Canary",
    "CanaryBucket",
    "Capability",
    "Channel",
    "Checkup",
    "CheckupAnswer",
    "CheckupStage",
    "Delivery",
    "DeliveryAttempt",
    "Drill",
    "Endpoint",
    "EndpointCheck",
    "EvalAnswer",
    "EvalArm",
    "EvalCase",
    "EvalRun",
    "EvalScore",
    "EvalSet",
    "EvalUpload",
    "EvalVersion",
    "Event",
    "Finding",
    "FitThresholds",
    "Heartbeat",
    "IdempotentAnswer",
    "Identity",
    "Incident",
    "Invitation",
    "Membership",
    "Monitor",
    "ObservedBucket",
    "ObservedPrompt",
    "Output",
    "Reading",
    "Role",
    "Run",
    "Sample",
    "Series",
    "SeriesBucket",
    "SeriesWatch",
    "Silence",
    "Span",
    "StatusLink",
    "Suite",
    "SuiteCanary",
    "Team",
    "Traffic",
    "Trial",
    "TrialAnswer",
    "User",
]
