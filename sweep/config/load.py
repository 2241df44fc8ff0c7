"""From words on a command line to a SweepSpec; with :mod:`sweep.config.grammar`, the only importer of Hydra.

Hydra composes once; bindings of axes resolve to markers; everything after that is plain data.  Words
are read with Hydra's own grammar but applied here, so that one error lists everything that is wrong:
Hydra stops at the first, accepts names that do not exist, and takes 100 ms for every composition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import hydra
import yaml
from omegaconf import DictConfig, OmegaConf

from sweep.config.axes import bound, marked_axis, marker, without_strays
from sweep.config.design import design_of, exclude_of
from sweep.config.files import file_problems, option_file, options_in, search_folders, yaml_problems
from sweep.config.grammar import UNREADABLE, parsed
from sweep.config.names import choice_problems, declared_axes, is_choice, path_problems, unknown_name
from sweep.config.settings import (
    baseline_of,
    canary_of,
    executor_of,
    name_of,
    output_of,
    seeds_of,
    stop_after_of,
    traced,
    tracking_of,
)
from sweep.config.swept import swept_values
from sweep.config.table import column_words
from sweep.config.words import SETTINGS, Span, Word, plain_key, refused_sweep, repeated
from sweep.design import DesignSpec, SweepSpec, exclusion_problems, points_problems
from sweep.design.cell import shown
from sweep.design.expand import SUBJECT
from sweep.errors import InvalidInputError, Problem


@dataclass(slots=True)
class _Loaded:
    """A composed configuration and the words that are still to be applied to it."""

    config: DictConfig
    choices: dict[str, str]
    folders: tuple[Path, ...]
    words: list[Word]
    axes: list[str]
    fixed: dict[str, str] = field(default_factory=dict)


def load_spec(overrides: Sequence[str], *, config_dirs: Sequence[str] = (), config_name: str = "config") -> SweepSpec:
    """Everything a command line asks for.

    Args:
        overrides: words in Hydra's grammar; ``latency=0.002,0.005`` sweeps.
        config_dirs: further folders of configuration, after ours.
        config_name: the primary configuration.

    Raises:
        InvalidInputError: with every problem found in the words, the files and the manifest.
    """
    wrong = [word for word in overrides if not isinstance(word, str)]
    _raise([Problem(repr(word), "is no text, for example 'seeds=3'") for word in wrong])
    problems: list[Problem] = []
    loaded = _load(overrides, config_dirs, config_name, problems)
    _apply(loaded, problems)
    config = without_strays(_resolved(loaded, problems), problems)
    scene = bound(loaded.axes, config.get("manifest"), loaded.fixed, problems)
    scene_file = option_file(loaded.folders, "scene", loaded.choices.get("scene", ""))
    folder = None if scene_file is None else scene_file.parent
    design = design_of(config.get("design"), problems)
    words = _with_columns(loaded, design, problems)
    swept = swept_values(words, scene, loaded.fixed, folder, problems)
    is_whole = not problems  # of fewer words than were meant the design may be impossible
    spec = SweepSpec(
        scene=loaded.choices.get("scene", ""),
        scene_dir=None if folder is None else str(folder),
        manifest=traced(scene.manifest or {}, config.get("trace"), problems),
        axes=scene.axes,
        swept=swept,
        seeds=seeds_of(config.get("seeds"), problems),
        design=design,
        exclude=exclude_of(config.get("exclude"), problems),
        name=name_of(config.get("name"), problems),
        baseline=baseline_of(config.get("baseline"), scene.axes, swept, problems),
        output=output_of(config.get("output"), problems),
        canary=canary_of(config.get("canary"), problems),
        stop_after=stop_after_of(config.get("on_failure"), problems),
        executor=executor_of(config.get("executor"), problems),
        tracking=tracking_of(config.get("tracking"), problems),
        overrides=tuple(overrides),
        config_dirs=tuple(str(Path(name).resolve()) for name in config_dirs),
        config_name=config_name,
    )
    _raise([*problems, *exclusion_problems(spec), *(points_problems(spec.design, swept) if is_whole else ())])
    return spec


def show_config(overrides: Sequence[str], *, config_dirs: Sequence[str] = (), config_name: str = "config") -> str:
    """The composed configuration as YAML, as Hydra prints it for ``--cfg job``; a swept axis shows all its values.

    Raises:
        InvalidInputError: the words or files cannot be read, or name something that does not exist.
    """
    problems: list[Problem] = []
    loaded = _load(overrides, config_dirs, config_name, problems)
    _apply(loaded, problems)
    _raise(problems)
    for word in loaded.words:
        if word.mode != "delete" and (word.key in loaded.axes or word.is_sweep):
            values = [str(value) if isinstance(value, Span) else value for value in word.values]
            is_list = word.is_sweep and not isinstance(word.values[0], Span)
            OmegaConf.update(loaded.config, word.key, values if is_list else values[0], force_add=True)
    return OmegaConf.to_yaml(loaded.config)


def _raise(problems: Sequence[Problem]) -> None:
    if problems:
        raise InvalidInputError(SUBJECT, dict.fromkeys(problems))


def _is_setting(word: Word) -> bool:
    return word.root in SETTINGS


# Composition


def _load(overrides: Sequence[str], config_dirs: Sequence[str], config_name: str, problems: list[Problem]) -> _Loaded:
    folders = search_folders(config_dirs, config_name)
    groups = options_in(folders)
    words = parsed(overrides, problems)
    problems += repeated(words)
    chosen = list({word.key: word for word in words if is_choice(word, groups)}.values())
    wrong = {word.key: found for word in chosen if (found := choice_problems(word, groups))}
    problems += [problem for found in wrong.values() for problem in found]
    problems += [refused_sweep(word) for word in words if word.is_sweep and _is_setting(word) and word not in chosen]
    asked = [word.text.lstrip("+") if word.key in SETTINGS else word.text for word in chosen if word.key not in wrong]
    if "scene" in wrong or "scene" in {plain_key(problem.path.partition("=")[0]) for problem in problems}:
        # No scene, then: whatever is said about another scene's axes would only confuse.
        asked = [*(word for word in asked if not word.startswith("scene=")), "~scene"]
    config = _composed(folders, config_name, asked, problems)
    choices = {group: str(option) for group, option in config.hydra.runtime.choices.items() if option is not None}
    ours = {group: option for group, option in choices.items() if not group.startswith("hydra/")}
    problems += file_problems(folders, {**ours, "": config_name})
    rest = _with_params([w for w in words if not is_choice(w, groups)], config.hydra.sweeper.get("params"), problems)
    plain = OmegaConf.masked_copy(config, [str(key) for key in config if key != "hydra"])
    OmegaConf.set_struct(plain, False)
    axes = declared_axes(_content(plain), ours, problems)
    return _Loaded(config=plain, choices=ours, folders=folders, words=rest, axes=axes)


def _with_columns(loaded: _Loaded, design: DesignSpec, problems: list[Problem]) -> list[Word]:
    """The words, and the columns of a list design's table as if they had been typed after them."""
    if design.file is None:
        return loaded.words
    words = [*loaded.words, *column_words(design.file, loaded.axes, problems)]
    problems += repeated(words)
    return words


