"""What can be found. Each kind has its gravity, its family, and whether it voids the baseline."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from django.utils.translation import gettext, gettext_noop


class Severity(StrEnum):
    """How much a finding asks of people, least first."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"

    @property
    def word(self) -> str:
        return gettext(self.text)

    @property
    def text(self) -> str:
        """The word as a message, not translated yet."""
        return {
            "low": gettext_noop("For the record"),
            "medium": gettext_noop("Worth a look"),
            "high": gettext_noop("Severe"),
        }[self.value]

    @property
    def and_graver(self) -> str:
        """'Worth a look and graver', as a message, not translated yet."""
        return {
            "low": gettext_noop("For the record and graver"),
            "medium": gettext_noop("Worth a look and graver"),
            "high": gettext_noop("Severe"),
        }[self.value]

    @property
    def rank(self) -> int:
        return list(Severity).index(self)


class Family(StrEnum):
    """Findings of one family about one provider within minutes are one incident."""

    CHANGE = "change"
    OUTAGE = "outage"
    DATA = "data"


class _Meaning(NamedTuple):
    headline: str
    severity: Severity
    family: Family
    voids: bool
    opens: bool  # an incident; otherwise it is a line of the feed, or joins the incident of its cause


class Kind(StrEnum):
    """One detected fact. The truth table is in docs/alerts.md."""

    IDENTITY_SEEN = "identity_seen"
    NEW_IDENTITY = "new_identity"
    IDENTITY_RETURNED = "identity_returned"
    MODEL_ECHO = "model_echo"
    ROUTING = "routing"
    BEHAVIOURAL = "behavioural"
    COSMETIC = "cosmetic"
    MIX_SHIFT = "mix_shift"
    VANISHED = "vanished"
    FINGERPRINT_KEY = "fingerprint_key"
    PROMPT_TOKENS = "prompt_tokens"
    REQUEST_CHANGED = "request_changed"
    CAPABILITY = "capability"
    SILENT_CHANGE = "silent_change"
    FORMATTING = "formatting"
    LOGPROBS = "logprobs"
    CACHED = "cached"
    UNCACHED = "uncached"
    OUTAGE = "outage"
    RETIRED = "retired"
    RECOVERY = "recovery"
    NO_DATA = "no_data"
    DATA_AGAIN = "data_again"

    @property
    def headline(self) -> str:
        return gettext(self.text)

    @property
    def text(self) -> str:
        """The headline as a message, not translated yet."""
        return _MEANINGS[self].headline

    @property
    def severity(self) -> Severity:
        return _MEANINGS[self].severity

    @property
    def family(self) -> Family:
        return _MEANINGS[self].family

    @property
    def voids(self) -> bool:
        return _MEANINGS[self].voids

    @property
    def opens(self) -> bool:
        return _MEANINGS[self].opens


_LOW, _MEDIUM, _HIGH = Severity.LOW, Severity.MEDIUM, Severity.HIGH
_CHANGE, _OUTAGE, _DATA = Family.CHANGE, Family.OUTAGE, Family.DATA
_MEANINGS = {
    #                                 headline                      severity family  voids  opens
    Kind.IDENTITY_SEEN: _Meaning(gettext_noop("new identity seen"), _LOW, _CHANGE, False, False),
    Kind.NEW_IDENTITY: _Meaning(gettext_noop("new identity"), _HIGH, _CHANGE, True, True),
    Kind.IDENTITY_RETURNED: _Meaning(gettext_noop("a former identity is back"), _MEDIUM, _CHANGE, True, True),
    Kind.MODEL_ECHO: _Meaning(gettext_noop("another model answers"), _HIGH, _CHANGE, True, True),
    Kind.ROUTING: _Meaning(gettext_noop("routed to another provider"), _HIGH, _CHANGE, True, True),
    Kind.BEHAVIOURAL: _Meaning(gettext_noop("answers moved"), _HIGH, _CHANGE, False, False),
    Kind.COSMETIC: _Meaning(gettext_noop("answers did not move"), _LOW, _CHANGE, False, False),
    Kind.MIX_SHIFT: _Meaning(gettext_noop("identities are mixed otherwise"), _MEDIUM, _CHANGE, False, True),
    Kind.VANISHED: _Meaning(gettext_noop("an identity is gone"), _LOW, _CHANGE, False, False),
    Kind.FINGERPRINT_KEY: _Meaning(gettext_noop("fingerprint given otherwise"), _MEDIUM, _CHANGE, False, True),
    Kind.PROMPT_TOKENS: _Meaning(gettext_noop("prompts are counted otherwise"), _HIGH, _CHANGE, True, True),
    Kind.REQUEST_CHANGED: _Meaning(gettext_noop("we ask otherwise"), _LOW, _CHANGE, False, False),
    Kind.CAPABILITY: _Meaning(gettext_noop("a parameter is treated otherwise"), _MEDIUM, _CHANGE, False, True),
    Kind.SILENT_CHANGE: _Meaning(gettext_noop("answers moved, no identity did"), _HIGH, _CHANGE, True, True),
    Kind.FORMATTING: _Meaning(gettext_noop("only white space moved"), _MEDIUM, _CHANGE, True, True),
    Kind.LOGPROBS: _Meaning(gettext_noop("log probabilities moved"), _MEDIUM, _CHANGE, False, True),
    Kind.CACHED: _Meaning(gettext_noop("answers come from a cache"), _MEDIUM, _DATA, False, True),
    Kind.UNCACHED: _Meaning(gettext_noop("answers are fresh again"), _LOW, _DATA, False, False),
    Kind.OUTAGE: _Meaning(gettext_noop("does not answer"), _HIGH, _OUTAGE, False, True),
    Kind.RETIRED: _Meaning(gettext_noop("the model is gone"), _HIGH, _OUTAGE, True, True),
    Kind.RECOVERY: _Meaning(gettext_noop("answers again"), _LOW, _OUTAGE, False, False),
    Kind.NO_DATA: _Meaning(gettext_noop("no data"), _MEDIUM, _DATA, False, True),
    Kind.DATA_AGAIN: _Meaning(gettext_noop("data again"), _LOW, _DATA, False, False),
}
