"""The catalogue of translations: found in templates and code, kept in `drift/locale`, compiled beside it.

`update` brings it in step with the code, `missing [PREFIX]` prints what has no translation as JSON (of files that begin
so), `add FILE` takes translations from such a file, filled in: {"English": "Chinese"} or, with numbers, ["one form"].
"""

from __future__ import annotations

import fcntl
import io
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parents[2]
PO = ROOT / "drift/locale/zh_Hans/LC_MESSAGES/django.po"
MO = PO.with_suffix(".mo")
PACKAGES = ("drift", "dashboard", "workers", "kernels")
CONTEXT = "\x04"  # between a context and its text, in the files of `missing` and `add`
KEYWORDS: dict[str, tuple[int | tuple[int, str], ...] | None] = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
}


def found() -> Catalog:
    """Every text of templates and code that is marked for translation."""
    catalog = Catalog(charset="utf-8")
    for path in sorted(p for package in PACKAGES for p in (ROOT / package).rglob("*")):
        if path.suffix not in {".py", ".html", ".txt"} or "/static/" in str(path):
            continue
        name = str(path.relative_to(ROOT))
        source = path.read_text()
        if path.suffix != ".py":
            if "{%" not in source:
                continue
            source = "\n".join(line.strip() for line in templatize(source, origin=name).splitlines())
        for _, texts, comments, context in extract(
            "python", io.BytesIO(source.encode()), KEYWORDS, ("Translators:",), strip_comment_tags=True
        ):
            catalog.add(texts, None, [(name, 0)], auto_comments=comments, context=context)
    return catalog


def kept() -> Catalog:
    with PO.open("rb") as file:
        return read_po(file, locale="zh_Hans")


def update() -> Catalog:
    """In step with the code: new texts come in empty, texts that are gone go, translations stay."""
    catalog = kept() if PO.exists() else Catalog(locale="zh_Hans", project="Tidegauge", charset="utf-8")
    catalog.update(found(), no_fuzzy_matching=True)
    catalog.obsolete.clear()
    write(catalog)
    return catalog


def write(catalog: Catalog) -> None:
    catalog.fuzzy = False
    catalog.header_comment = "# Simplified Chinese for Tidegauge. Kept in step by `make messages`."
    out = io.BytesIO()
    write_po(out, catalog, width=120, omit_header=False, sort_by_file=True, include_lineno=False)
    text = re.sub(
        rb'"(POT-Creation-Date|Project-Id-Version|Report-Msgid-Bugs-To|PO-Revision-Date|Last-Translator|Language-Team|Generated-By):.*\n',
        b"",
        out.getvalue(),
    )
    PO.write_bytes(text)
    MO.write_bytes(compiled())


def compiled() -> bytes:
    """What the kept catalogue compiles to."""
    catalog, out = kept(), io.BytesIO()
    catalog.creation_date = datetime(2026, 11, 30, tzinfo=UTC)  # the same texts compile to the same bytes at any time
    write_mo(out, catalog)
    return out.getvalue()


def key(message: Message) -> str:
    text = message.id[0] if isinstance(message.id, (list, tuple)) else message.id
    return f"{message.context}{CONTEXT}{text}" if message.context else text


def messages(catalog: Catalog) -> Iterator[Message]:
    return (message for message in catalog if message.id)


def missing(catalog: Catalog, prefix: str = "") -> dict[str, str | list[str]]:
    """Texts without a translation, of files whose names begin with `prefix`; empty, to be filled in."""
    return {
        key(message): [""] if message.pluralizable else ""
        for message in messages(catalog)
        if (message.fuzzy or not all(message.string if isinstance(message.string, (list, tuple)) else [message.string]))
        and any(name.startswith(prefix) for name, _ in message.locations)
    }


def add(translations: dict[str, str | list[str]]) -> list[str]:
    """Takes translations in; returns those that no text of the code asks for."""
    catalog = update()
    known = {key(message): message for message in messages(catalog)}
    for text, translation in translations.items():
        if text in known and translation:
            message = known[text]
            forms = [translation] if isinstance(translation, str) else translation
            message.string = tuple(forms) if message.pluralizable else forms[0]
            message.flags.discard("fuzzy")
    write(catalog)
    return [text for text in translations if text not in known]


@contextmanager
def alone() -> Iterator[None]:
    """One writer at a time."""
    with (PO.parent / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main(words: list[str]) -> None:
    match words:
        case ["update"]:
            with alone():
                catalog = update()
            print(f"{sum(1 for _ in messages(catalog))} texts, {len(missing(catalog))} of them without a translation")
        case ["missing", *prefix]:
            with alone():
                catalog = update()
            print(json.dumps(missing(catalog, *prefix), ensure_ascii=False, indent=0))
        case ["add", file]:
            with alone():
                unknown = add(json.loads(Path(file).read_text()))
            for text in unknown:
                print(f"no such text in the code: {text!r}", file=sys.stderr)
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
