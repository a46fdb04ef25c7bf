"""Rollbacks among strangers' writes: ten thousand on the API server of tests, five hundred on a real one."""

import os
import random
from collections import Counter

import pytest
from nemutator_controller.kube.transport import HttpTransport

from tests.contract.kube.places import access
from tests.contract.kube.real_place import real_place
from tests.fakes.kube.configurations import Fixed
from tests.fakes.meters import MemoryMeter
from tests.property.journal.in_memory import InMemory
from tests.property.journal.interleavings import Case, interleaved
from tests.testbed.parts.control_plane import Cluster

IN_MEMORY = int(os.environ.get("DRILL_INTERLEAVINGS", "10000"))
REAL = int(os.environ.get("DRILL_REAL_INTERLEAVINGS", "500"))


class Sum:
    def __init__(self) -> None:
        self.results: Counter[str] = Counter()
        self.foreign = 0
        self.raced = 0

    def add(self, case: Case, seed: str) -> None:
        assert case.foreign() == [], seed
        assert case.kept() == [], seed
        self.results.update(one.result for one in case.reversal.outcomes)
        self.foreign += len(case.strangers.written)
        self.raced += bool(case.strangers.written)

    def say(self, cases: int) -> None:
        outcomes = ", ".join(f"{count} {result}" for result, count in self.results.most_common())
        print(
            f"\n{cases} interleavings, {self.raced} with strangers, {self.foreign} fields of theirs:"
            f" none was touched. Our edits: {outcomes}"
        )


@pytest.mark.drill
@pytest.mark.timeout(7_200)  # a quarter of an hour, on a machine that does nothing else
async def test_no_field_of_a_stranger_is_touched_in_memory() -> None:
    found, dice = Sum(), random.Random("drill")
    for number in range(IN_MEMORY):
        found.add(await interleaved(InMemory(), "default", dice, number), f"drill, {number}")
    found.say(IN_MEMORY)


@pytest.mark.drill
@pytest.mark.timeout(3_600)  # a few minutes, on a machine that does nothing else
async def test_no_field_of_a_stranger_is_touched_on_the_real_api_server(cluster: Cluster) -> None:
    found, dice = Sum(), random.Random("real")
    async with (
        real_place(cluster) as place,
        HttpTransport(Fixed(access(place)), MemoryMeter()) as transport,
    ):
        for number in range(REAL):
            case = await interleaved(transport, place.namespace, dice, number)
            found.add(case, f"real, {number}")
    found.say(REAL)
