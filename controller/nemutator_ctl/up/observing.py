"""Runs `observe`: once somebody can hear it, as root where that was granted."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from nemutator_common import names
from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl.up.keeping import PATIENCE_S, Keeper
from nemutator_ctl.up.processes import Command
from nemutator_ctl.up.raising import Outcome

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Observing:
    keeper: Keeper
    brain: Keeper
    """Whom it reports to."""
    plain: Command
    raised: Callable[[str], Command]
    """The same by the sudo that it is given."""
    outcome: Callable[[], Awaitable[Outcome]]
    answered: asyncio.Event
    """Set once nobody is being asked any more."""

    async def run(self) -> None:
        """Keep it running; returns by cancellation or an `OperatorError` only."""
        outcome = await self.outcome()
        self.answered.set()
        self.keeper.note = outcome.note
        self.keeper.problem = f"it waits for {self.brain.name}"
        # One that takes longer is told about; observe keeps what it sees until somebody listens.
        await self.brain.wait_ready(within_s=PATIENCE_S)
        if outcome.sudo is not None:
            await self._keep_raised(self.raised(outcome.sudo))
        await self.keeper.keep(self.plain)

    async def _keep_raised(self, command: Command) -> None:
        """As root for as long as that can be kept; fewer facts are better than none."""
        try:
            await self.keeper.keep(command)
        except OperatorError as error:
            if error.code is not ExitCode.CHILD_DIED:
                raise
            log.warning("observe_not_raised", {names.REASON: error.what})
            self.keeper.note = "as an ordinary user: it could not be kept running as root"
