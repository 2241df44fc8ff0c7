"""The names that words use: groups and options, axes, settings, paths; what exists, and what is nearest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sweep.config.design import belongs
from sweep.config.tree import MISSING, lookup, nearest_path
from sweep.config.words import SETTINGS, Word, refused_sweep
from sweep.design.cell import shown
from sweep.errors import Problem, did_you_mean


def is_choice(word: Word, groups: Mapping[str, Any]) -> bool:
    """Whether a word chooses an option of a group (or speaks to Hydra itself), and so must be known to compose."""
    return word.key in groups or word.key.startswith("hydra.") or word.key.startswith("hydra/")


def choice_problems(word: Word, groups: Mapping[str, list[str]]) -> list[Problem]:
    """What is wrong with the choice of an option."""
    if word.key == "hydra.searchpath":
        return [Problem(word.text, "write --config-dir DIR instead, once for each folder")]
    if word.is_sweep:
        return [refused_sweep(word)]
    if word.mode == "delete":
        return [Problem(word.text, f"{word.key} cannot be left out")] if word.key in SETTINGS else []
    options = groups.get(word.key)
    if options is None or word.values[0] in options:
        return []
    asked = shown(word.values[0])
    return [Problem(word.text, f"unknown {word.key} {asked!r}{did_you_mean(asked, options)}")]


def declared_axes(content: Mapping[str, Any], choices: Mapping[str, str], problems: list[Problem]) -> list[str]:
    """Names of the axes: what stands at the root, is no setting, and is null.

    Args:
        content: the composed configuration, unresolved.
        choices: group to option.
        problems: roots that are neither are added here.
    """
    axes: list[str] = []
    for name, value in content.items():
        if name == "manifest" or (name in SETTINGS and name != "scene"):
            continue
        if value is None:
            axes.append(name)
        elif name in choices:
            problems.append(Problem(name, f"{name}={choices[name]} lacks its first line, `# @package _global_`"))
        else:
            binding = f"${{axis:{name}, {shown(value)}}}"
            text = f"unknown key at the root; an axis is declared as `{name}: null` and bound with {binding}"
            problems.append(Problem(name, text))
    if not isinstance(content.get("manifest"), dict) and "scene" in choices and "scene" not in content:
        problems.append(Problem(f"scene={choices.get('scene')}", "has no `manifest:` with keys"))
    return axes


def unknown_name(word: Word, axes: Sequence[str], scene: str, content: Any) -> Problem:
    """What to tell about a root that nothing has."""
    if lookup(content, f"manifest.{word.key}") is not MISSING:
        return Problem(word.text, f"a full path starts with the manifest: manifest.{word.key}")
    hint = did_you_mean(word.key, [*axes, *SETTINGS, "manifest"]).partition(" There is:")[0]
    listed, settings = ", ".join(axes) or "none", ", ".join(SETTINGS)
    text = f"unknown name {word.key!r}{hint} Axes of scene {scene}: {listed}; settings: {settings}; or a full path"
    return Problem(word.text, text)


def path_problems(word: Word, content: Any) -> list[Problem]:
    """Whether a word's path may be set as it asks: Hydra's rules for ``key=``, ``+key=``, ``++key=`` and ``~key``."""
    if word.key == "manifest":
        return [Problem(word.text, "the whole manifest cannot be replaced; write a scene, or a path in it")]
    there = lookup(content, word.key)
    if there is MISSING and word.mode in ("change", "delete"):
        adding = f"; to add a key write +{word.text}" if word.mode == "change" and word.root == "manifest" else ""
        elsewhere = belongs(word.key.removeprefix("design.")) if word.root == "design" else ""
        return [Problem(word.text, f"there is no {word.key}{nearest_path(content, word.key)}{adding}{elsewhere}")]
    if word.mode == "add" and there is not MISSING and there is not None and not isinstance(there, dict | list):
        return [Problem(word.text, f"{word.key} exists already ({shown(there)}); write {word.text.lstrip('+')}")]
    return []
