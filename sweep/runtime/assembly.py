"""The live parts of a batch, built from its Plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco

from sweep.plan.component import Capability
from sweep.plan.manifest import Manifest
from sweep.plan.metric import MetricSpec
from sweep.runtime.components import live_class
from sweep.runtime.components.metric import Metric
from sweep.runtime.components.observed_metric import ObservedMetric
from sweep.runtime.context import BatchContext
from sweep.runtime.control.control_loop import ControlLoop
from sweep.runtime.inputs import InputLayout
from sweep.runtime.reading import EVERYTHING, DeviceReads, Reading

_RK4 = int(mujoco.mjtIntegrator.mjINT_RK4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembly:
    """One live object per component, controller and metric, each serving all lanes.

    Attributes:
        devices: by id, in the order of ids, as are the others.
        drivers: ActuatorDrivers.
        prescribed: PrescribedStates.
        disturbances: what pushes bodies at times known in advance.
        interactions: Interactions.
        observers: Observers that are components.
        metrics: the Manifest's metrics.
        loops: controllers.
        own_devices: Devices of the user's own, whose measuring may raise.
    """

    devices: Mapping[str, Any]
    drivers: Mapping[str, Any]
    prescribed: Mapping[str, Any]
    disturbances: Mapping[str, Any]
    interactions: Mapping[str, Any]
    observers: Mapping[str, Any]
    metrics: Mapping[str, Metric | ObservedMetric]
    loops: Mapping[str, ControlLoop]
    own_devices: tuple[Any, ...]

    @classmethod
    def of(cls, manifests: Sequence[Manifest], context: BatchContext) -> Assembly:
        """Build everything."""
        first = manifests[0]
        live = {
            capability: {
                name: live_class(spec)(name, [manifest.components[name] for manifest in manifests], context)
                for name, spec in sorted(first.components_with(capability).items())
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
                apart=first.runtime.unbatched.get(name),
            )
            for name in sorted(first.controllers)
        }
        return cls(
            devices=devices,
            drivers=drivers,
            prescribed=live[Capability.PRESCRIBED_STATE],
            disturbances=live[Capability.DISTURBANCE],
            interactions=live[Capability.INTERACTION],
            observers=live[Capability.OBSERVER],
            metrics={name: _metric(spec, live[Capability.OBSERVER], context) for name, spec in first.metrics.items()},
            loops=loops,
            own_devices=tuple(device for device in devices.values() if hasattr(device, "prepare")),
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
        asking = [driver.reads_state for driver in self.drivers.values()]
        asking += [getattr(prescribed, "one_tick", False) for prescribed in self.prescribed.values()]
        return self.acts_on_physics or any(asking)

    def input_layout(self, model: mujoco.MjModel) -> InputLayout:
        """What is fed to physics beside controls."""
        acts = self.acts_on_physics
        return InputLayout(
            wrenches=acts or bool(self.disturbances),
            equalities=acts and bool(model.neq),
            poses=bool(model.nmocap) and (acts or bool(self.prescribed)),
        )

    def reading(
        self, manifest: Manifest, model: mujoco.MjModel, watchers: Sequence[Any], traced: Sequence[str] = ()
    ) -> Reading:
        """What the readers need together.

        Args:
            manifest: any lane's.
            model: the nominal model.
            watchers: Observers that are no components.
            traced: fields that traces keep as each step computes them.
        """
        specs = manifest.components_with(Capability.DEVICE)
        devices = [
            DeviceReads(
                _reads(device), device.schedule, specs[name].initial_acquisition, device not in self.own_devices
            )
            for name, device in self.devices.items()
        ]
        everyone = [*self.interactions.values(), *self.observers.values(), *self.metrics.values(), *watchers]
        return Reading.of(
            devices,
            [_reads(watcher) for watcher in everyone],
            eager=manifest.runtime.derived_state == "eager",
            rk4=model.opt.integrator == _RK4,
            traced=traced,
        )


def _metric(spec: MetricSpec, observers: Mapping[str, Any], context: BatchContext) -> Metric | ObservedMetric:
    return Metric(spec, context) if spec.observer is None else ObservedMetric(spec, observers[spec.observer])


def _reads(reader: Any) -> Any:
    return getattr(reader, "reads", EVERYTHING)
