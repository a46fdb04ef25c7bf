"""Questions to the worker that reads strangers' files, as many as one profile may cost.

What it says of a file is kept by what that file was when it was open. A file that makes the worker fail
is left alone for the rest of the profile.
"""

import functools
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.profiles.model import Frame

from nemutator_agent.inspection.executables import Worker
from nemutator_agent.inspection.failures import WorkerFailedError
from nemutator_agent.profiler.symbols.learnt_names import LearntNames, LearntPlace
from nemutator_agent.profiler.symbols.mappings import OpenFile
from nemutator_agent.profiler.symbols.messages import (
    MOST_ADDRESSES,
    SymbolAnswer,
    SymbolQuestion,
    decode_answer,
    encode_question,
)
from nemutator_agent.profiler.symbols.naming_session import NamingSession

log = logging.getLogger(__name__)

MOST_CPU_S = 120.0
"""CPU time of the worker for one profile. A true one takes half a second, and half a minute on an
emulated machine; forged files each take a little."""
LONGEST_S = 180.0
"""No question is asked any later. The brain waits for longer."""
MOST_FAILURES = 3
"""Failures of the worker in one profile."""


class SymbolWorker(Worker, Protocol):
    @property
    def cpu_s(self) -> float:
        """CPU time of all answers so far."""
        ...


async def ask(worker: Worker, question: SymbolQuestion, file: int) -> SymbolAnswer:
    """Raises WorkerFailedError."""
    decode = functools.partial(decode_answer, question=question)
    return await worker.ask(encode_question(question), file, decode)


@dataclass(eq=False, slots=True)
class SymbolAsking:
    worker: SymbolWorker
    process: Process
    learnt: LearntNames = field(default_factory=LearntNames)

    def session(self) -> NamingSession:
        ends_at = self.process.clock.monotonic() + LONGEST_S
        return NamingSession(ends_at, self.worker.cpu_s + MOST_CPU_S)

    def is_over(self, session: "NamingSession") -> bool:
        return (
            session.failures >= MOST_FAILURES
            or self.worker.cpu_s >= session.most_cpu_s
            or self.process.clock.monotonic() >= session.ends_at
        )

    async def places(
        self,
        session: "NamingSession",
        file: OpenFile,
        name: str,
        places: Sequence[int],
        deep: Collection[int],
        question: SymbolQuestion,
    ) -> dict[int, LearntPlace]:
        """What *file* says of *places*, of those in *deep* with the depth, as far as there is time."""
        known: dict[int, LearntPlace] = {}
        missing = []
        for place in places:
            learnt = self.learnt.place(file.id, place, with_depth=place in deep)
            if learnt is None:
                missing.append(place)
            else:
                known[place] = learnt
        for start in range(0, len(missing), MOST_ADDRESSES):
            if file.id in session.failed:
                break
            if self.is_over(session):
                session.note(name, "late")
                break
            some = tuple(missing[start : start + MOST_ADDRESSES])
            depths = tuple(one for one in some if one in deep)
            asked = replace(question, places=some, depths=depths)
            try:
                answer = await self.answer(asked, file)
            except WorkerFailedError as failure:
                session.failed.add(file.id)
                session.failures += 1
                session.note(name, _note_of(failure))
                break
            known |= self.learnt.learn_places(file.id, asked, answer)
        return known

    async def listed(
        self,
        session: "NamingSession",
        name: str,
        file: OpenFile,
        addresses: Sequence[int],
        question: SymbolQuestion,
    ) -> dict[int, Frame]:
        """What the list *file* calls *addresses*, as far as there is time."""
        found: dict[int, Frame] = {}
        try:
            for start in range(0, len(addresses), MOST_ADDRESSES):
                if self.is_over(session):
                    session.note(name, "late")
                    break
                some = tuple(addresses[start : start + MOST_ADDRESSES])
                answer = await self.answer(replace(question, places=some), file)
                for pc, stack in zip(some, answer.places, strict=True):
                    if stack:
                        found[pc] = answer.frames[stack[0]]
                for note in answer.notes:
                    session.note(name, note)
        except WorkerFailedError as failure:
            session.failures += 1
            session.note(name, _note_of(failure))
        return found

    async def once(
        self, session: NamingSession, file: OpenFile, question: SymbolQuestion
    ) -> SymbolAnswer | None:
        """None where there is no time for it, or the worker fails."""
        if file.id in session.failed or self.is_over(session):
            return None
        try:
            return await self.answer(question, file)
        except WorkerFailedError:
            session.failed.add(file.id)
            session.failures += 1
            return None

    async def answer(self, question: SymbolQuestion, file: OpenFile) -> SymbolAnswer:
        """Raises WorkerFailedError."""
        try:
            answer = await ask(self.worker, replace(question, id=file.id), file.file)
        except WorkerFailedError as failure:
            self.process.meter.count(names.SYMBOL_QUESTIONS, result=failure.reason)
            log.warning("symbols_failed", {names.REASON: failure.reason})
            raise
        self.process.meter.count(names.SYMBOL_QUESTIONS, result="answered")
        if not question.kernel and not question.perf_map:
            self.learnt.learn_file(file.id, answer)
        return answer


def _note_of(failure: WorkerFailedError) -> str:
    if failure.reason == "unconfined":
        return "unconfined"
    return "late" if failure.reason in ("hung", "slow") else "failed"
