"""One question with its targets, and how an arm makes a prompt of it. No code runs in a template."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext

from drift.evals.errors import EvalError

Message = Mapping[str, Any]
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_VARIABLE = re.compile(r"\{\{\s*([A-Za-z_][\w.-]*)\s*\}\}")
_CODE = re.compile(r"\{%.*?%\}|\{\{[^}]*[|(+\[][^}]*\}\}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Case:
    """`graders` empty: those of the set. `repeats` None: as many as the run says. `cluster`: a group it belongs to.

    `threshold`: the weighted mean of the graders decides whether it passes; None: all graders must be satisfied.
    """

    key: str
    messages: tuple[Message, ...] = ()
    targets: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    graders: tuple[Mapping[str, Any], ...] = ()
    threshold: float | None = None
    repeats: int | None = None
    cluster: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def question(self) -> str:
        """The last user message, or the variables: what a page shows of the case."""
        asked = [str(m.get("content", "")) for m in self.messages if m.get("role") == "user"]
        if asked:
            return asked[-1]
        return "; ".join(f"{name}: {value}" for name, value in self.variables.items())


def fill(template: str, values: Mapping[str, str]) -> str:
    """The template with each `{{name}}` replaced. Raises EvalError on an unknown name and on anything that is code."""
    refuse_code(template)

    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            known = ", ".join(sorted(values)) or "none"
            raise EvalError(
                gettext("the template names {{{{{match}}}}}, which this case does not have (it has: {known})").format(
                    match=match[1], known=known
                )
            )
        return values[match[1]]

    return _VARIABLE.sub(value, template)


def refuse_code(template: str) -> None:
    """Raises EvalError on conditions, loops and filters."""
    code = _CODE.search(template)
    if code:
        raise EvalError(
            gettext("'{code}' is template code; only plain {{{{names}}}} are replaced here").format(code=code[0][:60])
        )


def prompt(case: Case, template: str = "", system: str = "") -> tuple[Message, ...]:
    """The chat messages for one case.

    A template replaces the last user message and may name `{{input}}`, `{{choices}}` and the case's variables. Choices
    that no template places are listed below the question with their letters. `system` goes first.
    """
    choices = lettered(case.choices)
    messages = [dict(message) for message in case.messages]
    place = next((i for i in reversed(range(len(messages))) if messages[i].get("role") == "user"), None)
    asked = str(messages[place].get("content", "")) if place is not None else ""
    if not template and place is None:
        raise EvalError(
            gettext("case {key} has no question of its own, so it needs a prompt template").format(key=case.key)
        )
    text = fill(template, {**case.variables, "input": asked, "choices": choices}) if template else asked
    if choices and "{{choices}}" not in template.replace(" ", ""):
        text = f"{text}\n\n{choices}\n\nAnswer with the letter of the right choice."
    if place is None:
        messages.append({"role": "user", "content": text})
    elif template or choices:
        messages[place]["content"] = text
    if system:
        messages.insert(0, {"role": "system", "content": system})
    return tuple(messages)


def lettered(choices: Sequence[str]) -> str:
    """Choices as 'A) one', 'B) two', one a line."""
    return "\n".join(f"{LETTERS[i % 26]}) {choice}" for i, choice in enumerate(choices))


def digest(messages: Sequence[Message]) -> str:
    """What pairs the same prompt over arms and files: SHA-256 of the messages, 16 hex digits."""
    canonical = json.dumps(list(messages), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()[:16]
