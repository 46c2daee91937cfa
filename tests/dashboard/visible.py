"""What a reader of a page sees or is read aloud: texts and speaking attributes, without what is nobody's language."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from html.parser import HTMLParser
from typing import Any

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
UNSEEN = {"script", "style", "template"}
VERBATIM = {"code", "pre", "kbd", "samp", "textarea"}  # commands, keys, and what people typed
SPOKEN = {"title", "aria-label", "placeholder", "alt", "label"}


class Page(HTMLParser):
    """`texts`: everything visible outside `translate="no"`.

    `spoken`: title, attributes and choices of lists, where a name cannot be marked.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[tuple[str, bool]] = []
        self.texts: list[str] = []
        self.spoken: list[str] = []
        self.title = ""
        self.language = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        if tag == "html":
            self.language = named.get("lang", "")
        ours = {"yes": True, "": True, "no": False}.get(named.get("translate", "?"), self.ours)
        ours = ours and tag not in UNSEEN | VERBATIM
        for name in SPOKEN & named.keys():
            self.note(named[name], ours, self.spoken)
        if tag == "input" and named.get("type") in {"submit", "button", "reset"}:
            self.note(named.get("value", ""), ours, self.spoken)
        if tag not in VOID:
            self.open.append((tag, ours))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if any(tag in UNSEEN for tag, _ in self.open):
            return
        if self.open and self.open[-1][0] == "title" and not any(tag == "svg" for tag, _ in self.open):
            self.title += data
        else:
            choice = bool(self.open) and self.open[-1][0] == "option"
            self.note(data, self.ours, self.spoken if choice else self.texts)

    @property
    def ours(self) -> bool:
        return self.open[-1][1] if self.open else True

    def note(self, text: str, ours: bool, where: list[str]) -> None:
        text = " ".join(text.split())
        if text and ours:
            where.append(text)

    def sentences(self, names: Collection[str]) -> Iterator[str]:
        """What should be in the page's language; `names` may be spoken in any."""
        yield from self.texts
        yield from (without(text, names) for text in (self.title, *self.spoken))


def without(text: str, names: Collection[str]) -> str:
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, "")
    return text


def words_of_figure(value: Any, key: str = "") -> Iterator[str]:
    """What a chart writes: axis titles, names of lines, notes, and what is said under the pointer."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name != "name" or "text" not in value:  # the name of a note is for scripts
                yield from words_of_figure(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from words_of_figure(inner, key)
    elif isinstance(value, str) and key in {"text", "title", "name", "hovertemplate", "ticktext", "hovertext"}:
        for part in re.split(r"<br ?/?>|<extra>|</extra>", re.sub(r"%\{[^}]*\}", "", value)):
            if part.strip():
                yield part.strip()