def _composed(folders: Sequence[Path], name: str, words: Sequence[str], problems: list[Problem]) -> DictConfig:
    # 1.3 warns when version_base is missing, 1.4 when it is given; OmegaConf renamed its function at the same time.
    is_old = tuple(map(int, hydra.__version__.split(".")[:2])) < (1, 4)
    base = {"version_base": None} if is_old else {}
    register: Any = OmegaConf.register_new_resolver if is_old else OmegaConf.register_resolver
    register("axis", _axis_resolver, replace=True)
    quoted = ",".join("'" + f"file://{folder}".replace("'", "\\'") + "'" for folder in folders[1:])
    try:
        with hydra.initialize_config_dir(str(folders[0]), **base):
            config = hydra.compose(name, [f"hydra.searchpath=[{quoted}]", *words], return_hydra_config=True)
            assert isinstance(config, DictConfig)
            return config
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        file = Path(mark.name) if mark is not None else Path()
        problems += yaml_problems(file) or [Problem(str(file), str(error.problem))]
    except AttributeError:
        # What Hydra's own loader stumbles over where a file puts something else in its place.
        problems.append(Problem("configuration", "the top-level key `hydra` is Hydra's own; name the axis otherwise"))
    except (*UNREADABLE, OSError) as error:
        pairs = [word.split("=", 1) for word in words if "=" in word]
        files = [option_file(folders, group, option) for group, option in pairs]
        found = [problem for file in files if file for problem in yaml_problems(file)]
        problems += found or [Problem("configuration", _first_paragraph(str(error)))]
    raise InvalidInputError(SUBJECT, dict.fromkeys(problems))


