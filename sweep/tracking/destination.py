"""Where a sweep's mirror is: the rules for MLflow's URI and experiment, and the note that a folder keeps of them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sweep.errors import TrackingError, did_you_mean

NOTE_NAME = "tracking.json"
"""In the sweep's folder: where it was sent last."""

_SQLITE = "sqlite:///"
_SERVERS = ("http", "https", "databricks", "databricks-uc")
_SCHEMES = (*_SERVERS, "sqlite", "postgresql", "mysql", "mssql")
_PASSWORD = re.compile(r"(://[^/@:]*):[^/@]+@")
_HIDDEN = "***"


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """One experiment of one MLflow.

    Attributes:
        uri: MLflow's tracking URI, explicit.
        experiment: the experiment's name.
        artifacts: where a new experiment keeps its artifacts, as a URI; None where the server decides.
        asked: which of ``uri`` and ``experiment`` were asked for by name, so that no environment replaces them.
    """

    uri: str
    experiment: str
    artifacts: str | None = None
    asked: tuple[str, ...] = ()

    @classmethod
    def of_sweep(
        cls,
        output: Path | str,
        scene: str,
        uri: str | None = None,
        experiment: str | None = None,
        *,
        environment: Mapping[str, str] = os.environ,
    ) -> Destination:
        """What a configuration asks for, else what the environment names, else the default.

        Args:
            output: the folder of all sweeps.
            scene: the sweep's scene, which names the experiment where nobody else does.
            uri: ``tracking.uri``.
            experiment: ``tracking.experiment``.
            environment: ``MLFLOW_TRACKING_URI`` and ``MLFLOW_EXPERIMENT_NAME`` count.

        Raises:
            TrackingError: the URI names a store that MLflow does not have.
        """
        chosen = resolve_uri(uri, environment.get("MLFLOW_TRACKING_URI"), output)
        return cls(
            uri=chosen,
            experiment=experiment or environment.get("MLFLOW_EXPERIMENT_NAME") or scene,
            artifacts=artifact_root(chosen, output),
            asked=tuple(name for name, value in (("uri", uri), ("experiment", experiment)) if value),
        )

    @classmethod
    def of_folder(
        cls,
        folder: Path,
        scene: str,
        uri: str | None = None,
        experiment: str | None = None,
        *,
        environment: Mapping[str, str] = os.environ,
    ) -> Destination:
        """Where a sweep that ran before goes.

        That is as asked now, else as its configuration asked, else as the environment says, else there again.

        Args:
            folder: the sweep's.
            scene: the sweep's.
            uri: replaces all others.
            experiment: likewise.
            environment: as in :meth:`of_sweep`.

        Raises:
            TrackingError: the URI names no store, or held a password, which no folder keeps.
        """
        kept = _kept(folder)
        asked = {name: kept[name] for name in kept.get("asked", ())}
        named = {"MLFLOW_TRACKING_URI": kept.get("uri", ""), "MLFLOW_EXPERIMENT_NAME": kept.get("experiment", "")}
        given = {name: environment[name] for name in named if environment.get(name)}
        found = cls.of_sweep(
            folder.parent,
            scene,
            uri or asked.get("uri"),
            experiment or asked.get("experiment"),
            environment={**named, **given},
        )
        if _HIDDEN in found.uri:
            raise TrackingError(
                f"The sweep was sent to {found.uri}; its password is not kept in the folder. Give the URI again, "
                "with --uri or as MLFLOW_TRACKING_URI."
            )
        return found

    @property
    def shown(self) -> str:
        """The URI without its password."""
        return without_password(self.uri)

    @property
    def is_server(self) -> bool:
        """Whether a server is asked, rather than a database."""
        return self.uri.partition(":")[0] in _SERVERS

    def keep(self, folder: Path) -> None:
        """Note it in the sweep's folder, for a later sync; a folder that cannot be written goes without."""
        text = json.dumps({"uri": self.shown, "experiment": self.experiment, "asked": self.asked}, indent=2)
        with suppress(OSError):
            draft = folder / f"{NOTE_NAME}.draft"
            draft.write_text(f"{text}\n", encoding="utf-8")
            draft.replace(folder / NOTE_NAME)

    def is_kept(self, folder: Path) -> bool:
        """Whether that is what the folder's note says."""
        kept = _kept(folder)
        return (kept.get("uri"), kept.get("experiment")) == (self.shown, self.experiment)


def _kept(folder: Path) -> dict[str, Any]:
    with suppress(OSError, ValueError):
        kept = json.loads((folder / NOTE_NAME).read_text(encoding="utf-8"))
        if isinstance(kept, dict):
            return kept
    return {}


def resolve_uri(asked: str | None, environment: str | None, output: Path | str) -> str:
    """The tracking URI, always explicit: as asked, else ``MLFLOW_TRACKING_URI``, else a database beside the sweeps.

    A database's relative path is made absolute: who reads it later may stand elsewhere.

    Args:
        asked: ``tracking.uri``.
        environment: the value of ``MLFLOW_TRACKING_URI``.
        output: the folder of all sweeps.

    Raises:
        TrackingError: it names MLflow's file store, which MLflow no longer supports, or nothing that MLflow knows.
    """
    uri = asked or environment
    if not uri:
        return f"{_SQLITE}{Path(output).absolute()}/mlflow.db"
    scheme, colon, _ = uri.partition(":")
    if (not colon and uri not in _SERVERS) or scheme == "file":
        raise TrackingError(
            f"MLflow no longer takes a folder as its store ({uri}); use sqlite:///path/mlflow.db or a server's address."
        )
    if scheme.partition("+")[0] not in _SCHEMES:
        raise TrackingError(
            f"{without_password(uri)} is no address of MLflow: {scheme!r} is unknown{did_you_mean(scheme, _SCHEMES)}"
        )
    if scheme in ("http", "https") and not _names_a_host(uri):
        raise TrackingError(f"{without_password(uri)} names no host; write {scheme}://host:5000.")
    if scheme != "sqlite":
        return uri
    path = uri.removeprefix(_SQLITE)
    if path == uri or not path or path.startswith(":memory:"):
        raise TrackingError(f"{uri} names no file that lasts; use sqlite:///path/mlflow.db or a server's address.")
    return f"{_SQLITE}{Path(path).absolute()}"


def _names_a_host(uri: str) -> bool:
    try:
        address = urlsplit(uri)
        return bool(address.hostname) and address.port != 0
    except ValueError:  # brackets or a port that are none
        return False


def artifact_root(uri: str, output: Path | str | None = None) -> str | None:
    """Where a new experiment keeps its artifacts, as a URI; None where a server decides.

    That is ``mlartifacts`` in ``output``, or beside an SQLite database; MLflow's own choice would be ``./mlruns``
    in whatever directory the syncer happens to run.
    """
    if (path := sqlite_path(uri)) is not None and output is None:
        output = path.parent
    if output is None or uri.partition(":")[0] in _SERVERS:
        return None
    return (Path(output).absolute() / "mlartifacts").as_uri()


def sqlite_path(uri: str) -> Path | None:
    """The file of an SQLite database; None of everything else."""
    return Path(uri.removeprefix(_SQLITE).partition("?")[0]) if uri.startswith(_SQLITE) else None


def without_password(text: str) -> str:
    """A text in which no URI shows its password."""
    return _PASSWORD.sub(rf"\1:{_HIDDEN}@", text)
