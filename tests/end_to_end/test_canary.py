"""The canary as people meet it: silent when all is well, one line and something to type when it is not."""

from __future__ import annotations

import json
import re
import textwrap

import pytest

from analysis import load
from tests.end_to_end.conftest import QUICK

pytestmark = pytest.mark.slow

CONTROLLERS = '''
    import numpy as np

    class Leaky:
        """Keeps its filter in itself."""

        def __init__(self, setup):
            self.filtered = np.zeros((setup.lanes, 1))

        def compute(self, step):
            self.filtered += 0.1 * (step.inputs["encoders"].values[:, 1:2] - self.filtered)
            return -10.0 * self.filtered

    class Broken:
        def __init__(self, setup):
            pass

        def compute(self, step):
            return step.inputs["imu"].values
'''


@pytest.fixture
def own(tmp_path, sweep):
    """``own("Leaky", ...)``: a sweep of the cart with a controller of one's own."""
    (tmp_path / "canary_e2e.py").write_text(textwrap.dedent(CONTROLLERS))

    def call(name, *words):
        return sweep(*QUICK, f"manifest.controllers.balancer.class=canary_e2e:{name}", *words)

    return call


def test_nothing_is_said_when_all_is_well(sweep):
    answer = sweep(*QUICK, "+latency=0,0.01", "+mass_scale=1,1.2", "seeds=2")
    assert answer.code == 0, answer.err
    assert re.match(r"cartpole-\w+: 4 cells × 2 seeds, .*\n8 runs in ", answer.err)


def test_values_on_one_tick_are_told_by_run_and_plan(sweep):
    words = (*QUICK, "+latency=200us,400us", "seeds=2")
    line = "latency=0.0002 and 0.0004 make no difference: both come to 1 tick of 0.001 s"
    planned = sweep("plan", *words)
    assert planned.code == 0
    assert line in planned.out
    assert json.loads(sweep("plan", *words, "--json").out)["remarks"] == [line]
    assert json.loads(sweep("plan", *words, "canary=false", "--json").out)["remarks"] == []
    ran = sweep(*words)
    assert ran.code == 0
    assert ran.err.count(line) == 1
    assert line not in sweep(*words, "canary=false").err


def test_an_axis_that_changes_nothing_is_refused(sweep, tmp_path):
    words = (*QUICK, "+manifest.runtime.max_block=1,16", "seeds=1")
    answer = sweep(*words)
    assert answer.code == 2
    assert "manifest.runtime.max_block: changes nothing" in answer.err
    assert "Traceback" not in answer.err
    assert not (tmp_path / "sweeps").exists()
    assert sweep(*words, "canary=false").code == 0


def test_a_controller_with_state_of_its_own_is_told_once_and_replays(own, sweep, tmp_path):
    answer = own("Leaky", "+latency=0,0.01", "seeds=3")
    assert answer.code == 0, answer.err
    line = "controllers.balancer: computed one lane at a time, which is slower: it keeps state in self.filtered"
    assert answer.err.count(line) == 1
    (folder,) = re.findall(r"results: (\S+)", answer.err)
    assert line in sweep("status", folder).out
    for run_id in load(tmp_path / folder).query("latency > 0").run_id:
        replayed = sweep("replay", run_id)
        assert replayed.code == 0, replayed.out + replayed.err
    # What was found holds for all that is added later, asked for or not.
    more = own("Leaky", "+latency=0,0.01", "seeds=4", "canary=false")
    assert line in more.err


def test_a_first_run_that_faults_stops_the_sweep_and_says_what_to_type(own, sweep):
    answer = own("Broken", "+latency=0,0.01", "seeds=8")
    assert answer.code == 1
    assert "KeyError: 'imu'" in answer.err
    assert "stopping: the first run (latency=0, seed 0) faulted" in answer.err
    assert "Traceback" not in answer.err
    (command,) = re.findall(r"15 runs to go: python -m sweep (resume .*)", answer.err)
    assert command.endswith(" canary=false")
    again = sweep(*command.removesuffix(" canary=false").split())
    assert (again.code, "15 runs to go" in again.err) == (1, True)
    rest = sweep(*command.split())
    assert rest.code == 1
    assert "16 runs failed" in rest.err
    assert "runs to go" not in rest.err
