"""One suite for every journal: the one in memory that fast tests use, and the one in SQLite."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from nemutator_common import names
from nemutator_controller.database.access import Database
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.database.schema import decisions
from nemutator_controller.journal.ports import JournalStore
from nemutator_controller.journal.records import (
    EditOutcome,
    JournalEntry,
    KeptTombstone,
    Narrowing,
    PodStamp,
    Reversal,
)
from nemutator_controller.journal.sql import KEPT_REVERSALS, MOST_TOMBSTONES, SqlJournal, recorder
from nemutator_controller.mutations.decisions import pod_subject
from sqlalchemy import update

from tests.contract.store_kinds import KINDS, opened_for
from tests.fakes.databases import opened
from tests.fakes.decisions import NOW, POD, decision, edit, kept
from tests.fakes.journals import MemoryJournal
from tests.fakes.listeners import PATIENCE_S
from tests.fakes.meters import MemoryMeter


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with opened(tmp_path / "x.db") as database:
        yield database


@pytest.fixture(params=KINDS)
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[JournalStore]:
    if request.param == "memory":
        yield MemoryJournal()
        return
    with opened_for(request, tmp_path) as database:
        yield SqlJournal(database)


def reversal(number: int, of: int = 1) -> Reversal:
    outcome = EditOutcome(
        path="metadata.labels[team]", live=("red",), result="conflict", why="others"
    )
    return Reversal(
        id=f"v{number}", decision=f"d{of}", at=NOW + number, state="conflict", outcomes=(outcome,)
    )


async def test_a_decision_comes_back_as_it_was(journal: JournalStore) -> None:
    whole = decision(
        edits=(edit("metadata.labels[a]", before=None, after={"deep": [1, "x", None]}),),
        warnings=("mind the gap",),
    )
    await journal.add([whole], writer="admission-1", state="answered")
    entry = await journal.entry("d1")
    assert entry == JournalEntry(decision=whole, state="answered", writer="admission-1")
    assert await journal.entry("d2") is None


async def test_the_same_decision_again_changes_nothing(journal: JournalStore) -> None:
    await journal.add([decision(1)], writer="a", state="answered")
    other = decision(1, at=NOW + 99)
    await journal.add([other, decision(2), other], writer="b", state="observed")
    assert await journal.count() == 2
    first = await journal.entry("d1")
    assert first is not None
    assert (first.decision.at, first.writer, first.state) == (NOW + 1, "a", "answered")


async def test_of_two_with_one_id_the_first_counts(journal: JournalStore) -> None:
    await journal.add([decision(1), decision(1, at=NOW + 99)], writer="a", state="answered")
    entry = await journal.entry("d1")
    assert entry is not None
    assert entry.decision.at == NOW + 1


async def test_they_are_listed_newest_first_by_namespace_and_name(journal: JournalStore) -> None:
    elsewhere = replace(POD, namespace="other", name="api-1")
    unnamed = replace(POD, name="", generate_name="web-")
    await journal.add(
        [decision(1), decision(2, subject=elsewhere), decision(3, subject=unnamed), decision(4)],
        writer="a",
        state="answered",
    )

    async def ids(namespace: str | None, name: str | None, limit: int = 10) -> list[str]:
        found = await journal.entries(namespace=namespace, name=name, limit=limit)
        return [entry.decision.id for entry in found]

    assert await ids(None, None) == ["d4", "d3", "d2", "d1"]
    assert await ids(None, None, limit=2) == ["d4", "d3"]
    assert await ids("team", None) == ["d4", "d3", "d1"]
    assert await ids("team", "web-1") == ["d4", "d1"]
    assert await ids(None, "web-") == ["d3"]
    assert await ids("none", None) == []


async def test_a_seen_object_gives_its_decision_a_name_once(journal: JournalStore) -> None:
    unnamed = replace(POD, name="", generate_name="web-")
    await journal.add([decision(1, subject=unnamed)], writer="a", state="answered")
    assert await journal.seen("d1", name="web-x7", uid="u1")
    assert not await journal.seen("d1", name="web-x8", uid="u2")
    assert not await journal.seen("d9", name="web-x8", uid="u2")
    entry = await journal.entry("d1")
    assert entry is not None
    assert entry.state == "observed"
    assert (entry.decision.subject.name, entry.decision.subject.uid) == ("web-x7", "u1")
    assert await journal.entries(namespace="team", name="web-x7", limit=1) == [entry]


async def test_of_pods_that_were_seen_each_is_told_what_was_made_of_it(
    journal: JournalStore,
) -> None:
    unnamed = replace(POD, name="", generate_name="web-")
    new = [decision(number, subject=unnamed) for number in (1, 2, 3)]
    await journal.add(new, writer="a", state="answered")
    await journal.close(replace(reversal(1, of=3), state="reversed"))

    def seen(number: int, name: str, namespace: str = "team") -> PodStamp:
        return PodStamp(f"d{number}", pod_subject(namespace, name, f"u-{name}"))

    stamps = [
        seen(1, "web-1"),
        seen(1, "web-2"),
        seen(2, "other-1"),
        seen(2, "web-9", namespace="elsewhere"),
        seen(3, "web-3"),
        seen(9, "web-4"),
    ]
    made = await journal.note(stamps)
    assert made == ["observed", "known", "foreign", "foreign", "known", "unknown"]
    assert await journal.note(stamps[:1]) == ["known"]
    assert await journal.note([]) == []
    entries = await journal.entries(namespace=None, name=None, limit=10)
    found = {
        entry.decision.id: (entry.state, entry.decision.subject.name, entry.decision.subject.uid)
        for entry in entries
    }
    assert found == {
        "d1": ("observed", "web-1", "u-web-1"),
        "d2": ("answered", "", ""),
        "d3": ("reversed", "", ""),
    }


async def test_a_reversal_is_kept_once_and_is_the_decisions_state(journal: JournalStore) -> None:
    await journal.add([decision(1)], writer="a", state="answered")
    await journal.close(reversal(1))
    await journal.close(replace(reversal(2), state="reversed"))
    await journal.close(reversal(1))
    await journal.close(reversal(3, of=2))
    entry = await journal.entry("d1")
    assert entry is not None
    assert entry.state == "reversed"
    assert [each.id for each in await journal.reversals("d1")] == ["v2", "v1"]
    assert (await journal.reversals("d1"))[1] == reversal(1)
    assert await journal.reversals("d2") == []


async def test_tombstones_are_kept_once(journal: JournalStore) -> None:
    one, two = kept("initContainers[name=nemutator-init]"), kept("volumes[name=nemutator]")
    assert await journal.add_tombstones([one])
    later = replace(one, decision="d2", policy="defaults", revision="r", owner_uid="u")
    assert await journal.add_tombstones([two, later])
    assert sorted(await journal.tombstones(), key=lambda each: each.tombstone) == [later, two]


async def test_a_tombstone_is_forgotten_and_the_others_stay(journal: JournalStore) -> None:
    one, two = kept(), kept("volumes[name=nemutator]")
    assert await journal.add_tombstones([one, two])
    stranger = replace(two.tombstone, namespace="other")
    assert await journal.forget([one.tombstone, stranger]) == 1
    assert await journal.tombstones() == [two]
    assert await journal.forget([one.tombstone]) == 0


async def patiently(
    read: Callable[[], Awaitable[Sequence[KeptTombstone]]],
) -> Sequence[KeptTombstone]:
    """What *read* gives, as soon as a busy machine can within the store's own deadline."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            with contextlib.suppress(StoreUnavailableError):
                return await read()


