"""Publishes once a minute what there is in this cluster, for the others on the same database."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.cluster.nodes import ReportedNode
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.inventory.documents import workload_item, workload_totals
from nemutator_controller.inventory.fleet.ports import Publications
from nemutator_controller.inventory.fleet.published import documents_of
from nemutator_controller.inventory.model import ClusterFigures
from nemutator_controller.inventory.node_documents import NodeItem
from nemutator_controller.inventory.taking import NotListedYetError

log = logging.getLogger(__name__)

EVERY_S = 60.0
NOT_YET_S = 5.0


@dataclass(frozen=True, slots=True)
class InventoryPublishing:
    figures: Callable[[], Awaitable[ClusterFigures]]
    reported: Callable[[], Sequence[ReportedNode]]
    shown: Callable[[ClusterFigures, Sequence[ReportedNode], float], Sequence[NodeItem]]
    publications: Publications
    in_thread: Callable[[Callable[[], dict[str, bytes]]], Awaitable[dict[str, bytes]]]
    process: Process

    async def run(self) -> None:
        while True:
            await self.process.clock.sleep(EVERY_S if await self.publish() else NOT_YET_S)

    async def publish(self) -> bool:
        """Whether it was: not before everything is listed, and while the database is away. Nor where there is nothing yet, so
        that a brain that has just started does not show that for a minute."""
        try:
            figures, reported = await self.figures(), self.reported()
            now = self.process.clock.now()
            documents = await self.in_thread(partial(self._documents, figures, reported, now))
            await self.publications.publish(documents, at=now)
        except NotListedYetError:
            return False
        except StoreUnavailableError as failure:
            log.warning("inventory_not_published", {names.REASON: failure.reason})
            return False
        return bool(figures.nodes or reported)

    def _documents(
        self, figures: ClusterFigures, reported: Sequence[ReportedNode], now: float
    ) -> dict[str, bytes]:
        several = figures.workloads.values()
        return documents_of(
            self.shown(figures, reported, now),
            [workload_item(each) for each in several],
            workload_totals(several),
        )
