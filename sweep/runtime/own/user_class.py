"""Classes of the user's own: found by name, imported from the working directory or from beside the manifest."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from sweep.errors import InvalidInputError, Problem, did_you_mean


def load_class(path: str, folder: Path | None, method: str) -> type[Any]:
    """Import ``my_pkg.my_module:MyClass``; modules beside the manifest are found too.

    Args:
        path: module and class.
        folder: the manifest's folder.
        method: what the class must offer.

    Raises:
        InvalidInputError: no such module or class, or the import itself raised.
    """
    module_name, _, class_name = path.partition(":")
    try:
        module = _import(module_name, folder)
    except ModuleNotFoundError as error:
        message = f"cannot import {module_name!r}: {error}; it is looked for in the working directory"
        message += f" and in {folder}" if folder else ""
        raise InvalidInputError("class", [Problem(path, message)]) from None
    except (Exception, SystemExit) as error:
        message = f"importing {module_name!r} raised {type(error).__name__}: {error}"
        raise InvalidInputError("class", [Problem(path, message)]) from error
    found = getattr(module, class_name, None)
    if not isinstance(found, type) or not hasattr(found, method):
        classes = [n for n, v in vars(module).items() if isinstance(v, type) and hasattr(v, method)]
        what = f"has no {method}(...)" if isinstance(found, type) else "does not exist"
        message = f"{class_name!r} in {module_name!r} {what}{did_you_mean(class_name, classes)}"
        raise InvalidInputError("class", [Problem(path, message)])
    return found


def _import(module_name: str, folder: Path | None) -> Any:
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        root = module_name.partition(".")[0]
        if folder is None or error.name != root:
            raise
        if str(folder.resolve()) not in sys.path:
            sys.path.append(str(folder.resolve()))
        return importlib.import_module(module_name)
