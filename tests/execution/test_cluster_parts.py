"""What a cluster needs, piece by piece and without one: addresses, what is sent, which nodes fit, where workers go."""

from __future__ import annotations

import socket
import types
from pathlib import Path

import pytest

from sweep.errors import ExecutorError
from sweep.execution import ray_address, shipping
from sweep.execution.node import class_differences, node_fingerprint
from sweep.execution.placement import ANYWHERE, Placement, class_remarks
from sweep.execution.planning import plan_sweep
from sweep.execution.preflight import NodeReport, Question, inspect, misfits
from sweep.execution.ray_address import check_address, refusal
from sweep.execution.ray_session import RaySession
from sweep.execution.shipping import Shipment

CONTROLLER = """
import my_gain
class Mine:
    def __init__(self, setup):
        pass
    def compute(self, step):
        pass
"""


@pytest.fixture
def plans(scene, monkeypatch):
    """The Plans of a sweep whose controller is a module in the working directory."""
    (scene.folder / "my_control.py").write_text(CONTROLLER)
    (scene.folder / "my_gain.py").write_text("GAIN = 1.0\n")
    (scene.folder / "my_notes.py").write_text("secret = 1\n")
    (scene.folder / "measurements.bin").write_bytes(bytes(1000))
    monkeypatch.syspath_prepend(str(scene.folder))
    spec = scene.spec(manifest=scene.document("my_control:Mine"))
    return [run.plan for run in plan_sweep(spec).runs]


# Addresses


@pytest.mark.parametrize(
    ("address", "told"),
    [
        (
            "http://head:8265",
            "is the address of Ray's dashboard, which takes jobs: `ray job submit --address http://head",
        ),
        ("head", "'head' is no address of a Ray cluster. Addresses are HOST:6379"),
        ("ray://head", "is no address of a Ray cluster"),
        ("head:0", "is no address of a Ray cluster"),
        ("ray://head:10001/x:1", "is no address of a Ray cluster"),
        ("", "is no address of a Ray cluster"),
    ],
)
def test_what_is_no_address_is_refused_with_those_that_are(address, told):
    with pytest.raises(ExecutorError, match="auto for the Ray that runs on this machine") as caught:
        check_address(address)
    assert told in str(caught.value)


def test_a_port_where_nothing_listens_is_found_at_once():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound, so that nobody else takes it, and not listening
        port = unused.getsockname()[1]
        with pytest.raises(ExecutorError, match=f"nothing listens on port {port} there; `ray start --head`"):
            check_address(f"ray://127.0.0.1:{port}")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (socket.gaierror(-2, "Name or service not known"), "no machine is known as head"),
        (TimeoutError("timed out"), "head does not answer on port 6379 within 5 s; a firewall"),
        (OSError(101, "Network is unreachable"), "Network is unreachable"),
    ],
)
def test_why_a_machine_is_not_reached_is_told(monkeypatch, error, told):
    def fail(*_: object, **__: object):
        raise error

    monkeypatch.setattr(ray_address.socket, "create_connection", fail)
    with pytest.raises(ExecutorError, match="cannot be reached at head:6379") as caught:
        check_address("head:6379")
    assert told in str(caught.value)


@pytest.mark.slow
def test_rays_own_complaint_of_other_versions_becomes_advice():
    from ray._private.utils import check_version_info

    with pytest.raises(RuntimeError) as raised:
        check_version_info({"ray_version": "2.9.0", "python_version": "3.10.1"}, "node 1.2.3.4")
    told = refusal("head:6379", raised.value)
    assert told.startswith(
        "Ray cannot be reached at head:6379: the cluster runs Ray 2.9.0 on Python 3.10.1, here are Ray "
    )
    assert "`ray job submit`" in told
    assert "\n" not in told


def test_other_refusals_of_ray_become_advice():
    auto = ConnectionError("Could not find any running Ray instance. Please specify the one to connect to by ...")
    assert "no Ray runs on this machine; `ray start --head` starts one" in refusal("auto", auto)
    other = ConnectionError("Failed to connect to Ray cluster at 192.0.2.2:26380")
    assert "another service, or does not let us in without its token. Its token" in refusal("head:1", other)
    assert "executor=inline" in refusal(None, OSError("No space left"))


