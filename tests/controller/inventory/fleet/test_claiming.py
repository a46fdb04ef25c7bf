import pytest
from nemutator_common.errors import OperatorError
from nemutator_controller.inventory.fleet.claiming import AGAIN_S, EVERY_S, TablesClaiming
from nemutator_controller.kube.failures import KubeError, UnavailableError

from tests.fakes.clocks import ManualClock
from tests.fakes.engines import in_background
from tests.fakes.process import fake_process
from tests.fakes.publications import MemoryPublications

OURS, THEIRS = "6f1c", "0b2d"


class Identity:
    def __init__(self, uid: str) -> None:
        self.uid = uid
        self.fails: KubeError | None = None

    async def __call__(self) -> str:
        if self.fails is not None:
            raise self.fails
        return self.uid


async def test_the_first_cluster_has_the_tables_and_another_one_of_its_name_is_refused() -> None:
    tables = MemoryPublications("east")
    clock = ManualClock()
    process = fake_process(clock=clock)
    async with in_background(TablesClaiming(tables, Identity(OURS), process).run(), clock):
        await clock.advance(3 * EVERY_S)
        another = TablesClaiming(tables, Identity(THEIRS), process)
        with pytest.raises(OperatorError, match=f"another cluster's: its kube-system is {OURS}"):
            await another.run()


async def test_while_nobody_can_tell_the_brain_goes_on_and_asks_again() -> None:
    tables, identity, clock = MemoryPublications("east"), Identity(OURS), ManualClock()
    claiming = TablesClaiming(tables, identity, fake_process(clock=clock))
    identity.fails = UnavailableError("list namespaces", "it does not answer")
    async with in_background(claiming.run(), clock):
        identity.fails, tables.fails = None, "gone"
        await clock.advance(AGAIN_S)
        await clock.until_sleeping(1)
        tables.fails = None
        await clock.advance(AGAIN_S)
        await clock.until_sleeping(1)
        assert await tables.owner(THEIRS) == OURS
    # A cluster that shows no kube-system is no reason to stop.
    identity.uid = ""
    await claiming.check()
