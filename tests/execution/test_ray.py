"""Real Ray: the same records as here, deaths isolated, nothing on stdout, nothing left behind."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from sweep.design import ExecutorSpec
from sweep.errors import ExecutorError
from sweep.execution.auto import AutoExecutor, choose
from sweep.execution.executor import InlineExecutor
from sweep.execution.planning import plan_sweep
from sweep.execution.ray_executor import RayExecutor
from sweep.execution.ray_session import ONE_THREAD, inherited, user_paths
from sweep.execution.shards import ShardQueue
from sweep.execution.worker import execute_shard

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

POISON_CTL = """
import os, signal
class Poison:
    def __init__(self, setup):
        if (setup.parameters["kill"] == 3).any():
            os.kill(os.getpid(), signal.SIGKILL)
    def compute(self, step):
        return 0 * step.inputs["enc"].values[:, :1]
"""
KILL = "manifest.controllers.fb.parameters.kill"


class Watched(ShardQueue):
    """Notes the sizes of the shards that are taken before one came back."""

    def __init__(self, *given, **named):
        super().__init__(*given, **named)
        self.unmeasured = []

    def take(self, *given, **named):
        is_measured, shard = self.share_s is not None, super().take(*given, **named)
        if shard is not None and not is_measured:
            self.unmeasured.append(len(shard))
        return shard


@pytest.fixture(scope="module")
def ray_up():
    """One cluster for the module; executors of the tests borrow it."""
    with RayExecutor(2) as executor:
        executor.wait()
        yield executor


def test_what_is_inherited_is_there_only_meanwhile(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    before = dict(os.environ)
    with inherited({"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "2"}):
        words = "import os; print(os.environ['OMP_NUM_THREADS'], os.environ['MKL_NUM_THREADS'])"
        assert subprocess.check_output([sys.executable, "-c", words], text=True) == "1 2\n"
    assert dict(os.environ) == before


def test_workers_have_one_thread_each_and_find_our_modules(ray_up):
    ray = ray_up._session.ray
    there = ray.get(ray.remote(num_cpus=0)(lambda: dict(os.environ)).remote())
    assert [there[name] for name in ONE_THREAD] == ["1"] * len(ONE_THREAD)
    assert there["PYTHONPATH"].split(os.pathsep) == user_paths()


@pytest.mark.parametrize(("workers", "lanes"), [(2, 7)])
def test_records_are_those_of_this_process(scene, ray_up, workers, lanes):
    planned = plan_sweep(scene.spec(seeds=range(10)))
    queue = Watched(planned.runs[::-1], lanes=lanes)
    with RayExecutor(workers) as executor:
        found = [record for part in executor.execute(queue) for record in part]
    assert queue.unmeasured in ([1], [1, 1])  # one worker may be up before the other
    assert Counter(r.run_id for r in found) == Counter(run.run_id for run in planned.runs)
    here = {r.run_id: r for r in execute_shard(planned.runs)}
    assert all(here[record.run_id] == record for record in found)
    assert {record.code_id for record in found} == {planned.header.code_id}


def test_auto_hands_over_to_ray(scene, ray_up, monkeypatch):
    monkeypatch.setattr("sweep.execution.auto.RAY_WORTH_S", 0.0)
    planned = plan_sweep(scene.spec(seeds=range(100)))
    made = []

    def make(workers):
        made.append(RayExecutor(workers, reason="test"))
        made[0].start()
        made[0].wait()
        return made[0]

    queue = ShardQueue(planned.runs)
    with AutoExecutor(2, make) as executor:
        found = [r for part in executor.execute(queue) for r in part]
        assert executor.reason.startswith("ray: about")
    assert made
    assert {r.node["host"] for r in found}
    assert Counter(r.run_id for r in found) == Counter(run.run_id for run in planned.runs)


def test_more_workers_than_the_cluster_has_are_refused(scene, ray_up):
    with RayExecutor(64) as executor, pytest.raises(ExecutorError, match="64 Ray workers need a core each"):
        executor.wait()


def test_an_unreachable_cluster_is_an_error_for_people(scene):
    code = (
        "from sweep.execution.ray_executor import RayExecutor\nfrom sweep.errors import ExecutorError\n"
        "with RayExecutor(2, '127.0.0.1:1') as executor:\n    try:\n        executor.wait()\n"
        "    except ExecutorError as error:\n        print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.startswith("Ray cannot be reached at 127.0.0.1:1: "), done.stderr


def test_the_choice_follows_what_was_asked(monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert isinstance(choose(ExecutorSpec(kind="inline")), InlineExecutor)
    assert isinstance(choose(ExecutorSpec(kind="ray")), RayExecutor)
    assert isinstance(choose(ExecutorSpec()), AutoExecutor)
    assert choose(ExecutorSpec(address="auto")).reason == "ray: cluster at auto"
    monkeypatch.setenv("RAY_ADDRESS", "head:6379")
    assert choose(ExecutorSpec()).reason == "ray: cluster at head:6379"


def test_workers_find_the_users_modules_and_not_our_packages(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(tmp_path))
    assert str(tmp_path) in user_paths()
    assert not any("site-packages" in path for path in user_paths())


DRIVER = """
import sys
from pathlib import Path
from sweep.execution import scratch
scratch.PLACE = Path(sys.argv[1])
sys.path.insert(0, {tests!r})
from conftest import Scene
from sweep.design import ExecutorSpec
from sweep.execution.collect import collect
from sweep.execution.folder import SweepFolder
from sweep.execution.planning import plan_sweep

if __name__ == "__main__":
    scene = Scene(Path({folder!r}))
    manifest = scene.document("poison_ctl:Poison", {{"kill": 0.0}})
    swept = {{{key!r}: tuple(map(float, range(6)))}}
    ray = ExecutorSpec(kind="ray", workers=2)
    spec = scene.spec(manifest=manifest, swept=swept, seeds=(7,), executor=ray)
    planned = plan_sweep(spec)
    report = collect(planned, SweepFolder.prepare(planned, spec), spec)
    print(dict(report.statuses))
"""


@pytest.mark.soak
def test_a_whole_sweep_with_ray_of_its_own_is_quiet_and_leaves_nothing(scene):
    (scene.folder / "poison_ctl.py").write_text(POISON_CTL)
    script = scene.folder / "driver.py"
    script.write_text(DRIVER.format(tests=str(Path(__file__).parent), folder=str(scene.folder), key=KILL))
    place = Path(tempfile.mkdtemp(dir="/tmp"))  # of its own, as others run beside it; Ray's sockets want a short path
    done = subprocess.run([sys.executable, str(script), str(place)], capture_output=True, text=True, timeout=300)
    assert ast.literal_eval(done.stdout) == {"completed": 5, "lost": 1}, done.stderr
    assert done.stderr == ""
    place.rmdir()  # it is empty
    assert sorted(p.name for p in scene.folder.iterdir() if p.name != "__pycache__") == [
        "driver.py",
        "poison_ctl.py",
        "sweeps",
    ]