def test_sizes_are_for_a_cluster_of_our_own_alone(monkeypatch):
    asked = []
    node = {"Alive": True, "Resources": {"CPU": 3.0}}
    ray = types.SimpleNamespace(
        init=lambda **given: asked.append(given),
        is_initialized=lambda: False,
        nodes=lambda: [node],
        shutdown=lambda: None,
    )
    monkeypatch.setitem(__import__("sys").modules, "ray", ray)
    monkeypatch.setattr("sweep.execution.ray_session._plain_stdout", __import__("contextlib").nullcontext)
    monkeypatch.setattr("sweep.execution.ray_session.check_address", lambda _: None)
    for address, sizes in (("head:6379", set()), (None, {"num_cpus", "object_store_memory"})):
        monkeypatch.delenv("RAY_ADDRESS", raising=False)
        session = RaySession(2, address)
        assert session.wait() == 2
        session.close()
        assert {"num_cpus", "num_gpus", "object_store_memory", "resources"} & set(asked.pop()) == sizes


def test_a_cluster_with_too_few_cores_is_waited_for_and_then_refused(monkeypatch):
    monkeypatch.setattr("sweep.execution.ray_session.JOIN_S", 0.0)
    session = RaySession(4, "head:6379")
    session.ray = types.SimpleNamespace(nodes=lambda: [{"Alive": True, "Resources": {"CPU": 3.0}}])
    session._up.set()
    session._thread = types.SimpleNamespace(ident=1)
    with pytest.raises(ExecutorError, match="4 Ray workers need a core each, and the cluster has 3 in all"):
        session.wait()


# What is sent


def test_an_allow_list_is_sent_and_nothing_that_lies_beside_it(plans, tmp_path):
    sent = Shipment.of(plans)
    theirs = {name for name in sent.files if not name.startswith(("sweep/", "analysis/"))}
    assert theirs == {"my_control.py", "my_gain.py"}
    assert "sweep/runtime/batch.py" in sent.files
    assert not [name for name in sent.files if not name.endswith(".py")]
    staged = sent.stage(tmp_path / "staged")
    assert {path.relative_to(staged).as_posix() for path in staged.rglob("*.py")} == set(sent.files)
    assert sent.describe().endswith(f" MB of code in {len(sent.files)} files")


def test_what_is_heavy_is_told_and_what_is_too_heavy_refused_with_the_largest_named(plans, scene, monkeypatch):
    assert Shipment.of(plans).check() == []
    package = scene.folder / "my_package"
    package.mkdir()
    (package / "__init__.py").write_text(CONTROLLER)
    (package / "weights.bin").write_bytes(bytes(3_000_000))
    plan = plan_sweep(scene.spec((0.002,), manifest=scene.document("my_package:Mine"))).base
    monkeypatch.setattr(shipping, "MUCH_BYTES", 2_000_000)
    (told,) = Shipment.of([plan]).check()
    assert "the largest files: my_package/weights.bin (3.0 MB), " in told
    monkeypatch.setattr(shipping, "MOST_BYTES", 2_500_000)
    with pytest.raises(
        ExecutorError, match=r"weights.bin \(3.0 MB\).*More than 2.5 MB are not sent. Data need not lie"
    ):
        Shipment.of([plan]).check()


# Which nodes fit


def answer(**changes):
    """What a node like this one would say, but for some versions."""
    here = inspect(Question.about([]).parcel)
    return {**here, "versions": {**here["versions"], **changes}}


def test_a_node_fits_if_it_would_give_this_sweeps_runs(plans):
    question = Question.about(plans)
    assert "error" not in question.here
    assert misfits(inspect(question.parcel), question.here) == ()
    assert misfits(answer(mujoco="3.1.0"), question.here) == (f"mujoco 3.1.0, here {answer()['versions']['mujoco']}",)
    without = {**answer(), "versions": {"python": "3.10.2", "ray": answer()["versions"]["ray"]}}
    assert [text.split(",")[0] for text in misfits(without, question.here)] == [
        "python 3.10.2",
        "mujoco is not installed",
        "numpy is not installed",
        "numba is not installed",
    ]


def test_other_code_on_a_node_is_told_by_file_and_package(plans):
    question = Question.about(plans)
    there = inspect(question.parcel)
    there["code"] = [{**there["code"][0], "my_gain.py": "0000", "torch": "2.0"}]
    (told,) = misfits(there, question.here)
    ours = question.here["code"][0]["my_gain.py"]
    assert told == f"other code decides the bits there: my_gain.py 0000, here {ours}; torch 2.0, here none"


