"""HOW episodes run.  The only importer of MuJoCo.

One step advances one physics interval, from P_n to P_(n+1), through thirteen phases (:class:`Phase`), always in this
order, in every execution mode and whatever is attached::

    step(n):
        # at P_n
        1  DeferredActionsCommit      actions deferred to n become real: joint set, mocap moved, equality switched;
                                      wrenches that act now, deferred or scheduled, are summed
        2  ExternalInputCommit        cut the accepted inputs; those due become visible, in total order:
                                      effective time, source id, source sequence, acceptance
        3  ContinuousPrescribedState  write the authoritative pose of n of each claimed mocap body
        4  DerivedStateRecompute      make derived state agree with what 1 to 3 changed, as far as a Device that is due
                                      reads it (a full forward uses the controls of step n - 1)
        5  DeviceUpdate               each device: acquire what is due, deliver what is due
        6  ActuatorApplication        each driver: command transport, watchdog, conversion -> controls
        # P_n to P_(n+1)
        7  PhysicsStep                integrate
        # at P_(n+1)
        8  PostPhysicsSnapshot        write the prescribed poses of n + 1; make derived state agree with the new
                                      qpos and qvel, as far as 9 to 11 read it; the boundary becomes readable
        9  InteractionEvaluation      each interaction reads it and committed domain state, and proposes
        10 DomainCommit               all proposals of the step or none; of several ends, the least component
        11 Observer                   each observer sees committed domain state and the completed boundary
        12 TraceRecord                the step's frame is settled
        13 ExternalOutputPublish      what devices show is handed outward
    then, outside the phases: each controller due at n reads what was published;
        its command is accepted for boundary n + max(1, ceil(compute_latency / timestep))

A failure leaves the lane faulted with tick, phase, component, kind and message, and its neighbours untouched; of
several things that stop a lane the least (tick, phase, component) happened.  What exists after a failure in step n:

====================  ================================================================================================
failed phase          what holds
====================  ================================================================================================
1 to 5                state and trace are those of step n - 1; no sample of tick n was acquired
6                     as above, but tick n's samples were acquired
7, 8                  controls of step n were applied too; the boundary is P_n, metrics and trace end with step n - 1
9, 10                 as for 7: nothing of the step was proposed or committed
11                    the step's domain changes are committed; it is in no metric and not in the trace
12, 13, controllers   step n is settled and in the trace; nothing later exists
====================  ================================================================================================

An *end* (phase 10) is not a failure: its step completes, and nothing of a later step exists.

Derived state is *lazy*: what depends on forces is computed when a reader that declared it is due, ``eager`` computes it
at every boundary, and both give the same bits.  A component that declares nothing is served a full forward every tick.

The cycle runs *blocks* of steps (:mod:`sweep.runtime.cycle`): between two moments at which anything can feed back into
physics, the phases that feed it (1, 2, 3, 6) are computed for all ticks, then physics, then all that only reads.  Lanes
and blocks are no semantics: one trace digest whatever the batch, the threads and ``max_block``.
"""

from sweep.runtime.batch import InstanceBatch as InstanceBatch
from sweep.runtime.control.controller import ControllerSetup as ControllerSetup
from sweep.runtime.control.controller import ControlStep as ControlStep
from sweep.runtime.control.controller import per_lane as per_lane
from sweep.runtime.domain.proposal import ApplyWrench as ApplyWrench
from sweep.runtime.domain.proposal import Deferred as Deferred
from sweep.runtime.domain.proposal import End as End
from sweep.runtime.domain.proposal import MoveMocap as MoveMocap
from sweep.runtime.domain.proposal import Proposal as Proposal
from sweep.runtime.domain.proposal import SetJoint as SetJoint
from sweep.runtime.domain.proposal import SwitchEquality as SwitchEquality
from sweep.runtime.fault import EpisodeEnd as EpisodeEnd
from sweep.runtime.fault import Fault as Fault
from sweep.runtime.hosting.capsule import Capsule as Capsule
from sweep.runtime.hosting.capsule import capsule_of as capsule_of
from sweep.runtime.hosting.capsule_file import load_capsule as load_capsule
from sweep.runtime.hosting.capsule_file import write_capsule as write_capsule
from sweep.runtime.hosting.host import SimulationHost as SimulationHost
from sweep.runtime.hosting.pacing import LatenessReport as LatenessReport
from sweep.runtime.hosting.pacing import WallClock as WallClock
from sweep.runtime.hosting.sink import HostOutput as HostOutput
from sweep.runtime.hosting.sink import LatestSnapshot as LatestSnapshot
from sweep.runtime.hosting.sink import Sink as Sink
from sweep.runtime.hosting.sink import StateSink as StateSink
from sweep.runtime.hosting.state import HostState as HostState
from sweep.runtime.ingress.external_input import InputProducer as InputProducer
from sweep.runtime.ingress.recorded_input import RecordedInput as RecordedInput
from sweep.runtime.instance import SimulationInstance as SimulationInstance
from sweep.runtime.noise import normals as normals
from sweep.runtime.noise import raw_words as raw_words
from sweep.runtime.noise import uniforms as uniforms
from sweep.runtime.numerics.rowwise import row_product as row_product
from sweep.runtime.output import DeviceOutput as DeviceOutput
from sweep.runtime.own.component_setup import ComponentSetup as ComponentSetup
from sweep.runtime.own.view import MujocoReadView as MujocoReadView
from sweep.runtime.phases import Phase as Phase
from sweep.runtime.reads import Reads as Reads
from sweep.runtime.reads import StateLevel as StateLevel
from sweep.runtime.resolve import Resolver as Resolver
from sweep.runtime.resolve import resolve_plan as resolve_plan
from sweep.runtime.snapshot import MujocoPhysicsStateSnapshot as MujocoPhysicsStateSnapshot
from sweep.runtime.snapshot import SimulationSnapshot as SimulationSnapshot
from sweep.runtime.tracing.trace import TraceEvent as TraceEvent
