"""Admission and the real brain: what it hears there, and what it sends there."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from nemutator_common import names
from nemutator_common.admission_snapshots import ADVICE_PATH, TOMBSTONES_PATH, Tombstone
from nemutator_common.data_directory_files import prepare, read_link_token
from nemutator_common.shipping.batches import encode_records
from nemutator_common.shipping.brain_http import BrainOverHttp, Proof
from nemutator_common.shipping.destinations import LocalBrain
from nemutator_common.shipping.links_over_http import DocumentsOverHttp, StreamOverHttp
from nemutator_common.shipping.shipper import Shipper
from nemutator_common.system_clock import SystemClock
from nemutator_common.wire import REPORTS_PATH
from nemutator_controller.admission.outcomes import Rules
from nemutator_controller.admission.reviews import decode
from nemutator_controller.admission.snapshot_poller import SnapshotPoller
from nemutator_controller.admission.spool import Spool
from nemutator_controller.admission.watching import WatchedCluster
from nemutator_controller.admission.webhook_handler import WebhookHandler
from nemutator_controller.journal.records import KeptTombstone
from nemutator_controller.journal.sql import SqlJournal
from nemutator_controller.kube.informing import Informer
from nemutator_controller.kube.resources import NAMESPACES, RUNTIME_CLASSES
from nemutator_controller.mutations.advisor import NoAdvice, RecommendedAmount, WorkloadRef
from nemutator_controller.policies.objects import MUTATION_POLICIES

from tests.contract.sizing.test_advice import summed
from tests.fakes.admission import MemoryWorld
from tests.fakes.admission_reviews import review
from tests.fakes.brains import StandingBrain, standing_brain
from tests.fakes.databases import opened
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.scripted_kube import ScriptedTransport
from tests.testbed.running import waiting

PATIENCE_S = 60.0
UNIT = WorkloadRef("system.slice", "unit", "ssh.service")
STONE = Tombstone("team", "Deployment", "web", "metadata.labels[team]")


async def until(condition: Callable[[], object]) -> None:
    await asyncio.to_thread(waiting.until, condition, "it is so", within_s=PATIENCE_S)


@contextlib.asynccontextmanager
async def calling(root: Path) -> AsyncIterator[BrainOverHttp]:
    """With the link token of the brain at *root*, whether that stands by now or not."""
    directory = prepare(root)
    where = LocalBrain(directory.socket(names.BRAIN))
    async with BrainOverHttp(where, proof=Proof(lambda: read_link_token(directory))) as brain:
        yield brain


@dataclass
class Listener:
    watched: WatchedCluster
    meter: MemoryMeter
    tasks: tuple[SnapshotPoller, ...]


def listener(brain: BrainOverHttp) -> Listener:
    meter, clock = MemoryMeter(), SystemClock()
    process = fake_process(clock=clock, meter=meter)
    watched = WatchedCluster(
        Informer(MUTATION_POLICIES, transport=ScriptedTransport(), process=process),
        Informer(NAMESPACES, transport=ScriptedTransport(), process=process),
        Informer(RUNTIME_CLASSES, transport=ScriptedTransport(), process=process),
        process=process,
    )
    get = DocumentsOverHttp(brain).get
    tasks = tuple(
        SnapshotPoller(snapshot, path, get, take, every_s=0.05, process=fake_process(clock=clock, meter=meter, roll=0.5))
        for snapshot, path, take in (
            ("advice", ADVICE_PATH, watched.take_advice),
            ("tombstones", TOMBSTONES_PATH, watched.take_tombstones),
        )
    )  # fmt: skip
    return Listener(watched, meter, tasks)


@contextlib.asynccontextmanager
async def hearing(root: Path) -> AsyncIterator[Listener]:
    async with calling(root) as brain, asyncio.TaskGroup() as group:
        heard = listener(brain)
        running = [group.create_task(task.run()) for task in heard.tasks]
        yield heard
        for task in running:
            task.cancel()


async def report(brain: StandingBrain, first: int, count: int, begun_at: float) -> None:
    batch = msgspec.json.encode(summed(first, count, begun_at=begun_at))
    async with brain.local.post(REPORTS_PATH, data=batch) as answer:
        assert answer.status == 200


async def test_advice_is_heard_when_it_is_firm_and_outlives_the_brain(tmp_path: Path) -> None:
    root, begun_at = tmp_path / "data", time.time() - 3600
    async with contextlib.AsyncExitStack() as stack:
        async with standing_brain(root) as brain:
            heard = await stack.enter_async_context(hearing(root))

            def cpu() -> RecommendedAmount | NoAdvice:
                return heard.watched.advisor.advise(UNIT, "-", "requests", "cpu")

            await report(brain, 1, 9, begun_at)
            await until(lambda: "no firm advice yet: 9 of 100" in cpu().reason)
            await report(brain, 10, 91, begun_at)
            await until(lambda: isinstance(cpu(), RecommendedAmount))
            advised = cpu()
            assert isinstance(advised, RecommendedAmount)
            assert 200 <= advised.amount.to_millis() <= 220
            assert advised.reason == "nemutator, 100 points"
            memory = heard.watched.advisor.advise(UNIT, "-", "requests", "memory")
            assert isinstance(memory, RecommendedAmount)
            assert str(memory.amount) == "802M"
            limit = heard.watched.advisor.advise(UNIT, "-", "limits", "memory")
            assert "gives no limits of memory: no limit of memory before a day" in limit.reason
        await until(lambda: heard.meter.total(names.SNAPSHOT_FAILURES, reason="connection") >= 2)
        assert cpu() == advised
        assert heard.meter.value(names.SNAPSHOT_AGE, snapshot="advice") > 0


async def test_what_was_taken_back_is_heard_by_admission(tmp_path: Path) -> None:
    root = tmp_path / "data"
    async with standing_brain(root), hearing(root) as heard:
        await until(lambda: heard.meter.total(names.SNAPSHOT_AGE) >= 0)
        assert heard.watched.reversed("team", "Deployment", "web") == frozenset()
    with opened(root / "nemutator.db") as database:
        await SqlJournal(database).add_tombstones(
            [KeptTombstone(tombstone=STONE, at=time.time(), decision="d1")]
        )
    async with standing_brain(root), hearing(root) as heard:
        await until(lambda: heard.watched.reversed("team", "Deployment", "web") == {STONE.path})


TEAM = {"mode": "Apply", "mutations": [{"labels": {"set": {"team": "a"}}}]}


def pod(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "app"}]}}


async def admitted(answerer: WebhookHandler, name: str) -> None:
    """One pod, asked about as the API server does."""
    asked = decode(msgspec.json.encode(review(pod(name))))
    answer = await answerer.answer(asked)
    assert answer.operations


@contextlib.asynccontextmanager
async def shipping(brain: BrainOverHttp, spool: Spool, meter: MemoryMeter) -> AsyncIterator[None]:
    """As `app/admission.py` wires it."""
    shipper = Shipper(
        process=fake_process(clock=SystemClock(), meter=meter),
        link=StreamOverHttp(brain, "decisions"),
        queue=spool,
        stream="decisions",
        writer="admission-1",
        epoch=spool.epoch,
        encode=encode_records,
        call_s=10.0,
    )
    spool.added = shipper.wake
    async with asyncio.TaskGroup() as group:
        task = group.create_task(shipper.run())
        yield
        task.cancel()


async def journaled(brain: StandingBrain) -> list[tuple[str, str, str]]:
    async with brain.local.get("/api/v1/mutations") as answer:
        items = (await answer.json())["items"]
    return sorted((item["subject"]["name"], item["state"], item["writer"]) for item in items)


async def test_decisions_go_from_the_spool_to_the_journal_each_once(tmp_path: Path) -> None:
    root, meter = tmp_path / "data", MemoryMeter()
    ids = iter(range(100))

    def replica() -> tuple[Spool, WebhookHandler]:
        spool = Spool(tmp_path / "spool", most_bytes=1 << 20, process=fake_process(meter=meter))
        answerer = WebhookHandler(
            MemoryWorld(team=TEAM),
            spool,
            Rules(own_namespace="nemutator", injector=None, strict=False),
            fresh=lambda: f"d{next(ids)}",
            process=fake_process(clock=SystemClock(), meter=meter),
        )
        return spool, answerer

    def rows(*names_of: str) -> list[tuple[str, str, str]]:
        return [(name, "answered", "admission-1") for name in names_of]

    async with standing_brain(root) as brain:
        # Decided while nobody ships: they wait on the disk, for the process after this one too.
        spool, answerer = replica()
        await admitted(answerer, "a")
        await admitted(answerer, "b")
        spool.close()
        spool, answerer = replica()
        async with calling(root) as link, shipping(link, spool, meter):
            await until(lambda: len(spool) == 0)
            assert await journaled(brain) == rows("a", "b")
            await admitted(answerer, "c")
            await until(lambda: len(spool) == 0)
            assert await journaled(brain) == rows("a", "b", "c")
        # The brain goes; what is decided meanwhile waits.
        await admitted(answerer, "d")
        assert len(spool) == 1
    async with (
        standing_brain(root) as brain,
        calling(root) as link,
        shipping(link, spool, meter),
    ):
        await until(lambda: len(spool) == 0)
        assert await journaled(brain) == rows("a", "b", "c", "d")
    spool.close()
    assert meter.total(names.UPLINK_DROPPED) == 0
    assert meter.value(names.UPLINK_SENT, stream="decisions") == 4
