"""Inspect's `.eval` log: a zip of `samples/<id>_epoch_<n>.json`, read without unpacking it to disk."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext

from drift.evals.answers import Answer, CaseAnswers, Results, gathered
from drift.evals.cases.inspect_cases import texts
from drift.evals.errors import FileError
from drift.evals.results.long_table import score_of

MOST_MEMBERS = 200_000
LARGEST_MEMBER = 32 * 1024 * 1024
LARGEST_TOTAL = 1024 * 1024 * 1024


def read(name: str, data: bytes) -> Results:
    """One arm per scorer where there are several, else one for the model. Raises FileError."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except zipfile.BadZipFile as error:
        raise FileError(gettext("this .eval file is not a zip: {error}").format(error=error)) from None
    with archive:
        members = [info for info in archive.infolist() if info.filename.startswith("samples/")]
        if not members:
            raise FileError(gettext("this log holds no samples; it may be of an eval that did not finish"))
        if len(members) > MOST_MEMBERS or sum(info.file_size for info in members) > LARGEST_TOTAL:
            raise FileError(gettext("this log unpacks into too much to be read here"))
        model = _model(archive)
        samples = [_member(archive, info) for info in members]
    scorers = list(dict.fromkeys(scorer for sample in samples for scorer in sample.get("scores") or {}))
    arms = gathered(_answers(samples, scorers or [""], model))
    return Results(name, arms)


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Mapping[str, Any]:
    """One sample. The size in the directory may lie, so reading stops at the bound."""
    try:
        with archive.open(info) as file:
            raw = file.read(LARGEST_MEMBER + 1)
        if len(raw) > LARGEST_MEMBER:
            raise FileError(
                gettext("{filename} is larger than {largest_member} MB").format(
                    filename=info.filename, largest_member=LARGEST_MEMBER // 2**20
                )
            )
        value = json.loads(raw)
    except (zipfile.BadZipFile, ValueError, RecursionError, NotImplementedError, RuntimeError, EOFError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(
            gettext("{filename} cannot be read: {error}").format(filename=info.filename, error=error)
        ) from None
    if not isinstance(value, dict):
        raise FileError(gettext("{filename} is not a sample").format(filename=info.filename))
    return value


def _model(archive: zipfile.ZipFile) -> str:
    for name in ("header.json", "_journal/start.json"):
        try:
            header = _member(archive, archive.getinfo(name))
        except KeyError:
            continue
        model = (header.get("eval") or {}).get("model")
        if model:
            return str(model)
    return "answers"


def _answers(samples: list[Mapping[str, Any]], scorers: list[str], model: str) -> Iterator[tuple[str, CaseAnswers]]:
    for sample in samples:
        scores = sample.get("scores") or {}
        for scorer in scorers:
            scored = scores.get(scorer) or {}
            error = sample.get("error")
            score = None if error else _value(scored.get("value"))
            epoch = sample.get("epoch")
            answer = Answer(
                score=score,
                round=epoch if isinstance(epoch, int) else 0,
                text=_completion(sample),
                outcome="failed" if error else "text",
                extracted=str(scored.get("answer") or "")[:2000],
                why=str((error or {}).get("message", "error"))[:2000]
                if isinstance(error, dict)
                else str(scored.get("explanation") or ("" if score is not None else gettext("no score in the log")))[
                    :2000
                ],
            )
            case = CaseAnswers(
                key=str(sample.get("id")),
                answers=(answer,),
                question=_question(sample.get("input")),
                targets=texts(sample.get("target")),
            )
            yield (f"{model} · {scorer}" if len(scorers) > 1 else model), case


def _value(value: Any) -> float | None:
    """Inspect's values: C, I, P, N, numbers, truth values. A dictionary of values has no one score."""
    if isinstance(value, dict | list):
        return None
    return score_of(value)


def _completion(sample: Mapping[str, Any]) -> str | None:
    output = sample.get("output") or {}
    if output.get("completion"):
        return str(output["completion"])
    choices = output.get("choices") or []
    content = (choices[0].get("message") or {}).get("content") if choices and isinstance(choices[0], dict) else None
    if isinstance(content, list):
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else None


def _question(value: Any) -> str:
    if isinstance(value, str):
        return value[:4000]
    if isinstance(value, list):
        asked = [m.get("content") for m in value if isinstance(m, dict) and m.get("role") == "user"]
        return str(asked[-1])[:4000] if asked else ""
    return ""
