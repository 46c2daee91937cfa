"""What people enter about evals. Each refusal says what to do."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from dashboard.widgets import NamesSelect
from drift.evals import graders
from drift.evals.cases import FORMATS
from drift.evals.errors import EvalError
from drift.evals.plan import ArmPlan
from drift.models import Endpoint, Team

LARGEST_UPLOAD = 32 * 1024 * 1024
CODE = {"spellcheck": "false"}
GRADER_KINDS = (
    ("", _("as the file says")),
    ("exact", _("exact: the answer is the target")),
    ("includes", _("includes: the answer holds the target")),
    ("choice", _("choice: the answer names the right letter")),
    ("number", _("number: the last number is the target")),
    ("regex", _("regex: a pattern finds the answer")),
    ("json_equal", _("JSON equal to the target")),
    ("json_schema", _("JSON that fits a schema")),
    ("model_graded", _("a model judges by a rubric")),
    ("webhook", _("your own server judges")),
)


class FileForm(forms.Form):
    """A file, or its content pasted."""

    file = forms.FileField(label=_("File"), required=False)
    text = forms.CharField(
        label=_("Or paste it"), required=False, widget=forms.Textarea(attrs={"rows": 10, **CODE}), strip=False
    )
    name = forms.CharField(
        label=_("File name"),
        required=False,
        max_length=200,
        help_text=_("For pasted text: its ending tells the format"),
    )

    def clean_file(self) -> UploadedFile[Any] | None:
        file: UploadedFile[Any] | None = self.cleaned_data["file"]
        if file is not None and (file.size or 0) > LARGEST_UPLOAD:
            text = gettext("The file is larger than {size} MB. Split it.").format(size=LARGEST_UPLOAD // 2**20)
            raise forms.ValidationError(text)
        return file

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if not data.get("file") and not (data.get("text") or "").strip() and not self.errors:
            raise forms.ValidationError(gettext("Choose a file, or paste its content."))
        return data

    def content(self) -> tuple[str, bytes]:
        """The file's name and bytes."""
        file: UploadedFile[Any] | None = self.cleaned_data.get("file")
        if file is not None:
            return str(file.name or "upload")[:200], file.read()
        return self.cleaned_data["name"] or "pasted.jsonl", self.cleaned_data["text"].encode("utf-8", "replace")


class GraderFields(forms.Form):
    """One grader: its kind, and its options as JSON."""

    grader = forms.ChoiceField(label=_("Grader"), choices=GRADER_KINDS, required=False)
    options = forms.CharField(
        label=_("Grader options"),
        required=False,
        widget=forms.TextInput(attrs=CODE),
        help_text=_('JSON, for example {"ignore_case": true}, {"relative": 0.01} or {"json_field": "Answer"}'),
    )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        data["described"] = None
        if data.get("grader"):
            try:
                options = json.loads(data.get("options") or "{}")
                if not isinstance(options, dict):
                    raise EvalError(gettext('options must be an object such as {"ignore_case": true}'))
                data["described"] = {"kind": data["grader"], **options}
                graders.make(data["described"])
            except ValueError as error:
                self.add_error("options", str(error))
        return data


class CasesForm(GraderFields):
    """How a file of cases becomes a version of a set."""

    name = forms.CharField(
        label=_("Name of the set"), max_length=80, help_text=_("A name that exists gets a new version")
    )
    kind = forms.ChoiceField(
        label=_("Format"),
        choices=[
            *((key, described[0]) for key, described in FORMATS.items()),
            ("mapped", _("any table: name its columns")),
        ],
    )
    question = forms.CharField(label=_("Column of the question"), required=False, max_length=200)
    target = forms.CharField(label=_("Column of the target"), required=False, max_length=200)
    key = forms.CharField(label=_("Column of the case's name"), required=False, max_length=200)
    choices = forms.CharField(label=_("Column of the choices"), required=False, max_length=200)
    cluster = forms.CharField(label=_("Column of the group"), required=False, max_length=200)
    template = forms.CharField(
        label=_("Prompt template"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3, **CODE}),
        help_text=_("May name {{input}}, {{choices}} and the case's variables. Empty: the case's own messages"),
    )
    repeats = forms.IntegerField(label=_("Repeats"), min_value=1, max_value=100, initial=5)


