"""doctor, as a person calls it: nothing configured, something wrong, something broken."""

from __future__ import annotations

import http.server
import json
import os
import sqlite3
import threading

import pytest

pytestmark = pytest.mark.slow


def findings(answer):
    return {entry["subject"]: entry for entry in json.loads(answer.out)}


def test_with_nothing_configured_all_is_well_and_nothing_is_written(sweep, tmp_path):
    answer = sweep("doctor")
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert all(line.startswith(("ok ", "warning ")) for line in lines)
    for subject in ("python", "mujoco", "numpy", "ray", "mlflow", "hydra-core", "bits", "cores", "disk", "tracking"):
        assert [line.split()[1] for line in lines].count(subject) == 1
    assert list(tmp_path.iterdir()) == []


def test_it_takes_little_and_imports_neither_ray_nor_mlflow(sweep, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit, resource, sys\n"
        "@atexit.register\n"
        "def told():\n"
        "    if sys.argv[1:] != ['doctor']:\n        return\n"
        "    used = resource.getrusage(resource.RUSAGE_SELF)\n"
        '    sys.stderr.write(f\'{used.ru_utime + used.ru_stime} {sorted({"ray", "mlflow"} & set(sys.modules))}\')\n'
    )
    root = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    answer = sweep("doctor", PYTHONPATH=f"{tmp_path}{os.pathsep}{root}")
    seconds, heavy = answer.err.split(" ", 1)
    assert heavy == "[]"
    assert float(seconds) < 6, "about 2 s on an idle core"


def test_what_is_wrong_is_told_with_what_to_type(sweep, tmp_path):
    (tmp_path / "taken").write_text("a file\n")
    words = ("scene=cartpole", "output=taken/sweeps", "tracking.uri=http://127.0.0.1:1", "executor.address=127.0.0.1:1")
    answer = sweep("doctor", "--json", *words)
    assert answer.code == 1
    found = findings(answer)
    assert found["sweep"]["level"] == "ok"
    assert found["disk"]["level"] == "problem"
    assert "taken is no folder" in found["disk"]["text"]
    assert found["tracking"]["level"] == "warning"
    assert "nothing listens there" in found["tracking"]["text"]
    assert "python -m sweep sync" in found["tracking"]["advice"]
    assert found["cluster"]["level"] == "problem"
    assert "nothing listens on port 1 there; `ray start --head`" in found["cluster"]["text"]


def test_a_sweep_that_cannot_be_planned_is_a_finding(sweep):
    answer = sweep("doctor", "latncy=0.1")
    assert answer.code == 1
    assert "did you mean 'latency'?" in answer.out
    assert answer.err == ""


def test_a_library_that_cannot_be_loaded_is_a_finding_and_the_rest_is_looked_at(sweep, tmp_path):
    (tmp_path / "mujoco.py").write_text("raise ImportError('libGL.so.1: cannot open shared object file')\n")
    answer = sweep("doctor", "--json")
    assert answer.code == 1
    found = json.loads(answer.out)
    assert any(entry["level"] == "problem" and "libGL.so.1" in entry["text"] for entry in found)
    assert "disk" in {entry["subject"] for entry in found}


@pytest.mark.parametrize(("status", "level", "told"), [(200, "ok", "MLflow answers at"), (401, "warning", "_USERNAME")])
def test_the_server_of_mlflow_is_asked(sweep, status, level, told):
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        answer = sweep("doctor", "--json", MLFLOW_TRACKING_URI=f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
    found = findings(answer)["tracking"]
    assert found["level"] == level
    assert told in found["text"]
    assert answer.code == 0


def test_a_database_that_is_not_mlflows_is_found(sweep, tmp_path):
    (tmp_path / "sweeps").mkdir()
    connection = sqlite3.connect(tmp_path / "sweeps" / "mlflow.db")
    connection.execute("CREATE TABLE other (name TEXT)")
    connection.close()
    found = findings(sweep("doctor", "--json"))["tracking"]
    assert found["level"] == "problem"
    assert "is no database of MLflow's" in found["text"]
    (tmp_path / "sweeps" / "mlflow.db").write_bytes(b"not a database at all" * 100)
    assert findings(sweep("doctor", "--json"))["tracking"]["level"] == "problem"


def test_a_full_disk_is_told_with_a_way_out(sweep):
    found = findings(sweep("doctor", "--json", "output=/proc/sweeps"))["disk"]
    assert found["level"] in ("warning", "problem")
    assert "output=/path/to/sweeps" in found["advice"]
