"""HOW episodes run.  The only importer of MuJoCo.

One step advances one physics interval, from P_n to P_(n+1), through thirteen phases (:class:`Phase`), always in this
order, in every execution mode and whatever is attached::

    step(n):
        # at P_n
        1  DeferredActionsCommit      make physical actions deferred to this boundary real
        2  ExternalInputCommit        cut the accepted inputs; those due become visible, in total order:
                                      effective time, source id, source sequence, acceptance
        3  ContinuousPrescribedState  write the authoritative state of this boundary
        4  DerivedStateRecompute      make derived state agree with what 1 to 3 changed
        5  DeviceUpdate               each device: acquire what is due, deliver what is due
        6  ActuatorApplication        each driver: command transport, watchdog, limits -> controls
        # P_n to P_(n+1)
        7  PhysicsStep                integrate
        # at P_(n+1)
        8  PostPhysicsSnapshot        the completed boundary becomes readable
        9  InteractionEvaluation      each interaction reads it and proposes
        10 DomainCommit               all proposals or none; of several ends, the least (tick, phase, component)
        11 Observer                   each metric folds the completed step
        12 TraceRecord                the step's frame is settled
        13 ExternalOutputPublish      what devices show is handed outward
    then, outside the phases: each controller due at n reads what was published;
        its command is accepted for boundary n + max(1, ceil(compute_latency / timestep))

A failure leaves the lane faulted with tick, phase, component, kind and message, and its neighbours untouched.  What
exists after a failure in step n:

====================  ================================================================================================
failed phase          what holds
====================  ================================================================================================
1 to 4                state, samples and trace are those of step n - 1
5, 6                  as above, plus what earlier phases of step n committed
7                     samples of tick n were acquired and controls applied; the boundary is P_n, metrics and trace end
                      with step n - 1
8 to 11               as for 7: the step was not settled
12, 13, controllers   step n is settled and in the trace; nothing later exists
====================  ================================================================================================

An *end* (phase 10) is not a failure: its step completes, and nothing of a later step exists.  In this version no
component defers actions or prescribes state, so phases 1 and 3 have nothing to commit; derived state that phase 4 would
recompute is recomputed inside MuJoCo's own step.

The cycle runs *blocks* of steps (:mod:`sweep.runtime.cycle`): between two moments at which anything can feed back into
physics, the phases that feed it (1, 2, 3, 6) are computed for all ticks, then physics, then all that only reads.  Lanes
and blocks are no semantics: one trace digest whatever the batch, the threads and ``max_block``.
"""

from sweep.runtime.batch import InstanceBatch as InstanceBatch
from sweep.runtime.controller import ControllerSetup as ControllerSetup
from sweep.runtime.controller import ControlStep as ControlStep
from sweep.runtime.controller import per_lane as per_lane
from sweep.runtime.fault import EpisodeEnd as EpisodeEnd
from sweep.runtime.fault import Fault as Fault
from sweep.runtime.instance import SimulationInstance as SimulationInstance
from sweep.runtime.noise import normals as normals
from sweep.runtime.noise import raw_words as raw_words
from sweep.runtime.noise import uniforms as uniforms
from sweep.runtime.output import DeviceOutput as DeviceOutput
from sweep.runtime.phases import Phase as Phase
from sweep.runtime.resolve import Resolver as Resolver
from sweep.runtime.resolve import resolve_plan as resolve_plan
from sweep.runtime.snapshot import SimulationSnapshot as SimulationSnapshot
from sweep.runtime.trace import TraceEvent as TraceEvent
