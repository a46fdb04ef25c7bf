"""Takes the lease, renews it, and runs what only one brain may do for as long as it is held.

It is three tasks: `elect` asks for the lease, `watch` sees when it has run out, whatever the request that
should have renewed it waits for, and `lead` runs the bodies. When the lease runs out they have
`STOP_S` to end; those that do not are an error that ends the process before another brain begins.
"""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.supervising import Body, HungTasksError, Supervisor

from nemutator_controller.leasing.election import (
    DEADLINE_S,
    LEASE_S,
    Election,
    LeaseTakenError,
    LeaseUnavailableError,
)
from nemutator_controller.leasing.ports import LeaseStore

log = logging.getLogger(__name__)

TRY_S = 2.0
"""For one check, and what is written after it. A holder whose tries hang has another one before it stops."""

CHECK_S = 0.2
"""Between two readings of the clock."""

STOP_S = LEASE_S - DEADLINE_S - 1.0
"""For the bodies to end. The second is for reading the clock too late."""

RELEASE_S = 1.0
PART = "lease"


@dataclass(slots=True)
class Leading:
    election: Election
    store: LeaseStore
    process: Process
    stop_s: float = STOP_S
    _began: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _lost: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _acts: bool = field(default=False, init=False)

    def now(self) -> bool:
        """Whether this brain leads."""
        return self.election.left_s(self.process.clock.monotonic()) > 0.0

    async def elect(self) -> None:
        """Ask for the lease and renew it; at the end let another brain have it at once."""
        try:
            while True:
                await self._try()
                self._note()
                clock = self.process.clock
                await clock.sleep(self.election.next_try_s(clock.monotonic()))
        finally:
            await self._release()

    async def watch(self) -> None:
        while True:
            self._note()
            await self.process.clock.sleep(CHECK_S)

    async def lead(self, bodies: Callable[[], Mapping[str, Body]]) -> None:
        """Run *bodies* whenever this brain leads. Raises `HungTasksError`."""
        while True:
            await self._began.wait()
            self._began.clear()
            if not self.now():
                continue
            self._lost.clear()
            supervisor = Supervisor(stop_s=self.stop_s, together=True)
            for name, body in bodies().items():
                supervisor.add(name, body)
            self._acts = True
            await self._run(supervisor)

    async def _run(self, supervisor: Supervisor) -> None:
        try:
            await supervisor.run(self._lost)
        except HungTasksError:
            raise
        except BaseException:
            self._acts = False
            raise
        self._acts = False

    async def _try(self) -> None:
        clock = self.process.clock
        try:
            async with asyncio.timeout(TRY_S):
                lease = await self.store.read()
                begun = clock.monotonic()
                self.election.saw(lease, begun)
                wanted = self.election.wanted(lease, begun, wall=clock.now())
                if wanted is not None:
                    self.election.wrote(await self.store.write(wanted), begun)
        except LeaseTakenError:
            self.election.lost()
        except (LeaseUnavailableError, TimeoutError) as error:
            log.warning("lease_unavailable", {names.ERROR: str(error) or "no answer in time"})

    def _note(self) -> None:
        leads = self.now()
        self.process.meter.gauge(names.BRAIN_LEADS, float(leads))
        holder = self.election.holder or "nobody"
        self.process.readiness.note(PART, "this brain leads" if leads else f"{holder} leads")
        if not leads:
            self._lost.set()
        elif not self._acts:
            self._began.set()

    async def _release(self) -> None:
        lease = self.election.released()
        # What goes on after it should have ended keeps others from beginning, until the lease runs out.
        if lease is None or self._acts:
            return
        with contextlib.suppress(LeaseTakenError, LeaseUnavailableError, TimeoutError):
            async with asyncio.timeout(RELEASE_S):
                await self.store.write(lease)
            log.info("lease_released")
