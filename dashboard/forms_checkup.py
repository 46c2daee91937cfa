"""What people enter to have an endpoint checked up, or to bring answers recorded elsewhere."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from dashboard.widgets import NamesSelect
from drift.checkup import start
from drift.checkup.plan import CONCURRENCIES, MAX_TOKENS, REPEATS, Wish
from drift.models import Endpoint, Suite, Team

LARGEST_UPLOAD = 64 * 1024 * 1024


class CheckupForm(forms.Form):
    """An endpoint and how thoroughly to ask it. Refusals say what to enter instead."""

    endpoint = forms.ModelChoiceField(
        Endpoint.objects.none(),
        to_field_name="public_id",
        empty_label=None,
        label=_("Endpoint"),
        widget=NamesSelect,
    )
    repeats = forms.IntegerField(initial=REPEATS, min_value=2, max_value=200, label=_("Answers to each question"))
    concurrency = forms.CharField(
        initial=", ".join(map(str, CONCURRENCIES)),
        label=_("Requests in flight"),
        help_text=_("The first is the quiet stage; each other is compared with it"),
    )
    max_tokens = forms.IntegerField(initial=MAX_TOKENS, min_value=1, max_value=32_768, label=_("Cap, in tokens"))
    suite = forms.ModelChoiceField(
        Suite.objects.none(),
        to_field_name="public_id",
        required=False,
        empty_label=_("the check-up's own twelve questions"),
        label=_("Questions"),
        widget=NamesSelect,
    )
    cost_cap = forms.DecimalField(
        required=False, min_value=0, max_digits=12, decimal_places=4, label=_("Spend at most ($)"),
        help_text=_("Needs the endpoint's prices; no request goes out that could pass it"),
    )  # fmt: skip
    token_cap = forms.IntegerField(required=False, min_value=1, max_value=10**12, label=_("Use at most (tokens)"))
    scored = forms.BooleanField(
        required=False,
        label=_("Have it score its own answers"),
        help_text=_("Needs POST /completions with echo and logprobs, as on our own worker and vLLM"),
    )

    def __init__(self, *args: Any, team: Team, endpoint: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        mine = Endpoint.objects.filter(team=team, archived_at__isnull=True).order_by("name")
        self.fields["endpoint"].queryset = mine  # type: ignore[attr-defined]
        self.fields["suite"].queryset = Suite.objects.filter(team=team).order_by("name", "-version")  # type: ignore[attr-defined]
        self._picked = mine.filter(public_id=endpoint).first() if endpoint else mine.first()
        if self._picked is not None:
            wish = start.usual(self._picked)
            self.initial["endpoint"] = str(self._picked.public_id)
            self.initial["concurrency"] = ", ".join(map(str, wish.concurrencies))
            self.initial["scored"] = wish.scored

    @property
    def chosen(self) -> Endpoint:
        found: Endpoint = self.cleaned_data["endpoint"]
        return found

    @property
    def wish(self) -> Wish:
        data = self.cleaned_data
        usual = start.usual(self.chosen)
        return Wish(data["repeats"], data["concurrency"], data["max_tokens"], usual.prefix_words, scored=data["scored"])

    @property
    def caps(self) -> start.Caps:
        return start.Caps(self.cleaned_data["cost_cap"], self.cleaned_data["token_cap"])

    def usual(self) -> tuple[Endpoint, Wish] | None:
        """The endpoint that the form opens with and what would be asked of it."""
        return None if self._picked is None else (self._picked, start.usual(self._picked))

    def clean_concurrency(self) -> tuple[int, ...]:
        try:
            levels = tuple(int(part) for part in self.cleaned_data["concurrency"].replace(" ", ",").split(",") if part)
        except ValueError:
            text = gettext("Enter whole numbers with commas between them, such as 1, 8, 32.")
            raise forms.ValidationError(text) from None
        if not levels or not all(1 <= level <= start.MOST_CONCURRENT for level in levels):
            text = gettext("Enter numbers from 1 to {most}, such as 1, 8, 32.")
            raise forms.ValidationError(text.format(most=start.MOST_CONCURRENT))
        return levels


class RecordedForm(forms.Form):
    """A file of answers."""

    file = forms.FileField(
        label=_("File"),
        help_text=_(
            "JSONL or CSV, also as .gz, up to 64 MB. One answer a line: model, item, run, text; optional tokens, "
            "logprobs, fingerprint, time"
        ),
    )

    def clean_file(self) -> Any:
        upload = self.cleaned_data["file"]
        if upload.size > LARGEST_UPLOAD:
            raise forms.ValidationError(gettext("The file is larger than {size} MB. Split it.").format(size=64))
        return upload
