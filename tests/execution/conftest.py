"""A pendulum small enough that planning and running it costs milliseconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from sweep.design import Axis, SweepSpec

XML = """<mujoco><option timestep="0.001" integrator="implicitfast"/><worldbody><body>
<joint name="hinge" type="hinge" axis="0 1 0"/><geom size=".1" mass="1" pos="0 0 .5"/></body></worldbody>
<actuator><motor name="motor" joint="hinge"/></actuator></mujoco>"""
LATENCY = Axis(name="latency", nominal=0.002, unit="s", bindings=("components.enc.latency_s",))
FEEDBACK = "sweep.runtime.controllers:StateFeedback"


def document(controller=FEEDBACK, parameters=None, duration_s=0.05, model=None):
    gain = {"gain": [10, 1]} if controller == FEEDBACK else {}
    return {
        "schema": "3.3",
        "model": model or {"xml": XML},
        "runtime": {"duration_s": duration_s},
        "components": {
            "enc": {
                "type": "encoder",
                "joints": ["hinge"],
                "period_s": 0.007,
                "latency_s": 0.002,
                "measures": ["position", "velocity"],
                "white_std": 0.001,
            },
            "drive": {"type": "torque", "actuators": ["motor"], "command_latency_s": 0.001, "timeout_s": 0.1},
        },
        "controllers": {
            "fb": {
                "class": controller,
                "period_s": 0.01,
                "inputs": ["enc"],
                "outputs": ["drive"],
                "parameters": {**gain, **(parameters or {})},
            }
        },
        "metrics": {"a": {"type": "rms", "joint": "hinge", "unit": "rad", "window": "until_end"}},
    }


class Scene:
    """Makes specs whose output is a folder of the test's own."""

    XML = XML
    document = staticmethod(document)

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.output = folder / "sweeps"

    def spec(self, latency=(0.002, 0.005), seeds=range(3), manifest=None, swept=None, **more):
        return SweepSpec(
            scene="pole",
            scene_dir=str(self.folder),
            manifest=manifest or document(),
            axes=(LATENCY,),
            swept={"latency": tuple(latency)} if swept is None else swept,
            seeds=tuple(seeds),
            output=str(self.output),
            **more,
        )


@pytest.fixture
def scene(tmp_path, monkeypatch):
    """Specs in a working directory of the test's own."""
    monkeypatch.chdir(tmp_path)
    return Scene(tmp_path)


@pytest.fixture(scope="session")
def make_document():
    """Makes manifests of the pendulum."""
    return document
