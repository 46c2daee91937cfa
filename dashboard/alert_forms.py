"""What people enter about incidents, silences, channels and baselines. Each refusal says what to do."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from drift import channels
from drift.entered import EntryError
from drift.findings.kinds import Severity
from drift.models import AlertRules, Channel, Endpoint, Team

UNTIL = (
    ("", gettext_lazy("until it is resolved")),
    ("1", gettext_lazy("for an hour")),
    ("8", gettext_lazy("for 8 hours")),
    ("24", gettext_lazy("for a day")),
    ("168", gettext_lazy("for a week")),
)
LOCAL_TIME = {"type": "datetime-local"}
SEVERITIES = [(s.value, gettext_lazy(s.and_graver)) for s in Severity]


class AcknowledgeForm(forms.Form):
    why = forms.CharField(
        max_length=300,
        required=False,
        label=gettext_lazy("Why"),
        help_text=gettext_lazy("For example: asked the provider"),
    )
    hours = forms.ChoiceField(choices=UNTIL, required=False, label=gettext_lazy("Until"))


class ResolveForm(forms.Form):
    resolution = forms.CharField(max_length=300, required=False, label=gettext_lazy("What it was"))


class NoteForm(forms.Form):
    text = forms.CharField(max_length=4000, label=gettext_lazy("Note"), widget=forms.Textarea(attrs={"rows": 3}))


class SilenceForm(forms.Form):
    """A silence of what, from when, to when, and why."""

    covers = forms.ChoiceField(label=gettext_lazy("What"))
    starts_at = forms.DateTimeField(
        label=gettext_lazy("From"), required=False, widget=forms.DateTimeInput(attrs=LOCAL_TIME)
    )
    ends_at = forms.DateTimeField(
        label=gettext_lazy("To"), widget=forms.DateTimeInput(attrs=LOCAL_TIME, format="%Y-%m-%dT%H:%M")
    )
    every_week = forms.BooleanField(label=gettext_lazy("Every week at this time"), required=False)
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=300,
        help_text=gettext_lazy("Shown to everyone who wonders why nothing came"),
    )

    def __init__(self, *arguments: Any, team: Team, **named: Any) -> None:
        super().__init__(*arguments, **named)
        rows = list(Endpoint.objects.filter(team=team, archived_at=None).order_by("name"))
        providers = sorted({row.provider for row in rows if row.provider})
        tags = sorted({tag for row in rows for tag in row.tags})
        self.team = team
        self.endpoints = {str(row.public_id): row for row in rows}
        covers = cast(forms.ChoiceField, self.fields["covers"])
        covers.choices = [
            (gettext("Endpoint"), [(f"endpoint:{row.public_id}", row.name) for row in rows]),
            (gettext("Provider"), [(f"provider:{name}", name) for name in providers]),
            (gettext("Tag"), [(f"tag:{tag}", tag) for tag in tags]),
        ]
        self.fields["ends_at"].initial = timezone.localtime() + timedelta(hours=2)

    def clean(self) -> dict[str, Any]:
        value = super().clean() or {}
        start, end = value.get("starts_at") or timezone.now(), value.get("ends_at")
        if end is not None and end <= start:
            self.add_error("ends_at", gettext("It must end after it begins."))
        if end is not None and end - start > timedelta(days=366):
            self.add_error("ends_at", gettext("A year at most. Archive the endpoint if nobody needs to hear of it."))
        if end is not None and value.get("every_week") and end - start >= timedelta(days=7):
            self.add_error("ends_at", gettext("A weekly window must be shorter than a week."))
        return value

    def chosen(self) -> dict[str, Any]:
        """What it covers, as `drift.silences.silence` takes it."""
        kind, _, value = self.cleaned_data["covers"].partition(":")
        return {"endpoint": self.endpoints[value]} if kind == "endpoint" else {kind: value}


class ChannelForm(forms.ModelForm):  # type: ignore[type-arg]
    """A channel. Its address is a secret: an empty field keeps the stored one."""

    address = forms.CharField(max_length=1000, required=False, widget=forms.TextInput(attrs={"spellcheck": "false"}))
    signing_secret = forms.CharField(
        label=gettext_lazy("Signing secret"),
        max_length=200,
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text=gettext_lazy("Each request is signed with it (HMAC-SHA256)"),
    )
    providers = forms.CharField(
        label=gettext_lazy("Providers"), required=False, help_text=gettext_lazy("Separated by commas; empty: all")
    )
    tags = forms.CharField(
        label=gettext_lazy("Tags"), required=False, help_text=gettext_lazy("Separated by commas; empty: all")
    )
    least_severity = forms.ChoiceField(choices=SEVERITIES, label=gettext_lazy("Tell of"), initial=Severity.MEDIUM)
    time_zone = forms.CharField(
        label=gettext_lazy("Time zone"),
        max_length=64,
        initial="UTC",
        help_text=gettext_lazy("Of the quiet hours, for example Europe/Berlin"),
    )

    class Meta:
        model = Channel
        fields = (
            "name",
            "address",
            "signing_secret",
            "least_severity",
            "providers",
            "tags",
            "quiet_from",
            "quiet_to",
            "time_zone",
            "language",
            "severe_breaks_quiet",
            "weekly_summary",
        )
        labels = {
            "name": gettext_lazy("Name"),
            "language": gettext_lazy("Language of its messages"),
            "quiet_from": gettext_lazy("Quiet from"),
            "quiet_to": gettext_lazy("Quiet to"),
            "severe_breaks_quiet": gettext_lazy("Severe alerts come through quiet hours"),
            "weekly_summary": gettext_lazy("Send a summary on Mondays"),
        }
        widgets = {
            "quiet_from": forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
            "quiet_to": forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
        }

    def __init__(self, *arguments: Any, kind: str, team: Team, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.kind, self.team = kind, team
        self.instance.kind, self.instance.team = kind, team
        self.fields["language"].required = False
        address = self.fields["address"]
        mail = kind == Channel.Kind.EMAIL
        address.label = {"email": gettext("E-mail address"), "slack": gettext("Slack webhook address")}.get(
            kind, gettext("Web address")
        )
        address.required = not self.instance.pk
        if kind != Channel.Kind.WEBHOOK:
            del self.fields["signing_secret"]
        else:
            self.fields["signing_secret"].required = not self.instance.pk
        if self.instance.pk:
            self.initial["providers"] = ", ".join(self.instance.providers)
            self.initial["tags"] = ", ".join(self.instance.tags)
            self.initial["address"] = self.instance.address_hint if mail else ""
            address.help_text = (
                ""
                if mail
                else gettext("Stored: {address_hint}. Empty: keep it.").format(address_hint=self.instance.address_hint)
            )
        elif kind == Channel.Kind.SLACK:
            address.help_text = gettext("From Slack's “Incoming Webhooks”: https://hooks.slack.com/services/…")
        for name, field in self.fields.items():
            if name in ("quiet_from", "quiet_to", "least_severity", "time_zone", "language"):
                field.widget.attrs["short"] = True

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if Channel.objects.filter(team=self.team, name=name).exclude(pk=self.instance.pk).exists():
            raise ValidationError(gettext("There is a channel of that name already."))
        return name

    def clean_address(self) -> str:
        text = str(self.cleaned_data["address"]).strip()
        if not text:
            if not self.instance.pk:
                raise ValidationError(gettext("Enter the address."))
            return ""
        try:
            return channels.mail_address(text) if self.kind == Channel.Kind.EMAIL else channels.web_address(text)
        except EntryError as error:
            raise ValidationError(str(error)) from error

    def clean_providers(self) -> list[str]:
        return words(self.cleaned_data["providers"])

    def clean_tags(self) -> list[str]:
        return words(self.cleaned_data["tags"])

    def clean_language(self) -> str:
        language: str = self.cleaned_data["language"] or self.instance.language
        return language

    def clean_time_zone(self) -> str:
        try:
            return channels.time_zone(self.cleaned_data["time_zone"])
        except EntryError as error:
            raise ValidationError(str(error)) from error

    def clean(self) -> dict[str, Any]:
        value = super().clean() or {}
        if (value.get("quiet_from") is None) != (value.get("quiet_to") is None):
            self.add_error("quiet_to", gettext("Enter both ends of the quiet hours, or none."))
        return value

    def save(self, commit: bool = True) -> Channel:
        """The stored address stays where none was entered; what may be shown of it is kept beside it."""
        before = Channel.objects.filter(pk=self.instance.pk).first()
        channel: Channel = super().save(commit=False)
        address = self.cleaned_data["address"]
        if address:
            channels.give_address(channel, address)
        elif before is not None:
            channel.address = before.address
        if before is not None and not self.cleaned_data.get("signing_secret"):
            channel.signing_secret = before.signing_secret
        if commit:
            channel.save()
        return channel


class BudgetForm(forms.ModelForm):  # type: ignore[type-arg]
    """'At most N false alarms a period', and how often to remind."""

    class Meta:
        model = AlertRules
        fields = ("false_alarms", "period", "reminder_hours")
        labels = {
            "false_alarms": gettext_lazy("At most"),
            "period": gettext_lazy("false alarms"),
            "reminder_hours": gettext_lazy("Remind every … hours"),
        }
        help_texts = {
            "false_alarms": gettext_lazy("Over all endpoints together. The fewer, the more evidence each alarm needs"),
            "reminder_hours": gettext_lazy("Of what is open and nobody acknowledged; 0 never"),
        }

    def clean_false_alarms(self) -> float:
        value: float = self.cleaned_data["false_alarms"]
        if not 0 < value <= 1000:
            raise ValidationError(
                gettext("More than 0 and at most 1,000. No false alarm at all would mean no alarm at all.")
            )
        return value


class BaselineForm(forms.Form):
    """'This week is the datum.'"""

    since = forms.DateTimeField(
        label=gettext_lazy("From"), widget=forms.DateTimeInput(attrs=LOCAL_TIME, format="%Y-%m-%dT%H:%M")
    )
    until = forms.DateTimeField(
        label=gettext_lazy("To"), widget=forms.DateTimeInput(attrs=LOCAL_TIME, format="%Y-%m-%dT%H:%M")
    )
    name = forms.CharField(
        label=gettext_lazy("Name"), max_length=80, required=False, help_text=gettext_lazy("For example: May")
    )
    pin = forms.BooleanField(label=gettext_lazy("Pin it: kept until something voids it"), required=False)

    def clean(self) -> dict[str, Any]:
        value = super().clean() or {}
        if value.get("since") and value.get("until") and value["until"] <= value["since"]:
            self.add_error("until", gettext("It must end after it begins."))
        return value


def words(text: str) -> list[str]:
    return list(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