def _axis_resolver(*arguments: Any) -> str:
    return marker(*(OmegaConf.to_container(a) if OmegaConf.is_config(a) else a for a in arguments))


def _first_paragraph(text: str) -> str:
    return " ".join(text.partition("\n\nConfig search path")[0].split())


def _with_params(words: list[Word], params: Any, problems: list[Problem]) -> list[Word]:
    """Axes that a configuration sweeps (``hydra.sweeper.params``) come first; a word of the same key wins, in place."""
    if params is None:
        return words
    texts = [f"{key}={shown(value)}" for key, value in _content(params).items()]
    typed = {word.key: word for word in words}
    configured = [typed.pop(word.key, word) for word in parsed(texts, problems)]
    return [*configured, *typed.values()]


# Applying words, as Hydra would


def _apply(loaded: _Loaded, problems: list[Problem]) -> None:
    """Put the words that are neither axes nor sweeps into the configuration."""
    content = _content(loaded.config)
    for word in loaded.words:
        if "scene" not in loaded.choices and not _is_setting(word):
            continue
        if word.key in loaded.axes and word.mode == "delete":
            loaded.axes.remove(word.key)
            del loaded.config[word.key]
        elif word.root != "manifest" and word.root not in SETTINGS:
            if word.key not in loaded.axes:
                problems.append(unknown_name(word, loaded.axes, loaded.choices.get("scene", ""), content))
        elif not word.is_sweep:  # sweeps of settings are refused already, those of paths have their turn
            found = path_problems(word, content)
            problems += found if found else _change(loaded, word)


def _change(loaded: _Loaded, word: Word) -> list[Problem]:
    parent, _, leaf = word.key.rpartition(".")
    path = word.key.removeprefix("manifest.")
    try:
        if word.root == "manifest" and (name := _marked(loaded.config, word.key)) is not None:
            loaded.fixed[path] = name
        if word.mode == "delete":
            node = OmegaConf.select(loaded.config, parent) if parent else loaded.config
            del node[int(leaf) if OmegaConf.is_list(node) else leaf]
        else:
            OmegaConf.update(loaded.config, word.key, word.values[0], merge=True, force_add=True)
    except UNREADABLE as error:
        return [Problem(word.text, _first_paragraph(str(error)))]
    return []


def _marked(config: DictConfig, key: str) -> str | None:
    try:
        return marked_axis(OmegaConf.select(config, key))
    except UNREADABLE:
        return None


# Resolving


def _resolved(loaded: _Loaded, problems: list[Problem]) -> dict[str, Any]:
    """The configuration as plain data; what cannot be resolved is a problem each."""
    try:
        return _content(loaded.config, resolve=True)
    except UNREADABLE:
        problems += list(_unresolvable(loaded.config, ""))
        raise InvalidInputError(SUBJECT, dict.fromkeys(problems)) from None


def _content(config: Any, *, resolve: bool = False) -> dict[str, Any]:
    content = OmegaConf.to_container(config, resolve=resolve, throw_on_missing=resolve)
    assert isinstance(content, dict)
    return {str(key): value for key, value in content.items()}


def _unresolvable(node: Any, path: str) -> Iterator[Problem]:
    for key in range(len(node)) if OmegaConf.is_list(node) else list(node):
        where = f"{path}.{key}" if path else str(key)
        try:
            if OmegaConf.is_missing(node, key):
                yield Problem(where, "is ???, a value that must be given; write it in the scene or as a word")
                continue
            value = node[key]
        except UNREADABLE as error:
            yield Problem(where, _first_paragraph(str(error)).partition(" full_key:")[0])
            continue
        if OmegaConf.is_config(value):
            yield from _unresolvable(value, where)
