"""Preflight: what each node of a cluster is, and whether a run on it would be a run of this sweep."""

from __future__ import annotations

import pickle
import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sweep.plan.plan import Plan

# Nothing that a node may lack is imported at the top: what is missing there shall be said, not raised.

ANSWER_S = 60.0
"""How long a node may take to start a process, import what it needs and answer [s]."""

MATTER = ("python", "ray", "mujoco", "numpy", "numba")
"""What must have one version everywhere; a run under another one has another code_id and is none of this sweep."""

LISTED = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeReport:
    """One node of a cluster.

    Attributes:
        node_id: Ray's name for it.
        name: what people call it.
        cores: how many Ray may use.
        fingerprint: see :func:`sweep.execution.node.node_fingerprint`; empty if it is not known.
        problems: why it cannot work on the sweep; empty if it can.
    """

    node_id: str
    name: str
    cores: int
    fingerprint: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether it can work on the sweep."""
        return not self.problems


@dataclass(frozen=True, slots=True)
class Question:
    """What nodes are asked, and what this process would answer.

    Attributes:
        parcel: one Plan for each set of the user's classes, pickled, so that a node can say why it cannot read them.
        here: the answer of this process.
    """

    parcel: bytes
    here: Mapping[str, Any] = field(repr=False)

    @classmethod
    def about(cls, plans: Iterable[Plan]) -> Question:
        """A question about Plans."""
        parcel = pickle.dumps(list({tuple(plan.manifest.user_classes): plan for plan in plans}.values()))
        return cls(parcel, inspect(parcel))


def inspect(parcel: bytes) -> dict[str, Any]:
    """Look at the machine that this runs on; plain data comes back, never an exception.

    Args:
        parcel: a Question's.

    Returns:
        ``versions``, and as far as it gets ``fingerprint``, ``code`` (see :func:`sweep.execution.code.code_parts`; one
        for each Plan) and ``error``.
    """
    found: dict[str, Any] = {"versions": _versions()}
    try:
        from sweep.execution.code import code_parts
        from sweep.execution.node import node_fingerprint
        from sweep.runtime.model import open_model

        found["fingerprint"] = node_fingerprint()
        plans = pickle.loads(parcel)
        found["code"] = [code_parts(plan) for plan in plans]
        for plan in plans[:1]:
            open_model(plan.model)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a user's module may raise anything when it is imported
        found["error"] = f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(": ")
    return found


def misfits(there: Mapping[str, Any], here: Mapping[str, Any]) -> tuple[str, ...]:
    """Why a node cannot work on the sweep, each with both sides; empty if it can.

    Args:
        there: what :func:`inspect` found on it.
        here: what it found in this process.
    """
    versions = [
        f"{name} {there['versions'].get(name, 'is not installed')}, here {here['versions'].get(name, 'none')}"
        for name in MATTER
        if there["versions"].get(name) != here["versions"].get(name)
    ]
    if versions:
        return tuple(versions)
    if "error" in there:
        return (there["error"],)
    differing = {
        name: (theirs.get(name, "none"), ours.get(name, "none"))
        for theirs, ours in zip(there["code"], here["code"], strict=True)
        for name in sorted({*theirs, *ours})
        if theirs.get(name) != ours.get(name)
    }
    if not differing:
        return ()
    told = [f"{name} {theirs}, here {ours}" for name, (theirs, ours) in list(differing.items())[:LISTED]]
    more = f", and {len(differing) - LISTED} more" if len(differing) > LISTED else ""
    return ("other code decides the bits there: " + "; ".join(told) + more,)


def check_nodes(ray: Any, question: Question, options: Mapping[str, Any]) -> list[NodeReport]:
    """Ask every node of a cluster that has a core: one short task each, which waits for no free core.

    Args:
        ray: Ray's module, connected.
        question: what they are asked.
        options: what else Ray should know of the tasks.
    """
    nodes = sorted(worker_nodes(ray), key=lambda node: (str(node["NodeName"]), str(node["NodeID"])))
    handle = ray.put(question.parcel)
    on = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
    task = ray.remote(num_cpus=0, max_retries=0, **options)(inspect)
    asked = [task.options(scheduling_strategy=on(node_id=node["NodeID"], soft=False)).remote(handle) for node in nodes]
    if asked:
        ray.wait(asked, num_returns=len(asked), timeout=ANSWER_S)
    return [
        _report(node, name, _answer(ray, ref), question.here)
        for node, name, ref in zip(nodes, _names(nodes), asked, strict=True)
    ]


def worker_nodes(ray: Any) -> list[dict[str, Any]]:
    """The nodes that are alive and have at least one core, as Ray describes them."""
    return [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]


def _answer(ray: Any, ref: Any) -> dict[str, Any] | str:
    """What a node said, or why it said nothing."""
    try:
        found: dict[str, Any] = ray.get(ref, timeout=1.0)
    except ray.exceptions.GetTimeoutError:
        ray.cancel(ref)
        return f"it did not answer within {ANSWER_S:g} s"
    except ray.exceptions.RayError as error:
        return cause(error)
    return found


def _report(node: Mapping[str, Any], name: str, answer: dict[str, Any] | str, here: Mapping[str, Any]) -> NodeReport:
    fingerprint = {} if isinstance(answer, str) else answer.get("fingerprint", {})
    problems = (answer,) if isinstance(answer, str) else misfits(answer, here)
    cores = int(node["Resources"]["CPU"])
    return NodeReport(node_id=node["NodeID"], name=name, cores=cores, fingerprint=fingerprint, problems=problems)


def _names(nodes: Sequence[Mapping[str, Any]]) -> list[str]:
    """What people call the nodes: a name that was given, else the host's; with a part of Ray's where two have one."""
    names = [n["NodeManagerHostname"] if n["NodeName"] == n["NodeManagerAddress"] else n["NodeName"] for n in nodes]
    count = Counter(names)
    return [
        name if count[name] == 1 else f"{name} ({node['NodeID'][:8]})" for name, node in zip(names, nodes, strict=True)
    ]


def cause(error: BaseException) -> str:
    """What Ray's account of an error comes to: its last line that says something, which names the exception."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in MATTER[1:]:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
