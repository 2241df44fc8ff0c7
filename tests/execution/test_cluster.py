"""A real cluster of several raylets on this machine: it shares no folder with the user, and not every node fits."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

from tests.execution.cluster import RAY, ROOT, Cluster, started

OTHER_MUJOCO = "9.9.9"
SPARE = [name for name in __cpu_dispatch__ if __cpu_features__.get(name)][-1:]
"""A feature that NumPy can be told not to use: a node without it is of another bit class."""

pytestmark = [pytest.mark.slow, pytest.mark.soak]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[Cluster]:
    """A head and two nodes of one core each: ``skewed`` has another MuJoCo, ``other`` another bit class."""
    with started(tmp_path_factory.mktemp("nodes")) as found:
        fake = found.folder / "fake" / f"mujoco-{OTHER_MUJOCO}.dist-info"
        fake.mkdir(parents=True)
        (fake / "METADATA").write_text(f"Metadata-Version: 2.1\nName: mujoco\nVersion: {OTHER_MUJOCO}\n")
        found.join("other", NPY_DISABLE_CPU_FEATURES=" ".join(SPARE))
        found.wait("other")
        found.join("skewed", PYTHONPATH=str(fake.parent))
        found.wait("skewed")
        yield found


CONTROLLER = """
import os
import sweep
import my_gain

IS_SENT = "working_dir_files" in __file__ and "working_dir_files" in sweep.__file__

class Mine:
    def __init__(self, setup):
        if not (IS_SENT or "DRIVER" in os.environ):
            raise RuntimeError(f"found here: {__file__}, {sweep.__file__}")
    def compute(self, step):
        return my_gain.GAIN * step.inputs["enc"].values[:, :1]
"""
DRIVER = """
import json, os, sys
from pathlib import Path
sys.path.insert(0, TESTS)
from conftest import Scene
from sweep.execution.planning import plan_sweep
from sweep.execution.ray_executor import RayExecutor
from sweep.execution.shards import ShardQueue
from sweep.execution.worker import execute_shard
from sweep.errors import ExecutorError

address, count = sys.argv[1:3]
scene = Scene(Path("elsewhere"))  # not the folder of the modules: they are found on the path alone
planned = plan_sweep(scene.spec(manifest=scene.document("my_control:Mine"), seeds=range(int(count))))
found, told = [], []
try:
    with RayExecutor(None, address) as executor:
        for part in executor.execute(ShardQueue(planned.runs, lanes=1)):
            found += part
            told = executor.remarks
            if part and len(found) == 1 and len(sys.argv) > 3:
                os.killpg(int(sys.argv[3]), 9)
        told, reason = executor.remarks, executor.reason
except ExecutorError as error:
    sys.exit(f"refused: {error}")
here = {record.run_id: record for record in execute_shard(planned.runs)}
print(json.dumps({
    "runs": sorted(record.run_id for record in found) == sorted(here),
    "same": all(here[record.run_id] == record for record in found),
    "statuses": sorted({record.outcome.status.value for record in found}),
    "codes": sorted({record.code_id for record in found}) == [planned.header.code_id],
    "mujoco": sorted({record.node["mujoco"] for record in found}),
    "remarks": told,
    "reason": reason,
}))
"""


@pytest.fixture
def user(tmp_path) -> Path:
    """A folder with the user's modules and a driver, which no node sees on its path."""
    (tmp_path / "my_control.py").write_text(CONTROLLER)
    (tmp_path / "my_gain.py").write_text("GAIN = -0.5\n")
    (tmp_path / "drive.py").write_text(DRIVER.replace("TESTS", repr(str(Path(__file__).parent)), 1))
    return tmp_path


def drive(cluster: Cluster, user: Path, *words: str) -> subprocess.CompletedProcess:
    return cluster.run(sys.executable, "drive.py", *words, cwd=user, DRIVER="1")


def test_code_is_sent_unfit_nodes_are_left_out_and_records_are_those_of_this_process(cluster, user):
    done = drive(cluster, user, cluster.address, "30")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["statuses"] == ["completed"]
    assert answer["runs"]
    assert answer["same"]
    assert answer["codes"]
    assert OTHER_MUJOCO not in answer["mujoco"]
    sent, left_out, *classes = answer["remarks"]
    assert sent.startswith(f"the cluster at {cluster.address}: 2 workers on 2 nodes, ")
    assert sent.endswith(" files sent")
    assert left_out.startswith(f"node skewed is left out: mujoco {OTHER_MUJOCO}, here ")
    assert answer["reason"].startswith("ray: 2 workers on 2 nodes, ")
    if SPARE:
        assert classes[0].startswith("the nodes are of 2 bit classes (head | other)")
        assert f"CPU features on head: {SPARE[0]}" in classes[0]


def test_from_outside_the_cluster_the_same_code_is_sent(cluster, user):
    done = drive(cluster, user, f"ray://127.0.0.1:{cluster.ports['ray-client-server-']}", "2")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["statuses"] == ["completed"]
    assert answer["same"]
    assert answer["codes"]


def test_a_job_that_is_submitted_runs_the_command_unchanged_and_its_exit_code_is_the_jobs(cluster, user):
    command = [sys.executable, "-m", "sweep", "scene=cartpole", "+latency=0,0.01", "seeds=4", "tracking=none"]
    command += ["manifest.runtime.duration_s=0.1", "executor=ray", f"output={user}/sweeps"]
    with ThreadPoolExecutor() as pool:  # at once, since each takes seconds to begin
        wrong = pool.submit(submit, cluster, user, sys.executable, "-m", "sweep", "scene=nonsense")
        done = submit(cluster, user, *command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "angle_rms" in done.stdout
    assert "2 workers on 2 nodes" in done.stdout
    assert wrong.result().returncode == 1, wrong.result().stdout
    assert "exit code 2" in wrong.result().stdout + wrong.result().stderr


def submit(cluster: Cluster, user: Path, *words: str) -> subprocess.CompletedProcess:
    """``ray job submit``, whose job has this package on its path and a folder of the user's as working directory."""
    environment = json.dumps({"working_dir": str(user), "env_vars": {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "4"}})
    server = f"http://127.0.0.1:{cluster.ports['dashboard-']}"
    words = ("job", "submit", "--address", server, f"--runtime-env-json={environment}", "--", *words)
    return cluster.run(RAY, *words, cwd=user)


def test_doctor_looks_at_every_node(cluster, user):
    words = ("doctor", "--json", "scene=cartpole", f"executor.address={cluster.address}")
    done = cluster.run(sys.executable, "-m", "sweep", *words, cwd=user)
    assert done.returncode == 0, done.stdout + done.stderr
    found = {entry["subject"]: entry for entry in json.loads(done.stdout)}
    assert (found["node head"]["level"], found["node other"]["level"]) == ("ok", "ok")
    assert found["node skewed"]["level"] == "warning"
    assert f"mujoco {OTHER_MUJOCO}, here " in found["node skewed"]["text"]
    assert "1 core" in found["node head"]["text"]


def test_a_node_that_dies_gives_its_runs_to_another_that_fits(cluster, user):
    done = drive(cluster, user, cluster.address, "60", str(cluster.nodes["other"].pid))
    cluster.nodes.pop("other").wait(10)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["statuses"] == ["completed"]
    assert answer["runs"]
    assert answer["same"]
