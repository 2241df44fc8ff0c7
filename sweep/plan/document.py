"""Reading a document: strict YAML, where a key that stands twice is a problem, not a silent choice."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import yaml

from sweep.errors import InvalidInputError, Problem


class _StrictLoader(yaml.SafeLoader):
    """SafeLoader that refuses duplicate keys."""


def _mapping(loader: _StrictLoader, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
    seen: dict[Hashable, int] = {}
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=True)
        line = key_node.start_mark.line + 1
        if key in seen:
            raise yaml.constructor.ConstructorError(
                None, None, f"key {key!r} stands twice, first in line {seen[key]}", key_node.start_mark
            )
        seen[key] = line
    loader.flatten_mapping(node)
    return yaml.SafeLoader.construct_mapping(loader, node, deep=deep)


_StrictLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def parse_yaml(text: str, source: str) -> Any:
    """Parse one YAML document.

    Args:
        text: the document.
        source: what to call it in messages, usually its path.

    Raises:
        InvalidInputError: malformed YAML or a duplicate key, with line and column.
    """
    try:
        return yaml.load(text, Loader=_StrictLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise InvalidInputError(source, [Problem(where, error.problem or "not YAML")]) from None
    except yaml.YAMLError as error:
        raise InvalidInputError(source, [Problem("", f"not YAML: {error}")]) from None


def read_document(path: Path) -> Mapping[str, Any]:
    """Read a YAML mapping from a file.

    Raises:
        InvalidInputError: no such file, not text, not YAML, or not a mapping.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(str(path), [Problem("", f"cannot be read: {error}")]) from None
    document = parse_yaml(text, str(path))
    if not isinstance(document, Mapping):
        found = type(document).__name__
        raise InvalidInputError(str(path), [Problem("", f"a mapping with 'schema: \"3.3\"' is expected, not {found}")])
    return document
