"""The files of jobs/: what Ray, KubeRay and Slurm will read of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from sweep.arguments import parse

JOBS = Path(__file__).parents[2] / "jobs"

# The fields that KubeRay's API reference documents for ray.io/v1, and Kubernetes' for the parts of a pod used here.
POD = {
    "spec": {
        "containers": [
            {
                "name": str,
                "image": str,
                "env": [{"name": str, "value": str}],
                "resources": {"requests": {"cpu": str, "memory": str}, "limits": {"cpu": str, "memory": str}},
                "volumeMounts": [{"name": str, "mountPath": str}],
            }
        ],
        "volumes": [{"name": str, "persistentVolumeClaim": {"claimName": str}}],
    }
}
START = {"num-cpus": str, "dashboard-host": str}
RAY_JOB = {
    "apiVersion": str,
    "kind": str,
    "metadata": {"name": str},
    "spec": {
        "entrypoint": str,
        "backoffLimit": int,
        "activeDeadlineSeconds": int,
        "shutdownAfterJobFinishes": bool,
        "ttlSecondsAfterFinished": int,
        "runtimeEnvYAML": str,
        "submissionMode": str,
        "rayClusterSpec": {
            "rayVersion": str,
            "headGroupSpec": {"rayStartParams": START, "template": POD},
            "workerGroupSpecs": [
                {
                    "groupName": str,
                    "replicas": int,
                    "minReplicas": int,
                    "maxReplicas": int,
                    "rayStartParams": START,
                    "template": POD,
                }
            ],
        },
    },
}


def faults(value, documented, path=""):
    """What is not documented, or of another type than documented."""
    if isinstance(documented, dict):
        if not isinstance(value, dict):
            return [f"{path}: no mapping"]
        unknown = [f"{path}.{key}: unknown" for key in value if key not in documented]
        return unknown + [f for k in value if k in documented for f in faults(value[k], documented[k], f"{path}.{k}")]
    if isinstance(documented, list):
        return [fault for item in value for fault in faults(item, documented[0], f"{path}[]")]
    return [] if type(value) is documented else [f"{path}: {value!r} is no {documented.__name__}"]


def test_the_kubernetes_job_has_documented_fields_and_fits_together():
    job = yaml.safe_load((JOBS / "rayjob.yaml").read_text())
    assert faults(job, RAY_JOB) == []
    assert faults({"spec": {"entryPoint": "x"}}, RAY_JOB) == [".spec.entryPoint: unknown"]
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    cluster = job["spec"]["rayClusterSpec"]
    head = cluster["headGroupSpec"]["template"]["spec"]
    (mount,) = head["containers"][0]["volumeMounts"]
    assert mount["name"] == head["volumes"][0]["name"]
    command = sweep_command(job["spec"]["entrypoint"])
    assert f"output={mount['mountPath']}" in command.overrides
    assert cluster["headGroupSpec"]["rayStartParams"]["num-cpus"] == "0"


def test_versions_are_those_that_the_tests_pass_with():
    pinned = dict(
        line.split("==") for line in (JOBS.parent / "constraints.txt").read_text().splitlines() if "==" in line
    )
    job = yaml.safe_load((JOBS / "rayjob.yaml").read_text())
    assert job["spec"]["rayClusterSpec"]["rayVersion"] == pinned["ray"]
    assert f"FROM rayproject/ray:{pinned['ray']}-" in (JOBS / "Dockerfile").read_text()


@pytest.mark.slow
def test_rays_launcher_accepts_the_cluster():
    from ray.autoscaler._private.util import prepare_config, validate_config

    config = prepare_config(yaml.safe_load((JOBS / "cluster.yaml").read_text()))
    validate_config(config)
    assert config["max_workers"] == len(config["provider"]["worker_ips"])


def test_every_command_in_the_readme_is_one_of_ours():
    lines = (JOBS / "README.md").read_text().replace("\\\n", " ").splitlines()
    commands = [line[line.index("python -m sweep +") :] for line in lines if "python -m sweep +" in line]
    assert commands
    assert [sweep_command(line.rstrip("`.")).verb for line in commands] == ["run"] * len(commands)
    for name in ("cluster.yaml", "rayjob.yaml", "Dockerfile", "sweep.sbatch"):
        assert name in (JOBS / "README.md").read_text()


def sweep_command(line: str):
    words = line.split()
    assert words[:3] == ["python", "-m", "sweep"]
    return parse(words[3:])


# What the batch file calls, each telling of it; the sweep takes a moment and ends as SWEEP_CODE says, or as stopped.
STUBS = {
    "srun": 'echo "srun $*" >> calls; exec sleep 60',
    "scontrol": 'printf "n1\\nn2\\n"',
    "ray": 'echo "ray $*" >> calls',
    "python": f"""
case "$1" in
-c) echo 10.0.0.1 ;;
*) exec {sys.executable} sweep.py "$@" ;;
esac""",
}
SWEEP = """
import os, signal, sys, time
signal.signal(signal.SIGINT, lambda *_: sys.exit(130))
open("calls", "a").write(" ".join(["python", *sys.argv[1:]]) + "\\n")
time.sleep(float(os.environ["SWEEP_S"]))
sys.exit(int(os.environ["SWEEP_CODE"]))
"""


@pytest.fixture
def batch(tmp_path):
    """Starts the batch file as Slurm does on the first of two nodes, with stubs for all that it calls."""
    for name, body in STUBS.items():
        (tmp_path / name).write_text(f"#!/usr/bin/env bash\n{body}\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "sweep.py").write_text(SWEEP)
    slurm = {"JOB_ID": "12345", "JOB_NODELIST": "n[1-2]", "JOB_NUM_NODES": "2", "CPUS_PER_TASK": "16", "NNODES": "2"}
    environment = {**os.environ, **{f"SLURM_{name}": value for name, value in slurm.items()}, "SLURMD_NODENAME": "n1"}
    environment["PATH"] = f"{tmp_path}:{environment['PATH']}"

    def start(seconds: float, code: int) -> subprocess.Popen:
        words = ["bash", JOBS / "sweep.sbatch", "+latency=0,0.01", "seeds=8"]
        more = {"SWEEP_S": str(seconds), "SWEEP_CODE": str(code)}
        return subprocess.Popen(words, cwd=tmp_path, env=environment | more, start_new_session=True)

    started: list[subprocess.Popen] = []
    yield lambda *given: started.append(start(*given)) or started[0]
    for process in started:
        os.killpg(process.pid, signal.SIGKILL)  # the nodes, which Slurm would end
        process.wait()


def test_the_batch_file_makes_a_cluster_runs_the_command_on_it_and_passes_its_exit_code(batch, tmp_path):
    assert batch(0, 1).wait(20) == 1
    calls = (tmp_path / "calls").read_text().splitlines()
    head, worker = sorted(line for line in calls if line.startswith("srun"))
    assert "--nodelist=n1 ray start --head --node-ip-address=10.0.0.1 --port=22345 " in head
    assert "--nodelist=n2 ray start --address=10.0.0.1:22345 --block --num-cpus=16 " in worker
    (sweep,) = [line for line in calls if line.startswith("python -m")]
    assert sweep == (
        "python -m sweep +latency=0,0.01 seeds=8 executor=ray executor.address=10.0.0.1:22345 executor.workers=32"
    )


def test_when_the_time_runs_out_the_sweep_is_asked_to_end_and_waited_for(batch, tmp_path):
    process = batch(30, 0)
    until = time.monotonic() + 10
    while "python -m" not in ((tmp_path / "calls").read_text() if (tmp_path / "calls").exists() else ""):
        assert time.monotonic() < until
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 130
