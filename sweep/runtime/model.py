"""Models: found, read once, changed at load, refused where their features break the contract, compiled to bytes."""

from __future__ import annotations

import fnmatch
import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from fractions import Fraction
from importlib import metadata
from pathlib import Path
from typing import Any, TypeVar

import mujoco
import numpy as np

from sweep.digest import bytes_id, content_id
from sweep.errors import InvalidInputError, Problem, did_you_mean
from sweep.plan.component import ModelAdditions
from sweep.plan.fields import LONGEST_S, SHORTEST_TIMESTEP_S
from sweep.plan.plan import ModelImage
from sweep.plan.sections import ModelSpec
from sweep.plan.units import exact_seconds
from sweep.runtime.additions import add_to

T = TypeVar("T")


def silence_log() -> None:
    """Keep MuJoCo's warnings out of the working directory and off the terminal: they are faults here."""
    config = mujoco.MjLogConfig.get()
    config.logto_file = False
    config.logto_console = False
    config.set()


silence_log()  # the engine's log is process-wide, and every importer of the runtime needs it silent


def model_path(spec: ModelSpec, folder: Path | None) -> Path:
    """The model's main file.

    Raises:
        InvalidInputError: no such package, or no such file in it.
    """
    assert spec.file is not None
    if spec.package is None:
        return (folder or Path()) / spec.file
    try:
        files = metadata.files(spec.package) or []
    except metadata.PackageNotFoundError:
        message = f"no package {spec.package!r} is installed; type: pip install {spec.package}"
        raise InvalidInputError("model", [Problem("model.package", message)]) from None
    wanted = f"/{spec.file}"
    found = [file for file in files if f"/{file.as_posix()}".endswith(wanted)]
    if not found:
        names = [f.as_posix() for f in files if f.suffix == ".xml"]
        ends = ["/".join(n.split("/")[-spec.file.count("/") - 1 :]) for n in names]
        message = f"no file {spec.file!r} in package {spec.package!r}{did_you_mean(spec.file, sorted(ends))}"
        raise InvalidInputError("model", [Problem("model.file", message)])
    return Path(str(found[0].locate())).resolve()


def source_files(path: Path) -> list[tuple[str, Path]]:
    """The main file and everything that it includes or loads, as (name relative to the main file's folder, path)."""
    try:
        paths = [Path(p) for p in mujoco.mju_getXMLDependencies(str(path))]
    except (ValueError, mujoco.FatalError):
        paths = []
    everything = {path.resolve(), *(p.resolve() for p in paths)}
    named = [(os.path.relpath(p, path.resolve().parent).replace(os.sep, "/"), p) for p in everything if p.is_file()]
    return sorted(named)


def load_image(
    spec: ModelSpec, folder: Path | None, timestep: Fraction | None, additions: Sequence[ModelAdditions] = ()
) -> tuple[ModelImage, Fraction]:
    """Find, check and compile a model.

    Args:
        spec: the Manifest's model section; its edits are not applied here.
        folder: where relative files are found from.
        timestep: the Manifest's timestep [s]; None keeps the model's own.
        additions: sites and sensors that components read.

    Returns:
        The compiled image, and the timestep in force.

    Raises:
        InvalidInputError: the model is not found, does not compile, or has features that are refused.
    """
    if spec.xml is not None:
        files = [("inline.xml", bytes_id(spec.xml.encode()))]
        source = _parse(lambda: mujoco.MjSpec.from_string(spec.xml), "model.xml")
    else:
        path = model_path(spec, folder)
        files = [(name, _file_id(p)) for name, p in source_files(path)]
        source = _parse(lambda: mujoco.MjSpec.from_file(str(path)), "model.file")
    problems = _motor_problems(source, spec.motors or ())
    own = float(source.option.timestep)
    if timestep is None and not SHORTEST_TIMESTEP_S <= own <= LONGEST_S:
        message = f"its timestep is {own:g} s; from {SHORTEST_TIMESTEP_S:g} to {LONGEST_S:g} s are allowed"
        raise InvalidInputError("model", [*problems, Problem("model.option", message)])
    timestep = exact_seconds(own) if timestep is None else timestep
    source.option.timestep = float(timestep)
    source.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    source.compiler.discardvisual = not spec.visual
    add_to(source, additions)
    if problems:
        raise InvalidInputError("model", problems)
    model = _parse(source.compile, "model")
    problems = _refusals(model)
    if problems:
        raise InvalidInputError("model", problems)
    identity: dict[str, Any] = {"files": files, "motors": spec.motors, "visual": spec.visual, "timestep": str(timestep)}
    if additions:
        identity["additions"] = [asdict(addition) for addition in additions]
    return ModelImage(content_id(identity), _to_bytes(model), tuple(files)), timestep


_FILE = "model.mjb"
"""A name that MuJoCo reads an image under; there is no such file."""


def open_model(image: ModelImage) -> mujoco.MjModel:
    """The compiled model of an image; a fresh object each time.

    Raises:
        InvalidInputError: the image was made by another version of MuJoCo.
    """
    try:
        return mujoco.MjModel.from_binary_path(_FILE, {_FILE: image.binary})
    except (ValueError, mujoco.FatalError) as error:
        raise InvalidInputError("model image", [Problem("", f"cannot be read by this MuJoCo: {error}")]) from None


def _to_bytes(model: mujoco.MjModel) -> bytes:
    buffer = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return buffer.tobytes()


def _file_id(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=8)).hexdigest()


def _parse(make: Callable[[], T], path: str) -> T:
    try:
        return make()
    except (ValueError, mujoco.FatalError) as error:
        text = " ".join(str(error).split())
        raise InvalidInputError("model", [Problem(path, f"MuJoCo says: {text}")]) from None


def _motor_problems(source: mujoco.MjSpec, patterns: Sequence[str]) -> list[Problem]:
    """Turn the servos that match into motors; report patterns that match nothing."""
    problems = []
    for pattern in patterns:
        servos = [a for a in source.actuators if fnmatch.fnmatchcase(a.name, pattern)]
        if not servos:
            names = [a.name for a in source.actuators]
            problems.append(Problem("model.motors", f"no actuator matches {pattern!r}{did_you_mean(pattern, names)}"))
        for servo in servos:
            limited, force = servo.forcelimited, np.array(servo.forcerange)
            servo.set_to_motor()
            servo.ctrllimited, servo.ctrlrange = limited, force
    return problems


def _refusals(model: mujoco.MjModel) -> list[Problem]:
    """Features of a model that would break the contract, each with a remedy."""
    problems = []
    flags = mujoco.mjtEnableBit
    for values, name, what in (
        (model.actuator_delay, "actuator", "delay"),
        (model.sensor_delay, "sensor", "delay"),
        (model.sensor_interval[:, 0], "sensor", "interval"),
    ):
        for index in np.flatnonzero(values):
            label = getattr(model, name)(int(index)).name or str(index)
            message = (
                f"{name} {label!r} has a native {what}: MuJoCo's comes up to one step late and adds to ours; "
                f"remove the attribute and give the device or driver a latency or period instead"
            )
            problems.append(Problem("model", message))
    if model.opt.enableflags & (flags.mjENBL_SLEEP | flags.mjENBL_IPC):
        message = "sleep and ipc keep state that no snapshot holds, so a run could not be replayed; remove the flag"
        problems.append(Problem("model.option", message))
    return problems
