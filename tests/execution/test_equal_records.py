"""Records do not depend on the number of workers, the size of shards, their order, or the node: three of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.execution.cluster import started

pytestmark = [pytest.mark.slow, pytest.mark.soak]

WAYS = [(1, 64, 0), (2, 1, 1), (4, 7, 2), (4, 1, 3)]
"""Workers, most lanes of a shard, and the seed of the order of runs."""

DRIVER = """
import json, random, sys
from pathlib import Path
sys.path.insert(0, TESTS)
from conftest import Scene
from sweep.execution.planning import plan_sweep
from sweep.execution.ray_executor import RayExecutor
from sweep.execution.shards import ShardQueue
from sweep.execution.worker import execute_shard

address, ways = sys.argv[1], json.loads(sys.argv[2])
planned = plan_sweep(Scene(Path("elsewhere")).spec(latency=(0.002, 0.005, 0.0091), seeds=range(20)))
here = {record.run_id: record.to_json() for record in execute_shard(planned.runs)}

def bits(record):
    return {name: value for name, value in record.items() if name not in ("node", "wall_s", "attempt")}

for workers, lanes, order in ways:
    runs = random.Random(order).sample(planned.runs, len(planned.runs))
    with RayExecutor(workers, address) as executor:
        parts = list(executor.execute(ShardQueue(runs, lanes=lanes)))
        where = executor.reason
    found = [record.to_json() for part in parts for record in part]
    print(json.dumps({
        "once": sorted(record["run_id"] for record in found) == sorted(here),
        "different": [record["run_id"] for record in found if bits(record) != bits(here[record["run_id"]])],
        "largest": max(map(len, parts)),
        "where": where,
    }))
"""


def test_records_are_equal_whatever_the_workers_the_shards_their_order_and_the_node(tmp_path):
    (tmp_path / "drive.py").write_text(DRIVER.replace("TESTS", repr(str(Path(__file__).parent)), 1))
    with started(tmp_path / "nodes") as cluster:
        for name, cores in (("second", 1), ("third", 2)):
            cluster.join(name, f"--num-cpus={cores}")
            cluster.wait(name)
        done = cluster.run(sys.executable, "drive.py", cluster.address, json.dumps(WAYS), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["once"] for answer in answers] == [True] * len(WAYS)
    assert [answer["different"] for answer in answers] == [[]] * len(WAYS)
    assert all(answer["largest"] <= lanes for answer, (_, lanes, _) in zip(answers, WAYS, strict=True))
    counts = [f"ray: {workers} worker{'s' * (workers > 1)} on 3 nodes" for workers, _, _ in WAYS]
    assert [answer["where"].split(",")[0] for answer in answers] == counts