def test_a_class_that_cannot_be_imported_is_an_answer_not_an_exception(plans, scene, monkeypatch):
    question = Question.about(plans)
    monkeypatch.undo()
    __import__("sys").modules.pop("my_control", None)
    Path(scene.folder / "my_control.py").write_text("import a_package_of_nobody\n")
    found = inspect(question.parcel)
    assert "a_package_of_nobody" in found["error"]
    assert misfits(found, question.here) == (found["error"],)


# Where workers go


class Ray:
    """Of Ray, what a placement needs."""

    def __init__(self, **cores: int) -> None:
        self.cores = cores
        strategies = types.SimpleNamespace(NodeAffinitySchedulingStrategy=lambda node_id, soft: (node_id, soft))
        self.util = types.SimpleNamespace(scheduling_strategies=strategies)

    def nodes(self):
        return [{"NodeID": name, "Alive": True, "Resources": {"CPU": float(n)}} for name, n in self.cores.items()]


def reports(**problems: str) -> list[NodeReport]:
    here = node_fingerprint()
    return [
        NodeReport(node_id=name, name=name, cores=2, fingerprint=here, problems=(text,) if text else ())
        for name, text in problems.items()
    ]


def test_workers_go_anywhere_while_every_node_fits():
    placement = Placement(Ray(a=2, b=2), reports(a="", b=""), Question.about([]))
    assert placement.take() == ({"scheduling_strategy": ANYWHERE}, "")
    assert placement.cores == 4
    assert placement.remarks() == []


def test_workers_go_to_the_nodes_that_fit_as_their_cores_allow():
    ray = Ray(a=2, b=2, c=2)
    placement = Placement(ray, reports(a="", b="", c="mujoco 1, here 2"), Question.about([]))
    places = [placement.take() for _ in range(4)]
    assert sorted(node for _, node in places) == ["a", "a", "b", "b"]
    assert all(options["scheduling_strategy"] == (node, False) for options, node in places)
    placement.give_back("b")
    assert placement.take()[1] == "b"
    del ray.cores["a"]
    placement.give_back("a")
    assert placement.take()[1] == "b", "a node that died gets none"
    assert placement.remarks() == ["node c is left out: mujoco 1, here 2"]
    del ray.cores["c"]
    assert placement.take()[0]["scheduling_strategy"] == ANYWHERE, "it has left room for one that joins"


def test_where_no_node_fits_each_is_told():
    with pytest.raises(ExecutorError) as caught:
        Placement(Ray(), reports(a="numpy 1, here 2", b="it did not answer within 60 s"), Question.about([]))
    assert "  a: numpy 1, here 2\n  b: it did not answer within 60 s\n" in str(caught.value)
    assert "python -m sweep doctor" in str(caught.value)


def test_a_node_that_joins_later_is_looked_at_when_a_worker_starts_on_it():
    question = Question.about([])
    placement = Placement(Ray(a=2, late=2, wrong=2), reports(a=""), question)
    assert placement.admit("a", inspect(question.parcel))
    assert placement.admit("late", inspect(question.parcel))
    assert placement.cores == 4
    assert not placement.admit("wrong", answer(mujoco="9.9"))
    assert {placement.take()[1] for _ in range(4)} == {"a", "late"}
    assert "mujoco 9.9, here " in placement.remarks()[0]
    alone = Placement(Ray(a=2), reports(a=""), question)
    with pytest.raises(ExecutorError, match="No node of the cluster"):
        alone.admit("a", answer(numpy="1.0"))


def test_nodes_of_several_bit_classes_are_told_apart_by_what_differs():
    here = node_fingerprint()
    fewer = {**here, "features": " ".join(here["features"].split()[1:]), "bit_class": "00000000"}
    alike, other = (NodeReport(node_id=n, name=n, cores=1, fingerprint=f) for n, f in (("a", here), ("b", fewer)))
    assert class_remarks([alike]) == class_remarks([]) == []
    (told,) = class_remarks([alike, other])
    assert told.startswith("the nodes are of 2 bit classes (a | b), so runs on one agree with those on another within")
    missing = here["features"].split()[0]
    assert told.endswith(f"CPU features on a: {missing}; on b: no others")
    (told,) = class_remarks([other])
    assert told.startswith("the nodes are of another bit class than this machine, so a replay here is not bit for bit")
    assert class_differences(fewer) == [f"CPU features here: {missing}; there: no others"]
