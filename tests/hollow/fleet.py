"""One hollow fleet: all that can be done with it, over one transport and within one bound."""

from collections.abc import Callable

from nemutator_common.clocks import Clock
from nemutator_controller.kube.ports import Transport

from tests.hollow.churning import Churning
from tests.hollow.clearing import Clearing
from tests.hollow.heartbeats import Heartbeats
from tests.hollow.plan import Plan
from tests.hollow.populating import Populating
from tests.hollow.sending import Sender, Tally


class Fleet:
    """Populate it, keep its heartbeats running for as long as it should live, and clear it."""

    def __init__(
        self,
        plan: Plan,
        transport: Transport,
        clock: Clock,
        *,
        roll: Callable[[], float],
        at_once: int = 16,
    ) -> None:
        self.plan = plan
        self._sender = Sender(transport, clock, roll=roll, at_once=at_once)
        self.populating = Populating(plan, self._sender, clock)
        self.heartbeats = Heartbeats(plan, self._sender, clock)
        self.churning = Churning(plan, self.populating, self._sender, clock)
        self.clearing = Clearing(plan.name, transport, self._sender, clock)

    @property
    def tally(self) -> Tally:
        """Of all that was written and refused so far."""
        return self._sender.tally
