"""A suite and its canaries as people edit them. What was left alone is the same canary, to the byte."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from drift import entered
from drift.entered import EntryError
from drift.models import Canary, Endpoint, Team
from drift.suites import CanaryText, text_of
from drift.trials import Draft

MOST_CANARIES = 200
SPARE_ROWS = 2
Messages = list[dict[str, Any]]


def shown(messages: Messages) -> str:
    """A single user message as its text; anything else as JSON."""
    if len(messages) == 1 and set(messages[0]) == {"role", "content"} and messages[0]["role"] == "user":
        content = messages[0]["content"]
        if isinstance(content, str) and not content.lstrip().startswith("["):
            return content
    return json.dumps(messages, indent=1, ensure_ascii=False)


def read(text: str) -> Messages:
    """What `shown` wrote, or a new prompt. Raises EntryError."""
    text = text.replace("\r\n", "\n")
    if text.lstrip().startswith("["):
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        if isinstance(value, list):
            return entered.messages(value)
    return entered.messages([{"role": "user", "content": text}])


class SuiteForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=80)
    retention_days = forms.IntegerField(label=_("Keep answers for (days)"), min_value=1, max_value=36_500, initial=400)

    def __init__(self, *args: Any, fixed_name: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if fixed_name:  # versions of a suite share its name
            del self.fields["name"]
        self._name = fixed_name

    @property
    def name_to_store(self) -> str:
        return self._name or str(self.cleaned_data["name"]).strip()


class TryForm(forms.Form):
    """Whom a dry run asks, and how often."""

    endpoint = forms.ModelChoiceField(
        Endpoint.objects.none(), to_field_name="public_id", empty_label=None, label=_("Try it on")
    )
    repeats = forms.TypedChoiceField(
        choices=((1, _("once")), (2, _("twice, to see whether the answers differ"))), coerce=int, label=_("Ask each")
    )

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        mine = Endpoint.objects.filter(team=team, archived_at__isnull=True).order_by("name")
        self.fields["endpoint"].queryset = mine  # type: ignore[attr-defined]


class CanaryForm(forms.Form):
    """One row. Empty rows are left out; a removed one can be taken back until the suite is saved."""

    canary = forms.UUIDField(required=False, widget=forms.HiddenInput)
    name = forms.CharField(label=_("Name"), max_length=80)
    prompt = forms.CharField(
        label=_("Prompt"),
        strip=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Plain text, or chat messages as JSON: a list of objects with role and content"),
    )
    max_tokens = forms.IntegerField(label=_("Up to (tokens)"), min_value=1, max_value=1_000_000, initial=64)
    remove = forms.BooleanField(label=_("Remove from the suite"), required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["max_tokens"].widget.attrs["short"] = True

    def clean_prompt(self) -> Messages:
        try:
            return read(self.cleaned_data["prompt"])
        except EntryError as refusal:
            raise forms.ValidationError(str(refusal)) from refusal

    def text(self, known: Mapping[str, Canary]) -> CanaryText:
        """The canary as entered; to the byte the one it was where nothing was changed."""
        made = CanaryText(self.cleaned_data["name"], self.cleaned_data["prompt"], self.cleaned_data["max_tokens"])
        before = known.get(str(self.cleaned_data.get("canary") or ""))
        if before is None:
            return made
        was = text_of(before)
        unchanged = read(shown(was.messages)) == made.messages
        return was if unchanged and (was.name, was.max_tokens) == (made.name, made.max_tokens) else made


class _Rows(forms.BaseFormSet):  # type: ignore[type-arg]
    def clean(self) -> None:
        if any(self.errors):
            return
        names = [form.cleaned_data["name"] for form in self.kept]
        if not names:
            raise forms.ValidationError(gettext("A suite has at least one canary."))
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise forms.ValidationError(
                gettext("Two canaries are called {name}: give each its own name.").format(name=twice[0])
            )

    @property
    def kept(self) -> list[CanaryForm]:
        """The rows that say something and are not to be removed."""
        return [form for form in self.forms if form.cleaned_data and not form.cleaned_data.get("remove")]


CanaryRows = forms.formset_factory(
    CanaryForm, formset=_Rows, extra=0, max_num=MOST_CANARIES, validate_max=True, absolute_max=MOST_CANARIES + 50
)


def initial_rows(texts: list[tuple[str, CanaryText]]) -> list[dict[str, Any]]:
    """`texts`: each canary's public id ('' for a new one) and its text."""
    return [
        {"canary": key, "name": one.name, "prompt": shown(one.messages), "max_tokens": one.max_tokens}
        for key, one in texts
    ]


def draft_of(suite: SuiteForm, rows: Any, known: Mapping[str, Canary]) -> Draft:
    """What would be saved, from valid forms."""
    texts = tuple(form.text(known) for form in rows.kept)
    return Draft(suite.name_to_store, suite.cleaned_data["retention_days"], texts)
