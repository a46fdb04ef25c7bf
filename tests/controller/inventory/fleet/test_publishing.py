import asyncio
import dataclasses
from collections.abc import Callable

from nemutator_controller.inventory.documents import WorkloadItem
from nemutator_controller.inventory.fleet.published import NODES, WORKLOADS, unpacked
from nemutator_controller.inventory.fleet.publishing import InventoryPublishing
from nemutator_controller.inventory.model import ClusterFigures
from nemutator_controller.inventory.node_documents import NodeItem, node_item
from nemutator_controller.inventory.taking import NotListedYetError

from tests.fakes.inventory import shop
from tests.fakes.process import fake_process
from tests.fakes.publications import MemoryPublications


class Figures:
    def __init__(self) -> None:
        self.found: ClusterFigures | None = None

    async def now(self) -> ClusterFigures:
        if self.found is None:
            raise NotListedYetError
        return self.found


async def at_once(run: Callable[[], dict[str, bytes]]) -> dict[str, bytes]:
    return run()


def publishing(figures: Figures, publications: MemoryPublications) -> InventoryPublishing:
    return InventoryPublishing(
        figures.now,
        list,
        lambda found, _, __: [node_item(each, None) for each in found.nodes.values()],
        publications,
        at_once,
        fake_process(),
    )


async def test_nothing_is_published_before_all_is_listed() -> None:
    figures, publications = Figures(), MemoryPublications("east")
    ours = publishing(figures, publications)
    assert not await ours.publish()
    assert publications.kept == {}
    figures.found = shop()
    assert await ours.publish()
    found = publications.kept["east"]
    assert [each.name for each in unpacked(found[NODES].packed, list[NodeItem])] == ["n1", "n2"]
    workloads = unpacked(found[WORKLOADS].packed, list[WorkloadItem])
    assert {each.name for each in workloads} == {key[2] for key in shop().workloads}


async def test_that_there_is_nothing_yet_is_shown_and_soon_looked_at_again() -> None:
    figures, publications = Figures(), MemoryPublications("east")
    figures.found = dataclasses.replace(shop(), nodes={}, workloads={})
    ours = publishing(figures, publications)
    assert not await ours.publish()
    assert unpacked(publications.kept["east"][NODES].packed, list[NodeItem]) == []


async def test_a_database_that_is_away_is_asked_again() -> None:
    figures, publications = Figures(), MemoryPublications("east")
    figures.found, publications.fails = shop(), "gone"
    ours = publishing(figures, publications)
    assert not await ours.publish()
    publications.fails = None
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        running = group.create_task(ours.run())
        while "east" not in publications.kept:  # noqa: ASYNC110 - the store tells nobody
            await asyncio.sleep(0)
        running.cancel()
