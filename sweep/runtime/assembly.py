"""The live parts of a batch, built from its Plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco

from sweep.plan.component import Capability
from sweep.plan.manifest import Manifest
from sweep.runtime.components import live_class
from sweep.runtime.components.metric import Metric
from sweep.runtime.context import BatchContext
from sweep.runtime.control_loop import ControlLoop
from sweep.runtime.inputs import InputLayout
from sweep.runtime.reading import EVERYTHING, DeviceReads, Reading

_RK4 = int(mujoco.mjtIntegrator.mjINT_RK4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """One live object per component, controller and metric, each serving all lanes.

    Attributes:
        devices: by id, as are the others.
        drivers: ActuatorDrivers.
        prescribed: PrescribedStates.
        disturbances: what pushes bodies at times known in advance.
        interactions: Interactions.
        observers: Observers that are components.
        metrics: the Manifest's metrics.
        loops: controllers.
    """

    devices: Mapping[str, Any]
    drivers: Mapping[str, Any]
    prescribed: Mapping[str, Any]
    disturbances: Mapping[str, Any]
    interactions: Mapping[str, Any]
    observers: Mapping[str, Any]
    metrics: Mapping[str, Metric]
    loops: Mapping[str, ControlLoop]

    @classmethod
    def of(cls, manifests: Sequence[Manifest], context: BatchContext) -> Assembly:
        """Build everything."""
        first = manifests[0]
        live = {
            capability: {
                name: live_class(spec)(name, [manifest.components[name] for manifest in manifests], context)
                for name, spec in first.components_with(capability).items()
            }
            for capability in Capability
        }
        devices, drivers = live[Capability.DEVICE], live[Capability.ACTUATOR_DRIVER]
        loops = {
            name: ControlLoop(
                name,
                [manifest.controllers[name] for manifest in manifests],
                context,
                devices=devices,
                drivers=drivers,
                components=first.components,
                folder=first.folder,
            )
            for name in first.controllers
        }
        return cls(
            devices=devices,
            drivers=drivers,
            prescribed=live[Capability.PRESCRIBED_STATE],
            disturbances=live[Capability.DISTURBANCE],
            interactions=live[Capability.INTERACTION],
            observers=live[Capability.OBSERVER],
            metrics={name: Metric(spec, context) for name, spec in first.metrics.items()},
            loops=loops,
        )

    @property
    def drawing(self) -> dict[str, Any]:
        """Everything that draws noise, by id."""
        everyone = {**self.devices, **self.drivers, **self.prescribed, **self.disturbances}
        return {name: part for name, part in everyone.items() if hasattr(part, "receipts")}

    @property
    def acts_on_physics(self) -> bool:
        """Whether an Interaction may defer physical actions."""
        return any(getattr(interaction, "acts_on_physics", False) for interaction in self.interactions.values())

    @property
    def one_tick(self) -> bool:
        """Whether a step's input may depend on the boundary that it starts from."""
        return self.acts_on_physics or any(driver.reads_state for driver in self.drivers.values())

    def input_layout(self, model: mujoco.MjModel) -> InputLayout:
        """What is fed to physics beside controls."""
        acts = self.acts_on_physics
        return InputLayout(
            wrenches=acts or bool(self.disturbances),
            equalities=acts and bool(model.neq),
            poses=bool(model.nmocap) and (acts or bool(self.prescribed)),
        )

    def reading(self, manifest: Manifest, model: mujoco.MjModel, watchers: Sequence[Any]) -> Reading:
        """What the readers need together.

        Args:
            manifest: any lane's.
            model: the nominal model.
            watchers: Observers that are no components.
        """
        specs = manifest.components_with(Capability.DEVICE)
        devices = [
            DeviceReads(_reads(device), device.schedule, specs[name].initial_acquisition)
            for name, device in self.devices.items()
        ]
        everyone = [*self.interactions.values(), *self.observers.values(), *self.metrics.values(), *watchers]
        return Reading.of(
            devices,
            [_reads(watcher) for watcher in everyone],
            eager=manifest.runtime.derived_state == "eager",
            rk4=model.opt.integrator == _RK4,
        )


def _reads(reader: Any) -> Any:
    return getattr(reader, "reads", EVERYTHING)
