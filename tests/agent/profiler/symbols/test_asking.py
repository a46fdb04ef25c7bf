from dataclasses import dataclass, field
from typing import Literal

import pytest
from nemutator_agent.inspection.failures import WorkerFailedError
from nemutator_agent.inspection.identities import FileId
from nemutator_agent.profiler.symbols.asking import (
    LONGEST_S,
    MOST_CPU_S,
    MOST_FAILURES,
    SymbolAsking,
)
from nemutator_agent.profiler.symbols.mappings import OpenFile
from nemutator_agent.profiler.symbols.messages import SymbolQuestion
from nemutator_common import names

from tests.fakes.clocks import ManualClock
from tests.fakes.go_programs import TEXT, GoProgram
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.symbols import FakeFiles, LocalWorker

SHOP = OpenFile(7, FileId(1, 7, 1, 1))
QUESTION = SymbolQuestion(False)


@dataclass
class Asked:
    files: FakeFiles = field(default_factory=FakeFiles)
    clock: ManualClock = field(default_factory=ManualClock)
    meter: MemoryMeter = field(default_factory=MemoryMeter)

    def __post_init__(self) -> None:
        self.files.contents[7] = GoProgram().build()
        self.worker = LocalWorker(self.files)
        self.asking = SymbolAsking(self.worker, fake_process(meter=self.meter, clock=self.clock))


@pytest.fixture
def asked() -> Asked:
    return Asked()


async def test_what_was_learnt_is_not_asked_again(asked: Asked) -> None:
    session = asked.asking.session()
    for _ in range(2):
        found = await asked.asking.places(session, SHOP, "shop", [TEXT + 1], {TEXT + 1}, QUESTION)
        assert [frame.function for frame in found[TEXT + 1].frames or ()] == ["main.main"]
    assert len(asked.worker.asked) == 1


async def test_no_question_is_asked_once_time_effort_or_patience_are_used_up(asked: Asked) -> None:
    late, dear, failed = (asked.asking.session() for _ in range(3))
    assert not asked.asking.is_over(late)
    dear.most_cpu_s = asked.worker.cpu_s
    failed.failures = MOST_FAILURES
    assert asked.asking.is_over(dear)
    assert asked.asking.is_over(failed)
    await asked.clock.advance(LONGEST_S)
    assert await asked.asking.places(late, SHOP, "shop", [TEXT + 1], set(), QUESTION) == {}
    assert await asked.asking.once(late, SHOP, QUESTION) is None
    assert await asked.asking.listed(late, "a list", SHOP, [1], QUESTION) == {}
    assert late.notes == {"shop": {"late"}, "a list": {"late"}}
    assert asked.worker.asked == []
    assert asked.asking.session().most_cpu_s == MOST_CPU_S


@pytest.mark.parametrize(("reason", "note"), [("died", "failed"), ("slow", "late")])
async def test_a_file_that_makes_the_worker_fail_is_left_alone(
    asked: Asked, reason: Literal["died", "slow"], note: str
) -> None:
    asked.worker.failing[7] = WorkerFailedError(reason)
    session = asked.asking.session()
    for _ in range(2):
        assert await asked.asking.places(session, SHOP, "shop", [TEXT + 1], set(), QUESTION) == {}
        assert await asked.asking.once(session, SHOP, QUESTION) is None
    assert (session.failures, session.notes) == (1, {"shop": {note}})
    assert asked.meter.total(names.SYMBOL_QUESTIONS, result=reason) == 1
    assert len(asked.worker.asked) == 1


async def test_a_list_names_what_it_has(asked: Asked) -> None:
    asked.files.perf_maps[7] = b"9000 20 py::price\n"
    session = asked.asking.session()
    question = SymbolQuestion(False, perf_map=True)
    found = await asked.asking.listed(session, "perf-7.map", SHOP, [0x9001, 0x9050], question)
    assert {pc: frame.function for pc, frame in found.items()} == {0x9001: "py::price"}
