"""Where configuration files lie: our folder, the user's folders, and what can be chosen in them.

No Hydra in here, so that ``--help`` can list scenes at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from sweep.errors import InvalidInputError, Problem
from sweep.plan.document import parse_yaml


def own_folder() -> Path:
    """Our configuration: inside the package in an installed wheel, beside it in a checkout."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "conf"
    return installed if installed.is_dir() else package.parent / "conf"


def search_folders(config_dirs: Sequence[str] = (), config_name: str = "config") -> tuple[Path, ...]:
    """The folders that Hydra searches, the primary configuration's first; the first that has a file wins.

    Args:
        config_dirs: what ``--config-dir`` named; ``./conf`` is added if it exists.
        config_name: the primary configuration; ``config`` is ours.

    Raises:
        InvalidInputError: a named folder does not exist.
    """
    missing = [name for name in config_dirs if not Path(name).is_dir()]
    if missing:
        raise InvalidInputError(
            "configuration", [Problem(f"--config-dir {name}", "there is no such folder") for name in missing]
        )
    folders = [own_folder()]
    for extra in [*map(Path, config_dirs), Path("conf")]:
        folder = extra.resolve()
        if folder.is_dir() and folder not in folders:
            folders.append(folder)
    primary = next((folder for folder in folders if (folder / f"{config_name}.yaml").is_file()), folders[0])
    return (primary, *(folder for folder in folders if folder != primary))


def available(config_dirs: Sequence[str] = ()) -> dict[str, list[str]]:
    """The groups on the search path and the options of each, for example ``{"scene": ["arm", "cartpole"]}``.

    Raises:
        InvalidInputError: a named folder does not exist.
    """
    return options_in(search_folders(config_dirs))


def options_in(folders: Iterable[Path]) -> dict[str, list[str]]:
    """The groups in ``folders`` and the sorted options of each."""
    groups: dict[str, set[str]] = {}
    for folder in folders:
        for file in folder.rglob("*.yaml"):
            group = file.parent.relative_to(folder).as_posix()
            if group != "." and not group.startswith("."):
                groups.setdefault(group, set()).add(file.stem)
    return {group: sorted(groups[group]) for group in sorted(groups)}


def option_file(folders: Iterable[Path], group: str, option: str) -> Path | None:
    """The file that Hydra takes for an option: the first on the search path."""
    return next(iter(_candidates(folders, group, option)), None)


def file_problems(folders: Sequence[Path], choices: Mapping[str, str]) -> list[Problem]:
    """What is wrong with the chosen files: YAML, duplicate keys, an option hidden by another folder's.

    Args:
        folders: the search path.
        choices: group to option; the group ``""`` is the primary configuration.
    """
    problems: list[Problem] = []
    for group, option in choices.items():
        files = _candidates(folders, group, option)
        problems += yaml_problems(files[0]) if files else []
        if group and len({file.read_bytes() for file in files}) > 1:
            text = f"stands in {files[0]} and, with other content, in {files[1]}; the first would win"
            problems.append(Problem(f"{group}={option}", f"{text}: rename the second"))
    return problems


def yaml_problems(file: Path) -> list[Problem]:
    """What keeps a file from being a YAML mapping without duplicate keys, with line and column."""
    try:
        document = parse_yaml(file.read_text(encoding="utf-8"), str(file))
    except InvalidInputError as error:
        return [
            Problem(f"{file}: {found.path}" if found.path else str(file), found.message) for found in error.problems
        ]
    except (OSError, UnicodeDecodeError) as error:
        return [Problem(str(file), f"cannot be read as UTF-8 text: {error}")]
    if document is not None and not isinstance(document, Mapping):
        return [Problem(str(file), f"a mapping of keys is expected, not a {type(document).__name__}")]
    return []


def _candidates(folders: Iterable[Path], group: str, option: str) -> list[Path]:
    return [file for folder in folders if (file := folder / group / f"{option}.yaml").is_file()]
