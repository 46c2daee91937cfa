"""What people enter. Each refusal says what to do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from django import forms
from django.conf import settings
from django.utils.translation import gettext, gettext_lazy

from drift.addresses import AddressError, AddressRule, read_base_url
from drift.answers import ApiKind, Transport
from drift.endpoints import DEFAULT_PARAMETERS
from drift.models import Endpoint, Monitor, Suite, Team

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

Number = TypeVar("Number", int, float)

CHOICES = {
    "kind": ((ApiKind.CHAT, gettext_lazy("Chat completions")), (ApiKind.RESPONSES, gettext_lazy("Responses"))),
    "transport": ((Transport.WHOLE, gettext_lazy("whole")), (Transport.STREAM, gettext_lazy("as a stream"))),
}
CADENCES = (
    (60, gettext_lazy("every minute")),
    (120, gettext_lazy("every 2 minutes")),
    (300, gettext_lazy("every 5 minutes")),
    (900, gettext_lazy("every 15 minutes")),
    (3600, gettext_lazy("every hour")),
    (21600, gettext_lazy("every 6 hours")),
    (86400, gettext_lazy("every day")),
)


class EndpointForm(forms.ModelForm):  # type: ignore[type-arg]
    """An endpoint as a person describes it. The key is write-only: an empty field keeps the stored one."""

    api_key = forms.CharField(
        label=gettext_lazy("API key"),
        required=False,
        strip=True,
        widget=forms.PasswordInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    base_url = forms.CharField(
        label=gettext_lazy("Address"),
        max_length=500,
        widget=forms.TextInput(attrs={"inputmode": "url", "spellcheck": "false", "placeholder": "https://"}),
        help_text=gettext_lazy("Up to and including /v1, for example https://api.openai.com/v1"),
    )
    remove_key = forms.BooleanField(label=gettext_lazy("Remove the stored key"), required=False)
    tags = forms.CharField(label=gettext_lazy("Tags"), required=False, help_text=gettext_lazy("Separated by commas"))
    parameters = forms.CharField(
        label=gettext_lazy("Parameters"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        help_text=gettext_lazy("JSON, sent with every request. A check takes out what the endpoint refuses."),
    )

    class Meta:
        model = Endpoint
        fields = (
            "name",
            "base_url",
            "model",
            "provider",
            "tags",
            "parameters",
            "kind",
            "transport",
            "max_concurrency",
            "requests_per_minute",
            "deadline_s",
            "price_in",
            "price_out",
        )
        labels = {
            "name": gettext_lazy("Name"),
            "provider": gettext_lazy("Provider"),
            "model": gettext_lazy("Model"),
            "kind": "API",
            "transport": gettext_lazy("Answers travel"),
            "max_concurrency": gettext_lazy("Requests in flight, at most"),
            "requests_per_minute": gettext_lazy("Requests a minute, at most"),
            "deadline_s": gettext_lazy("Give up after (seconds)"),
            "price_in": gettext_lazy("Price of input ($ per million tokens)"),
            "price_out": gettext_lazy("Price of output ($ per million tokens)"),
        }
        help_texts = {
            "price_in": gettext_lazy("$ per 1M tokens"),
            "model": gettext_lazy("As the endpoint calls it, for example gpt-4o-mini"),
            "provider": gettext_lazy("Any word you like; the overview groups by it"),
            "transport": gettext_lazy("Kept for the life of a series: a change begins a new one"),
        }

    FIRST = ("name", "base_url", "model", "api_key", "remove_key")

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.team = team
        for name in ("kind", "transport"):
            self.fields[name].choices = CHOICES[name]  # type: ignore[attr-defined]
        stored = self.instance.pk is not None
        parameters = self.instance.parameters if stored else DEFAULT_PARAMETERS
        self.initial["parameters"] = json.dumps(dict(parameters), indent=2)
        self.initial["tags"] = ", ".join(self.instance.tags or [])
        self.initial["api_key"] = ""
        if stored and self.instance.api_key:
            hint = self.instance.api_key_hint
            self.fields["api_key"].help_text = (
                gettext("A key ending in {hint} is stored and never shown. Leave this empty to keep it.")
                if hint
                else gettext("A key is stored and never shown. Leave this empty to keep it.")
            ).format(hint=hint)
        else:
            self.fields["api_key"].help_text = gettext(
                "Stored encrypted and never shown again. Leave empty if none is needed."
            )
            del self.fields["remove_key"]

    @property
    def first_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.FIRST if name in self.fields]

    @property
    def more_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name not in self.FIRST]

    @property
    def more_open(self) -> bool:
        """Whether the folded part holds something that must be seen."""
        return any(name not in self.FIRST for name in self.errors) if self.is_bound else False

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        same = Endpoint.objects.filter(team=self.team, name=name, archived_at__isnull=True).exclude(pk=self.instance.pk)
        if same.exists():
            raise forms.ValidationError(
                gettext("Your team already has an endpoint of that name. Choose another, or archive it.")
            )
        return name

    def clean_base_url(self) -> str:
        try:
            address = read_base_url(self.cleaned_data["base_url"])
            refusal = AddressRule.parse(settings.ALLOW_PRIVATE_TARGETS).refusal_of_literal(address)
        except AddressError as error:
            raise forms.ValidationError(str(error)) from error
        if refusal:
            raise forms.ValidationError(refusal)
        return address

    def clean_tags(self) -> list[str]:
        tags = list(dict.fromkeys(tag.strip() for tag in self.cleaned_data["tags"].split(",") if tag.strip()))
        if any(len(tag) > 40 for tag in tags):
            raise forms.ValidationError(gettext("A tag has at most 40 characters."))
        return tags

    def clean_parameters(self) -> dict[str, Any]:
        text = self.cleaned_data["parameters"].strip() or "{}"
        try:
            value = json.loads(text, parse_constant=_refuse_constant)
        except ValueError as error:
            raise forms.ValidationError(gettext("This is not JSON: {error}").format(error=error)) from error
        if not isinstance(value, dict):
            raise forms.ValidationError(gettext('Enter a JSON object, for example {"temperature": 0, "seed": 42}.'))
        taken = {
            "model",
            "messages",
            "input",
            "stream",
            "max_tokens",
            "max_completion_tokens",
            "max_output_tokens",
            "n",
        }
        if clash := sorted(taken & set(value)):
            raise forms.ValidationError(
                gettext("Leave out {join}: Tidegauge sets it itself.").format(join=", ".join(clash))
            )
        return value

    def clean_deadline_s(self) -> float:
        return within(float(self.cleaned_data["deadline_s"]), 1, 600)

    def clean_max_concurrency(self) -> int:
        return within(int(self.cleaned_data["max_concurrency"]), 1, 256)

    def fields_to_store(self) -> dict[str, Any]:
        """What `drift.endpoints.register` and `change` take, the key apart."""
        return {name: self.cleaned_data[name] for name in self._meta.fields or () if name in self.cleaned_data}

    @property
    def key_to_store(self) -> str | None:
        """The key entered; '' to remove the stored one; None to leave it."""
        if self.cleaned_data.get("remove_key"):
            return ""
        return self.cleaned_data["api_key"] or None


def _refuse_constant(name: str) -> Any:
    raise ValueError(gettext("{name} is not a number in JSON").format(name=name))


class MonitorForm(forms.ModelForm):  # type: ignore[type-arg]
    """What is asked, how often, how many times."""

    cadence_s = forms.TypedChoiceField(label=gettext_lazy("Ask"), coerce=int)

    class Meta:
        model = Monitor
        fields = ("suite", "cadence_s", "repeats", "concurrency", "tokens_per_day")
        labels = {
            "suite": gettext_lazy("Suite"),
            "repeats": gettext_lazy("Times each prompt is sent"),
            "concurrency": gettext_lazy("Requests in flight at once"),
            "tokens_per_day": gettext_lazy("Tokens a day, at most"),
        }
        help_texts = {
            "repeats": gettext_lazy("Two is the least that can disagree; five shows rare differences sooner"),
            "concurrency": gettext_lazy("One asks quietly; more lets the endpoint batch our requests together"),
            "tokens_per_day": gettext_lazy("Reported by the provider, in UTC days. Empty: no limit"),
        }

    def __init__(self, *args: Any, endpoint: Endpoint, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.endpoint = endpoint
        choices: list[tuple[int, StrOrPromise]] = list(CADENCES)
        stored = self.instance.pk is not None
        if stored and self.instance.cadence_s not in dict(CADENCES):
            choices.append(
                (
                    self.instance.cadence_s,
                    gettext("every {cadence_s} seconds").format(cadence_s=self.instance.cadence_s),
                )
            )
        self.fields["cadence_s"].choices = choices  # type: ignore[attr-defined]
        if stored:
            del self.fields["suite"]
        else:
            suite = self.fields["suite"]
            suite.queryset = Suite.objects.filter(team=endpoint.team).order_by("name", "-version")  # type: ignore[attr-defined]
            suite.empty_label = None  # type: ignore[attr-defined]
            self.initial.setdefault("cadence_s", 300)

    def clean_suite(self) -> Suite:
        suite: Suite = self.cleaned_data["suite"]
        if Monitor.objects.filter(endpoint=self.endpoint, suite=suite).exists():
            raise forms.ValidationError(
                gettext("This endpoint already has a monitor with that suite. Edit that one instead.")
            )
        return suite

    def clean_repeats(self) -> int:
        return within(int(self.cleaned_data["repeats"]), 1, 100)

    def clean_concurrency(self) -> int:
        return within(int(self.cleaned_data["concurrency"]), 1, 64)


def within(number: Number, least: int, most: int) -> Number:
    if not least <= number <= most:
        raise forms.ValidationError(gettext("Enter a number from {least} to {most}.").format(least=least, most=most))
    return number
