import contextlib
from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass, field, replace

from nemutator_controller.ageing.findings import Findings
from nemutator_controller.ageing.marking import AGAIN_S, EVERY_S, MOST_AT_ONCE, AgeingMarks
from nemutator_controller.ageing.marks import NotMarkedError
from nemutator_controller.ageing.sentences import sentence

from tests.controller.ageing.test_findings import finding
from tests.fakes.clocks import ManualClock
from tests.fakes.engines import in_background
from tests.fakes.process import fake_process


@dataclass
class Pods:
    """A `MarkablePods` in memory."""

    marks: dict[str, str | None] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)

    def standing(self, uids: Collection[str]) -> Mapping[str, str | None]:
        return {uid: one for uid, one in self.marks.items() if uid in uids or one is not None}

    async def mark(self, uid: str, note: str | None) -> None:
        self.written.append(uid)
        if uid in self.refused:
            raise NotMarkedError("admission webhook denied the request")
        self.marks[uid] = note


@dataclass
class Marking:
    pods: Pods
    findings: Findings = field(default_factory=Findings)
    clock: ManualClock = field(default_factory=lambda: ManualClock(now=600.0))

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        marks = AgeingMarks(self.findings, self.pods, fake_process(clock=self.clock))
        async with in_background(marks.run(), self.clock):
            yield

    async def round(self, after_s: float = EVERY_S) -> None:
        await self.clock.advance(after_s)
        await self.clock.until_sleeping(1)


async def test_a_pod_is_marked_once_and_unmarked_when_its_program_is_steady() -> None:
    marking = Marking(Pods({"uid-1": None, "calm": None}))
    marking.findings.replace(finding())
    async with marking.running():
        await marking.round()
        assert marking.pods.marks == {"uid-1": sentence(finding()), "calm": None}
        assert marking.pods.written == ["uid-1"]
        marking.findings.replace(finding(grows_by=0))
        await marking.round()
        assert marking.pods.marks == {"uid-1": None, "calm": None}


async def test_marks_of_nobody_are_taken_away() -> None:
    marking = Marking(Pods({"forged": "shop: leak", "uid-1": None}))
    async with marking.running():
        assert marking.pods.marks == {"forged": None, "uid-1": None}


async def test_a_pod_that_cannot_be_written_to_is_left_alone_for_a_while() -> None:
    marking = Marking(Pods({"uid-1": None}, refused={"uid-1"}))
    marking.findings.replace(finding())
    async with marking.running():
        await marking.round()
        assert len(marking.pods.written) == 1
        marking.pods.refused.clear()
        await marking.round(AGAIN_S)
        assert marking.pods.marks["uid-1"] is not None


async def test_many_pods_are_marked_a_part_at_a_time() -> None:
    uids = [f"uid-{number}" for number in range(MOST_AT_ONCE + 5)]
    marking, found = Marking(Pods(dict.fromkeys(uids))), finding()
    (replica,) = found.replicas
    many = tuple(replace(replica, pod_uid=uid) for uid in uids)
    marking.findings.replace(replace(found, replicas=many))
    async with marking.running():
        assert len(marking.pods.written) == MOST_AT_ONCE
        await marking.round()
        assert sorted(marking.pods.written) == sorted(uids)
