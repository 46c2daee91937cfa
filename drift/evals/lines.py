"""Uploaded bytes as rows that remember their line. Everything is bounded: a file is someone else's."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext

from drift.evals.errors import FileError

LARGEST_FILE = 64 * 1024 * 1024
MOST_ROWS = 500_000
LONGEST_CELL = 4 * 1024 * 1024


def text_of(data: bytes) -> str:
    """The file as text: UTF-8, with or without a byte order mark. Raises FileError."""
    if len(data) > LARGEST_FILE:
        raise FileError(gettext("the file is larger than {largest_file} MB").format(largest_file=LARGEST_FILE // 2**20))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise FileError(gettext("this is not UTF-8 text; save the file as UTF-8"), line) from None


def json_rows(data: bytes) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """(line, object) for each line of a JSONL file; blank lines are passed over. A JSON array will do too."""
    text = text_of(data)
    if text.lstrip().startswith("["):
        whole = json_value(text)
        for row in whole if isinstance(whole, list) else []:
            yield 1, _object(row, 1)
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        if number > MOST_ROWS:
            raise FileError(gettext("the file has more than {most_rows} lines").format(most_rows=f"{MOST_ROWS:,}"))
        yield number, _object(json_value(line, number), number)


def json_value(text: str, line: int | None = None) -> Any:
    """The JSON value of a text. Raises FileError."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise FileError(
            gettext("not JSON: {msg}").format(msg=error.msg), line if line is not None else error.lineno
        ) from None
    except (ValueError, RecursionError) as error:
        raise FileError(
            gettext("not JSON that can be read: {name__}").format(name__=type(error).__name__), line
        ) from None


def _object(value: Any, line: int) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise FileError(gettext("expected an object such as {...}"), line)
    return value


def csv_rows(data: bytes) -> Iterator[tuple[int, dict[str, str]]]:
    """(line, {column: text}) for each row of a CSV file with a header; comma, semicolon and tab are told apart."""
    text = text_of(data)
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    csv.field_size_limit(LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        if len(set(header)) != len(header):
            twice = next(name for name in header if header.count(name) > 1)
            raise FileError(gettext("the column '{twice}' is there twice").format(twice=twice), 1)
        for count, cells in enumerate(reader, start=1):
            if count > MOST_ROWS:
                raise FileError(gettext("the file has more than {most_rows} rows").format(most_rows=f"{MOST_ROWS:,}"))
            if not any(cells):
                continue
            if len(cells) != len(header):
                raise FileError(
                    gettext("{cells} cells, but the header has {header} columns").format(
                        cells=len(cells), header=len(header)
                    ),
                    reader.line_num,
                )
            yield reader.line_num, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise FileError(gettext("not CSV: {error}").format(error=error), reader.line_num) from None


def rows_of(name: str, data: bytes) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The rows of a CSV or JSONL file, whichever it looks like."""
    head = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if name.lower().endswith((".jsonl", ".json", ".ndjson")) or head[:1] in (b"{", b"["):
        yield from json_rows(data)
    else:
        yield from csv_rows(data)
