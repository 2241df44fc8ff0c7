"""The verbs that are about MLflow: ``sync``, ``ui``, and a sweep's last word on its mirror."""

from __future__ import annotations

import signal
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from sweep.arguments import Command
from sweep.errors import InvalidInputError, Problem
from sweep.results import Ledger
from sweep.results.ledger import LEDGER_NAME
from sweep.tracking.destination import Destination, sqlite_path
from sweep.tracking.process import SyncerProcess, start_syncer
from sweep.tracking.server import LocalServer

Say = Callable[[str], None]

PATIENCE_S = 120.0
"""How long a finished sweep waits for MLflow [s]; what is missing then, `sync` sends."""

PORT = 5000
"""Where MLflow's pages are; if somebody is there already, one of the next."""

PORTS = 20


def wait_for_mlflow(syncer: SyncerProcess, say: Say, *, quiet: bool) -> None:
    """Wait until MLflow has everything; it works in a process of its own and may be left alone."""
    done = False
    with suppress(KeyboardInterrupt):
        if syncer.wait(1.0) is None and not quiet:
            say("sending to MLflow; Ctrl-C leaves it to itself")
        done = syncer.wait(PATIENCE_S) == 0
    if not done or not quiet:
        say(syncer.describe(is_told=False if quiet else None))


def browse(destination: Destination, folder: str) -> str:
    """What to do to see a sweep in MLflow: an address, or a command."""
    if destination.is_server:
        return destination.shown
    is_default = destination.uri == Destination.of_sweep("sweeps", "", environment={}).uri
    return f"python -m sweep ui{'' if is_default else f' {folder}'}"


def sync(command: Command) -> tuple[str, bool]:
    """Mirror a sweep to MLflow as it is now, and wait for it: what there is to say, and whether that went well."""
    folder, destination = _sent(Path(command.positionals["dir"]), command)
    syncer = start_syncer(folder, destination, once=True)
    try:
        code = syncer.wait()
    finally:
        syncer.stop()  # whoever asked and went away can ask again
    return syncer.describe(), code == 0


def ui(command: Command, say: Say) -> None:
    """Serve MLflow's pages on the loopback interface until Ctrl-C.

    Raises:
        InvalidInputError: there is no database yet, or the port cannot be had.
        TrackingError: the server does not come up.
    """
    destination = _browsed(command)
    port = _port(command)
    if destination.is_server:
        say(f"MLflow is served there already: {destination.shown}")
        return
    database = sqlite_path(destination.uri)
    if database is not None and not database.is_file():
        raise InvalidInputError("ui", [Problem("", f"there is no {database} yet; a sweep makes it (see --uri)")])
    # MLflow's server is several processes: whoever ends this one ends them all.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with suppress(KeyboardInterrupt), LocalServer(destination, port) as server:
        say("MLflow's server is starting, which takes ten seconds or so; Ctrl-C ends it")
        server.wait_until_up()
        say(server.url)
        server.wait()


def _sent(place: Path, command: Command) -> tuple[Path, Destination]:
    """A sweep's folder, and where it goes."""
    with Ledger.open(place, read_only=True) as ledger:
        folder, scene = ledger.path.parent.absolute(), ledger.header.scene
    uri, experiment = _text(command, "uri"), _text(command, "experiment")
    return folder, Destination.of_folder(folder, scene, uri, experiment)


def _browsed(command: Command) -> Destination:
    """Whose pages: a sweep's, or those of a folder of sweeps."""
    place = Path(command.positionals.get("dir", "sweeps"))
    if place.is_file() or (place / LEDGER_NAME).is_file():
        return _sent(place, command)[1]
    if "dir" in command.positionals and not place.is_dir():
        raise InvalidInputError("ui", [Problem(str(place), "is no folder")])
    return Destination.of_sweep(place, "", _text(command, "uri"))


def _port(command: Command) -> int:
    """The port asked for, else the first free one from :data:`PORT` on."""
    asked = _text(command, "port")
    if asked is None:
        return next((port for port in range(PORT, PORT + PORTS) if _is_free(port)), PORT)
    if not asked.isdigit() or not 1 <= int(asked) <= 65535:
        raise InvalidInputError("ui", [Problem("--port", f"is a number from 1 to 65535, not {asked!r}")])
    if not _is_free(int(asked)):
        raise InvalidInputError("ui", [Problem("--port", f"{asked} is in use, or not for you; name another")])
    return int(asked)


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _text(command: Command, option: str) -> str | None:
    value = command.options.get(option)
    return value if isinstance(value, str) else None
