"""The Manifest's JSON Schema, for editors: what the reader accepts, with what the docstrings say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from sweep.cli.docstrings import attributes, prose
from sweep.plan.fields import one_or_many
from sweep.plan.manifest import Manifest

DIALECT = "https://json-schema.org/draft/2020-12/schema"
QUANTITY = {"type": "string", "pattern": r"^\s*[+-]?(\d|\.\d)"}
"""A text that begins with a number: ``7 ms``, ``1/240``, ``3 deg``."""

INTERPOLATION = {"type": "string", "pattern": r"\$\{.+\}"}
"""What stands in a scene for a value that is decided elsewhere: ``${axis:latency, 0.0}``."""

_BOUNDS = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
_LENGTHS = {"minLength": "minItems", "maxLength": "maxItems"}
"""Constraints that pydantic gives other names where a value is read by a function first."""


def manifest_schema() -> dict[str, Any]:
    """The schema of a document that :func:`sweep.plan.load_manifest` reads."""
    made = Manifest.model_json_schema(by_alias=True, schema_generator=_Generator)
    return {"$schema": DIALECT, "title": "Fibril Sweep manifest", **_renamed(made)}


def scene_schema() -> dict[str, Any]:
    """The schema of a scene's file: a manifest whose values may be interpolated, beside the axes that set them."""
    manifest = manifest_schema()
    sections = {name: _interpolated(section) for name, section in manifest.pop("$defs").items()}
    sections["Manifest"] = _interpolated({key: value for key, value in manifest.items() if key != "$schema"})
    return {
        "$schema": DIALECT,
        "title": "Fibril Sweep scene",
        "type": "object",
        "properties": {"manifest": {"$ref": "#/$defs/Manifest"}},
        "required": ["manifest"],
        "$defs": sections,
    }


class _Generator(GenerateJsonSchema):
    """Pydantic's generator, told how this package reads documents."""

    def function_before_schema(self, schema: core_schema.BeforeValidatorFunctionSchema) -> JsonSchemaValue:
        """What is read first may be written otherwise: a number as its text, a list of one as its entry."""
        inner = self.generate_inner(schema["schema"])
        if inner.get("type") in ("number", "integer"):
            return {"anyOf": [inner, QUANTITY]}
        if schema["function"]["function"] is one_or_many and "items" in inner:
            return {"anyOf": [inner, inner["items"]]}
        return inner

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        """Names that are no identifiers are refused."""
        made = super().dict_schema(schema)
        return {**made, "additionalProperties": False} if "patternProperties" in made else made

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Sections and their fields are described as their docstrings say."""
        made, section = super().model_schema(schema), schema["cls"]
        texts = attributes(section)
        for name, field in section.model_fields.items():
            if name in texts:
                made["properties"][field.alias or name]["description"] = texts[name]
        made.pop("title", None)
        return {**made, "description": prose(section)}

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Names say enough."""
        return False


def _renamed(node: Any) -> Any:
    if isinstance(node, list):
        return [_renamed(item) for item in node]
    if not isinstance(node, dict):
        return node
    keywords = {**_BOUNDS, **(_LENGTHS if _holds_array(node) else {})}
    made: dict[str, Any] = {}
    for key, value in node.items():
        if key == "properties":  # names of fields, not keywords
            made[key] = {name: _renamed(part) for name, part in value.items()}
        else:
            made[str(keywords.get(key, key))] = _renamed(value)
    if made.get("minItems", 1) > 1 and "anyOf" in made:
        made["anyOf"] = [one for one in made["anyOf"] if one.get("type") == "array"]
    return made


def _holds_array(node: Mapping[str, Any]) -> bool:
    return any(one.get("type") == "array" for one in (node, *node.get("anyOf", ())))


def _interpolated(section: Mapping[str, Any]) -> dict[str, Any]:
    """A section's schema in which every value but the type may be an interpolation."""
    made = dict(section)
    for key in ("properties", "patternProperties"):
        if key in made:
            made[key] = {name: _either(value) if name != "type" else value for name, value in made[key].items()}
    for key in ("additionalProperties", "items"):
        if isinstance(made.get(key), dict):
            made[key] = _either(made[key])
    return made


def _either(value: Mapping[str, Any]) -> dict[str, Any]:
    inner = _interpolated(value)
    described = {"description": inner.pop("description")} if "description" in inner else {}
    return {"anyOf": [inner, INTERPOLATION], **described}
