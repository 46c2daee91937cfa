"""YAML as plain data in which mappings know their line. Aliases are followed only within bounds."""

from __future__ import annotations

from typing import Any

import yaml
from django.utils.translation import gettext

from drift.evals.errors import FileError

LARGEST = 5 * 1024 * 1024
MOST_NODES = 500_000


class Lined(dict[str, Any]):
    """A mapping with the line it began on."""

    line: int = 0


class _Loader(yaml.SafeLoader):
    """SafeLoader: plain data, no Python objects. Adds lines, and keeps times as the text they were."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> Lined:
    loader.flatten_mapping(node)
    found = Lined(loader.construct_pairs(node, deep=True))
    found.line = node.start_mark.line + 1
    return found


def _text(loader: _Loader, node: yaml.ScalarNode) -> str:
    return str(loader.construct_scalar(node))


_Loader.add_constructor("tag:yaml.org,2002:map", _mapping)
_Loader.add_constructor("tag:yaml.org,2002:timestamp", _text)


def read_yaml(text: str) -> Any:
    """Raises FileError on what is not YAML, is too large, or unfolds into too much."""
    if len(text) > LARGEST:
        raise FileError(gettext("the file is larger than {largest} MB").format(largest=LARGEST // 2**20))
    try:
        loader = _Loader(text)
    except yaml.YAMLError as error:
        raise FileError(gettext("not YAML that can be read: {error}").format(error=error)) from None
    try:
        node = loader.get_single_node()
        if node is None:
            raise FileError(gettext("the file is empty"))
        if _unfolded(node, {}) > MOST_NODES:
            raise FileError(gettext("the aliases of this file unfold into too much"))
        return loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise FileError(gettext("not YAML that can be read: {problem}").format(problem=error.problem), line) from None
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(gettext("not YAML that can be read: {error}").format(error=error)) from None
    finally:
        loader.dispose()


def _unfolded(node: yaml.Node, known: dict[int, int]) -> int:
    """How many nodes there are once every alias is written out."""
    if id(node) in known:
        return known[id(node)]
    known[id(node)] = MOST_NODES + 1  # a node inside itself never ends
    size = 1
    if isinstance(node, yaml.SequenceNode):
        size += sum(_unfolded(child, known) for child in node.value)
    elif isinstance(node, yaml.MappingNode):
        size += sum(_unfolded(key, known) + _unfolded(value, known) for key, value in node.value)
    known[id(node)] = min(size, MOST_NODES + 1)
    return known[id(node)]
