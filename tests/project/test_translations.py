"""The catalogue of translations is whole, in step with the code, and compiled as it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from babel.messages.catalog import Catalog, Message

from tests.project import catalog

PLACEHOLDER = re.compile(r"%\(\w+\)s|\{\w*\}")
TAG = re.compile(r"</?\w+[^<>]*>")
LONE_PER_CENT = re.compile(r"(?<!%)(?:%%)*%(?![%(])")
SEPARATORS = {" or ", "; ", ", "}  # between the items of a list


@pytest.fixture(scope="module")
def kept() -> Catalog:
    return catalog.kept()


def forms(message: Message) -> Iterator[tuple[str, str]]:
    """Each translation with the English it stands for; Chinese has one form, for the plural."""
    texts = message.string if isinstance(message.string, (list, tuple)) else [message.string]
    english = message.id[-1] if isinstance(message.id, (list, tuple)) else message.id
    return ((english, text or "") for text in texts)


def test_the_catalogue_is_in_step_with_the_code(kept: Catalog) -> None:
    asked = {catalog.key(message) for message in catalog.messages(catalog.found())}
    there = {catalog.key(message) for message in catalog.messages(kept)}
    assert sorted(asked - there) == [], "run `make messages`, then translate"
    assert sorted(there - asked) == [], "run `make messages`: the code no longer says this"


def test_every_text_has_a_translation(kept: Catalog) -> None:
    assert catalog.missing(kept) == {}


def test_translations_hold_what_the_english_holds(kept: Catalog) -> None:
    wrong = []
    for message in catalog.messages(kept):
        if message.context == "date":
            continue  # its parts are there to choose from: a month by name or by number
        for english, chinese in forms(message):
            for what in (PLACEHOLDER, TAG):
                if set(what.findall(english)) != set(what.findall(chinese)):
                    wrong.append((english, chinese))
            if "%(" in english or "%%" in english:
                wrong += [(english, chinese)] if LONE_PER_CENT.search(chinese) else []
    assert wrong == []


def test_chinese_is_written_with_its_own_marks(kept: Catalog) -> None:
    wrong = [
        chinese
        for message in catalog.messages(kept)
        for _, chinese in forms(message)
        if re.search(r"[\u4e00-\u9fff][,;:?!]|[\u4e00-\u9fff]\.(?!\w)", chinese)
    ]
    assert wrong == []


def test_what_is_served_is_what_is_kept() -> None:
    assert catalog.MO.read_bytes() == catalog.compiled(), "run `make messages`"


def test_templates_translate_whole_sentences(kept: Catalog) -> None:
    """A text that begins or ends in a space is glued to another, and the other language may have another order."""
    glued = [
        english
        for message in catalog.messages(kept)
        if any(name.endswith((".html", ".txt")) for name, _ in message.locations)
        for english, _ in forms(message)
        if english != english.strip() and english not in SEPARATORS
    ]
    assert glued == []