@pytest.mark.slow
async def test_tombstones_beyond_their_number_are_refused_as_a_whole(journal: JournalStore) -> None:
    stones = [kept(str(number)) for number in range(MOST_TOMBSTONES)]
    assert await journal.add_tombstones(stones)
    assert not await journal.add_tombstones([stones[0], kept("one more")])
    assert len(await patiently(journal.tombstones)) == MOST_TOMBSTONES
    assert await journal.add_tombstones(stones[:1])


async def test_the_oldest_go_first_and_take_their_reversals_along(journal: JournalStore) -> None:
    await journal.add([decision(n) for n in range(1, 8)], writer="a", state="answered")
    await journal.close(reversal(1))
    assert await journal.drop_before(NOW + 4, most=2) == 2
    assert await journal.drop_before(NOW + 4, most=2) == 1
    assert await journal.drop_before(NOW + 4, most=2) == 0
    assert await journal.drop_oldest(most=1) == 1
    left = await journal.entries(namespace=None, name=None, limit=10)
    assert [entry.decision.id for entry in left] == ["d7", "d6", "d5"]
    assert await journal.reversals("d1") == []
    assert await journal.count() == 3


async def test_mutations_are_chosen_by_what_made_them_and_when(journal: JournalStore) -> None:
    bare = decision(4, subject=replace(POD, owner_kind="", owner_name=""))
    other = decision(3, edits=(edit("metadata.labels[x]", after="1", policy="other"),))
    preview = decision(5, mode="preview")
    await journal.add(
        [decision(1), decision(2), other, bare, preview], writer="a", state="answered"
    )
    await journal.close(replace(reversal(1, of=2), state="reversed"))

    async def chosen(**words: Any) -> list[str]:
        only = Narrowing(**words)
        found = await journal.entries(namespace=None, name=None, limit=10, only=only)
        return [entry.decision.id for entry in found]

    assert await chosen() == ["d5", "d4", "d3", "d2", "d1"]
    assert await chosen(standing=True) == ["d4", "d3", "d1"]
    assert await chosen(policy="other") == ["d3"]
    assert await chosen(workload=("Deployment", "web"), standing=True) == ["d3", "d1"]
    assert await chosen(workload=("Pod", "web-1"), policy="defaults", since=NOW + 2) == ["d5", "d4", "d2"]  # fmt: skip
    assert await chosen(until=NOW + 2) == ["d1"]


