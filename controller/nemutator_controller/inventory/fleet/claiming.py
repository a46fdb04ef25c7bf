"""Ends the brain that finds the tables of another cluster under its name: each would do the other's evictions."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from nemutator_common import names
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.process import Process

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.inventory.fleet.ports import Publications
from nemutator_controller.kube.failures import KubeError

log = logging.getLogger(__name__)

AGAIN_S = 5.0
"""After the database or the API server did not answer."""

EVERY_S = 600.0


@dataclass(frozen=True, slots=True)
class TablesClaiming:
    """`run` is a task for a Supervisor, which ends with what it raises."""

    publications: Publications
    identity: Callable[[], Awaitable[str]]
    """Of the cluster that the brain is in; raises `KubeError`. Empty: nobody knows."""
    process: Process

    async def run(self) -> None:
        """Raises `OperatorError`."""
        while True:
            wait_s = EVERY_S
            try:
                await self.check()
            except (KubeError, StoreUnavailableError) as error:
                log.warning("owner_of_tables_unknown", {names.ERROR: error})
                wait_s = AGAIN_S
            await self.process.clock.sleep(wait_s)

    async def check(self) -> None:
        """Raises `OperatorError`, `KubeError`, `StoreUnavailableError`."""
        ours = await self.identity()
        if not ours:
            return
        owner = await self.publications.owner(ours)
        if owner != ours:
            raise OperatorError(
                f"the database's tables are another cluster's: its kube-system is {owner}, ours is {ours}",
                remedy="give each cluster a brain.cluster_name of its own; where this cluster was made anew and shall"
                " have what the old one has kept: DELETE FROM published WHERE name = 'owner'",
                code=ExitCode.SETTINGS,
            )
