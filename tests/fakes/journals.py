"""A journal and its objects in memory; the contract suites run on these and on the real ones."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from nemutator_common.admission_snapshots import Tombstone
from nemutator_controller.journal.decision_stamps import known_from
from nemutator_controller.journal.live_objects import ChangedError, LiveObject, ObjectRefusedError
from nemutator_controller.journal.records import (
    EVERYTHING,
    JournalEntry,
    KeptTombstone,
    Known,
    Narrowing,
    PodStamp,
    Reversal,
    State,
)
from nemutator_controller.journal.sql import MOST_TOMBSTONES
from nemutator_controller.mutations.decisions import Decision, Edit, Subject
from nemutator_controller.mutations.edits import apply_edits

from tests.fakes.brain_stores import Failing


class MemoryJournal(Failing):
    """A `JournalStore`."""

    def __init__(self) -> None:
        self._entries: dict[str, JournalEntry] = {}
        self._reversals: dict[str, Reversal] = {}
        self.stones: dict[Tombstone, KeptTombstone] = {}

    async def add(self, decisions: Sequence[Decision], *, writer: str, state: State) -> None:
        self._work()
        for one in decisions:
            entry = JournalEntry(decision=one, state=state, writer=writer)
            self._entries.setdefault(one.id, entry)

    async def entry(self, decision: str) -> JournalEntry | None:
        self._work()
        return self._entries.get(decision)

    async def entries(
        self, *, namespace: str | None, name: str | None, limit: int, only: Narrowing = EVERYTHING
    ) -> Sequence[JournalEntry]:
        self._work()
        found = [
            entry
            for entry in self._entries.values()
            if namespace in (None, entry.decision.subject.namespace)
            and name in (None, entry.decision.subject.name or entry.decision.subject.generate_name)
            and only.takes(entry)
        ]
        return sorted(found, key=lambda entry: (-entry.decision.at, entry.decision.id))[:limit]

    async def seen(self, decision: str, *, name: str, uid: str) -> bool:
        self._work()
        entry = self._entries.get(decision)
        if entry is None or entry.state != "answered":
            return False
        subject = replace(entry.decision.subject, name=name, uid=uid)
        known = replace(entry.decision, subject=subject)
        self._entries[decision] = replace(entry, decision=known, state="observed")
        return True

    async def note(self, stamps: Sequence[PodStamp]) -> Sequence[Known]:
        self._work()
        made: list[Known] = []
        for one in stamps:
            made.append(known_from(one, self._entries.get(one.decision)))
            if made[-1] == "observed":
                await self.seen(one.decision, name=one.subject.name, uid=one.subject.uid)
        return made

    async def close(self, reversal: Reversal) -> None:
        self._work()
        entry = self._entries.get(reversal.decision)
        if entry is not None and reversal.id not in self._reversals:
            self._reversals[reversal.id] = reversal
            self._entries[reversal.decision] = replace(entry, state=reversal.state)

    async def reversals(self, decision: str) -> Sequence[Reversal]:
        self._work()
        found = [each for each in self._reversals.values() if each.decision == decision]
        return sorted(found, key=lambda each: (-each.at, each.id))

    async def add_tombstones(self, new: Sequence[KeptTombstone]) -> bool:
        self._work()
        merged = self.stones | {kept.tombstone: kept for kept in new}
        if len(merged) > MOST_TOMBSTONES:
            return False
        self.stones = merged
        return True

    async def tombstones(self) -> Sequence[KeptTombstone]:
        self._work()
        return list(self.stones.values())

    async def forget(self, gone: Sequence[Tombstone]) -> int:
        self._work()
        return sum(self.stones.pop(one, None) is not None for one in gone)

    async def drop_before(self, moment: float, *, most: int) -> int:
        self._work()
        return self._drop([e for e in self._oldest() if e.decision.at < moment][:most])

    async def drop_oldest(self, *, most: int) -> int:
        self._work()
        seen = {e.decision.caller for e in self._entries.values() if e.state != "answered"} | {""}
        forged_first = sorted(
            self._oldest(),
            key=lambda entry: (entry.state != "answered", entry.decision.caller in seen),
        )
        return self._drop(forged_first[:most])

    async def count(self) -> int:
        self._work()
        return len(self._entries)

    def _oldest(self) -> list[JournalEntry]:
        return sorted(self._entries.values(), key=lambda e: (e.decision.at, e.decision.id))

    def _drop(self, gone: Sequence[JournalEntry]) -> int:
        for entry in gone:
            del self._entries[entry.decision.id]
            for each in list(self._reversals.values()):
                if each.decision == entry.decision.id:
                    del self._reversals[each.id]
        return len(gone)


class MemoryObjects:
    """`Objects` and `Manifests` that do what a test has prepared: pods that run, or manifests that do not."""

    def __init__(self, *, running: bool = True) -> None:
        self.running = running
        self.living: dict[tuple[str, str, str], LiveObject] = {}
        self.evicted: list[str] = []
        self.failing: list[Exception] = []
        """Raised by the next writes and evictions, one each."""
        self.refusing = ""
        """Why nothing may be put, if it may not."""
        self.unreadable: list[str] = []
        self._writes = 0

    def place(self, subject: Subject, document: Mapping[str, Any]) -> LiveObject:
        self._writes += 1
        live = LiveObject(subject=subject, document=document, version=str(self._writes))
        self.living[subject.kind, subject.namespace, subject.name] = live
        return live

    async def get(self, subject: Subject) -> LiveObject | None:
        return self.living.get((subject.kind, subject.namespace, subject.name))

    async def check(self, subject: Subject, document: Mapping[str, Any]) -> None:
        if self.refusing:
            raise ObjectRefusedError(self.refusing)

    async def put(self, subject: Subject, document: Mapping[str, Any]) -> LiveObject:
        await self.check(subject, document)
        self._fail()
        return self.place(subject, document)

    async def remove(self, subject: Subject) -> bool:
        self._fail()
        return self.living.pop((subject.kind, subject.namespace, subject.name), None) is not None

    async def all(self, kind: str | None = None) -> Sequence[LiveObject]:
        return [live for live in self.living.values() if kind in (None, live.subject.kind)]

    async def damaged(self, kind: str) -> Sequence[str]:
        return [why for why in self.unreadable if why.startswith(kind)]

    async def find(self, subject: Subject, decision: str) -> LiveObject | None:
        begin = subject.generate_name
        for (kind, namespace, name), live in self.living.items():
            if (kind, namespace) == (subject.kind, subject.namespace) and name.startswith(begin):
                return live
        return None

    async def write(self, live: LiveObject, edits: Sequence[Edit], *, resize: bool) -> LiveObject:
        self._fail()
        now = await self.get(live.subject)
        if now is None or now.version != live.version:
            raise ChangedError("it was changed meanwhile")
        return self.place(live.subject, apply_edits(now.document, edits, live.subject.kind))

    async def rehearse(self, live: LiveObject, edits: Sequence[Edit], *, resize: bool) -> None:
        self._fail()
        now = await self.get(live.subject)
        if now is None or now.version != live.version:
            raise ChangedError("it was changed meanwhile")

    async def evict(self, live: LiveObject) -> None:
        if not self.running:
            raise ObjectRefusedError("it does not run")
        self._fail()
        self.evicted.append(live.subject.name)

    def _fail(self) -> None:
        if self.failing:
            raise self.failing.pop(0)
