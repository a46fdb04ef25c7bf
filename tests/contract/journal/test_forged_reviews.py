"""Somebody who reaches admission's port sends reviews that no API server has sent: what is kept of the others."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from nemutator_controller.admission.outcomes import Rules
from nemutator_controller.admission.reviews import decode
from nemutator_controller.admission.webhook_handler import WebhookHandler
from nemutator_controller.app.journal import DECISIONS
from nemutator_controller.database.access import Database
from nemutator_controller.database.retention import Retention, RetentionLimit
from nemutator_controller.journal.records import PodStamp
from nemutator_controller.journal.sql import SqlJournal, recorder
from nemutator_controller.mutations.decisions import pod_subject

from tests.fakes.admission import MemoryRecords, MemoryWorld
from tests.fakes.admission_reviews import review
from tests.fakes.clocks import ManualClock
from tests.fakes.databases import opened
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

SERVER, STRANGER = "10.0.0.1", "10.244.3.17"
KEPT = 1_000
FORGED, WITHIN_S = 2_000, 6.0
POD = {"metadata": {"generateName": "web-"}, "spec": {"containers": [{"name": "app"}]}}
DEPLOYMENT = {
    "metadata": {"name": "web"},
    "spec": {"template": {"metadata": {}, "spec": POD["spec"]}},
}
DEPLOYMENTS = {"group": "apps", "version": "v1", "resource": "deployments"}


def team(**more: Any) -> Any:
    return {"mode": "Apply", "mutations": [{"labels": {"set": {"team": "a"}}}], **more}


class Installation:
    """Admission, the brain's journal, and what carries records from one to the other."""

    def __init__(self, database: Database) -> None:
        self.clock, meter = ManualClock(), MemoryMeter()
        process = fake_process(clock=self.clock, meter=meter)
        ids = iter(range(1_000_000))
        self._records = MemoryRecords()
        self._handler = WebhookHandler(
            MemoryWorld(pods=team(), templates=team(applyTo="template")),
            self._records,
            Rules(own_namespace="nemutator", injector=None, strict=False),
            fresh=lambda: f"d{next(ids)}",
            process=process,
        )
        self._database, self._record = database, recorder(meter)
        self.journal = SqlJournal(database)
        limit = RetentionLimit(seconds=90 * 86_400.0, records=KEPT)
        self.retention = Retention(self.journal, limit, DECISIONS, process=process)

    async def ask(self, caller: str, manifest: Any = POD, **request: Any) -> str:
        """The decision's id."""
        body = msgspec.json.encode(review(manifest, **request))
        answer = await self._handler.answer(decode(body, caller=caller))
        assert answer.operations
        return answer.decision

    async def ship(self) -> None:
        records, self._records.kept = self._records.kept, []
        await self._database.write(lambda connection: self._record(connection, "a-1", records))

    async def see(self, decisions: Sequence[str]) -> None:
        stamps = [PodStamp(one, pod_subject("default", f"web-{one}", one)) for one in decisions]
        assert set(await self.journal.note(stamps)) == {"observed"}

    async def kept(self) -> set[str]:
        found = await self.journal.entries(namespace=None, name=None, limit=10 * KEPT)
        return {entry.decision.id for entry in found}


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    with opened(tmp_path / "x.db") as database:
        yield Installation(database)


@pytest.mark.slow
async def test_two_thousand_forged_reviews_push_no_honest_decision_out(
    installation: Installation,
) -> None:
    one = installation
    seen = [await one.ask(SERVER) for _ in range(200)]
    # Of these no watch says that they were stored; the pods are about to be.
    templates = [await one.ask(SERVER, DEPLOYMENT, resource=DEPLOYMENTS, name="web")]
    young = [await one.ask(SERVER) for _ in range(20)]
    await one.ship()
    await one.see(seen)
    for _ in range(FORGED):
        await one.clock.advance(WITHIN_S / FORGED)
        await one.ask(STRANGER)
    await one.ship()
    await one.retention.prune()
    kept = await one.kept()
    assert len(kept) == KEPT
    assert kept >= {*seen, *templates, *young}


async def test_a_review_does_not_say_itself_where_it_came_from() -> None:
    body = msgspec.json.encode(review(POD, caller=SERVER))
    assert decode(body, caller=STRANGER).caller == STRANGER
    assert decode(body).caller == ""