async def test_what_is_outside_the_time_that_is_asked_for_is_not_read(database: Database) -> None:
    journal = SqlJournal(database)
    await journal.add([decision(n) for n in (1, 2, 3)], writer="a", state="answered")
    await database.write(
        lambda connection: connection.execute(
            update(decisions).where(decisions.c.id != "d2").values(document=b"unreadable")
        )
    )
    only = Narrowing(since=NOW + 2, until=NOW + 3)
    found = await journal.entries(namespace=None, name=None, limit=10, only=only)
    assert [entry.decision.id for entry in found] == ["d2"]


async def test_forged_reviews_do_not_push_out_what_was_done_to_real_pods(
    journal: JournalStore,
) -> None:
    await journal.add([decision(1), decision(2)], writer="a", state="answered")
    assert await journal.seen("d1", name="web-1", uid="u")
    forged = [decision(number) for number in range(3, 40)]
    await journal.add(forged, writer="a", state="answered")
    assert await journal.drop_oldest(most=38) == 38
    assert [entry.decision.id for entry in await journal.entries(namespace=None, name=None, limit=9)] == ["d1"]  # fmt: skip
    assert await journal.drop_oldest(most=1) == 1


async def test_only_the_last_tries_of_a_decision_are_kept(database: Database) -> None:
    journal = SqlJournal(database)
    await journal.add([decision(1)], writer="a", state="answered")
    for number in range(KEPT_REVERSALS + 5):
        await journal.close(reversal(number))
    kept = await journal.reversals("d1")
    assert len(kept) == KEPT_REVERSALS
    assert kept[0].at == NOW + KEPT_REVERSALS + 4


async def test_the_stream_stores_what_it_understands_and_counts_the_rest(
    database: Database,
) -> None:
    meter = MemoryMeter()
    record = recorder(meter)
    good = [msgspec.to_builtins(decision(number)) for number in (1, 2)]
    bad: list[dict[str, object]] = [{}, {**good[0], "id": ""}, {**good[0], "id": "x", "edits": 3}]
    records = [good[0], *bad, good[1]]
    for _ in range(2):
        await database.write(lambda connection: record(connection, "admission-1", records))
    stored = await SqlJournal(database).entries(namespace=None, name=None, limit=10)
    assert [(each.decision.id, each.writer, each.state) for each in stored] == [
        ("d2", "admission-1", "answered"),
        ("d1", "admission-1", "answered"),
    ]
    assert meter.value(names.DECISIONS_DROPPED, reason="malformed") == 6