class UploadColumnsForm(GraderFields):
    """Which columns of a table of results hold what."""

    case = forms.CharField(label=_("Case"), max_length=200)
    score = forms.CharField(label=_("Score"), required=False, max_length=200, help_text=_("Empty: graded here"))
    answer = forms.CharField(label=_("Answer"), required=False, max_length=200)
    target = forms.CharField(label=_("Target"), required=False, max_length=200)
    arm = forms.CharField(
        label=_("Arm"), required=False, max_length=200, help_text=_("Model, prompt: what is compared")
    )
    round = forms.CharField(label=pgettext_lazy("of questions", "Round"), required=False, max_length=200)
    subset = forms.CharField(
        label=pgettext_lazy("of a set of cases", "Part"),
        required=False,
        max_length=200,
        help_text=_("Reported by itself"),
    )
    cluster = forms.CharField(
        label=_("Group"), required=False, max_length=200, help_text=_("Cases that stand or fall together")
    )
    identity = forms.CharField(label=_("Identity"), required=False, max_length=200, help_text=_("system_fingerprint"))
    question = forms.CharField(label=_("Question"), required=False, max_length=200)

    def columns(self) -> dict[str, Any]:
        names = ("case", "score", "answer", "target", "arm", "round", "subset", "cluster", "identity", "question")
        found: dict[str, Any] = {name: self.cleaned_data.get(name, "") for name in names}
        if self.cleaned_data.get("described"):
            found["grader"] = self.cleaned_data["described"]
        return found


class RunForm(forms.Form):
    """How a run is done; its arms are forms of their own."""

    name = forms.CharField(label=_("Name of the run"), required=False, max_length=120)
    repeats = forms.IntegerField(
        label=_("Repeats"),
        min_value=1,
        max_value=100,
        initial=5,
        help_text=_("Fewer than 5 see few flips; a case may have its own number"),
    )
    max_tokens = forms.IntegerField(label=_("Most tokens per answer"), min_value=1, max_value=100_000, initial=256)
    concurrency = forms.IntegerField(label=_("In flight per endpoint"), min_value=1, max_value=64, initial=4)
    margin = forms.FloatField(
        label=_("Margin in points"),
        min_value=0.01,
        max_value=100,
        initial=3,
        help_text=_("Within it, arms are equivalent"),
    )
    cost_cap = forms.DecimalField(
        label=_("Cap in dollars"),
        required=False,
        min_value=0,
        max_digits=12,
        decimal_places=4,
        help_text=_("Then it pauses"),
    )
    token_cap = forms.IntegerField(label=_("Cap in tokens"), required=False, min_value=1)
    stop_early = forms.BooleanField(
        label=_("Stop when the evidence decides"),
        required=False,
        help_text=_("Two arms only: valid however often it looks, and it speaks of exactly these cases"),
    )


class ArmForm(forms.Form):
    """One arm. Empty: there is none in this place."""

    endpoint = forms.ModelChoiceField(
        queryset=Endpoint.objects.none(),
        to_field_name="public_id",
        required=False,
        label=_("Endpoint"),
        widget=NamesSelect,
    )
    name = forms.CharField(label=_("Name"), required=False, max_length=110, help_text=_("Empty: the endpoint's name"))
    template = forms.CharField(
        label=_("Prompt template"), required=False, widget=forms.Textarea(attrs={"rows": 2, **CODE}), max_length=20_000
    )
    system = forms.CharField(
        label=_("System prompt"), required=False, widget=forms.Textarea(attrs={"rows": 2}), max_length=20_000
    )
    parameters = forms.CharField(
        label=_("Parameters"),
        required=False,
        widget=forms.TextInput(attrs=CODE),
        help_text=_('JSON on top of the endpoint\'s, for example {"temperature": 0.7}; null takes one away'),
    )

    def __init__(self, *args: Any, team: Team, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["endpoint"]
        field.queryset = Endpoint.objects.filter(team=team, archived_at=None).order_by("name")

    def clean_parameters(self) -> dict[str, Any]:
        text = self.cleaned_data["parameters"].strip()
        try:
            value = json.loads(text or "{}")
        except ValueError as error:
            raise forms.ValidationError(gettext("This is not JSON: {error}").format(error=error)) from None
        if not isinstance(value, dict):
            raise forms.ValidationError(gettext('Write an object, such as {"temperature": 0.7}.'))
        return value

    def plan(self) -> ArmPlan | None:
        data = self.cleaned_data
        if not data.get("endpoint"):
            return None
        return ArmPlan(data["endpoint"], data["name"], data["template"], data["system"], data["parameters"])
