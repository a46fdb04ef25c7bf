"""Asks the worker whether the code makes the calls that stacks show, and remembers what it answered."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from nemutator_common.profiles.grade import Verdict

from nemutator_agent.inspection.identities import FileId
from nemutator_agent.profiler.symbols.messages import (
    MOST_ADDRESSES,
    SymbolAnswer,
    SymbolQuestion,
)
from nemutator_agent.profiler.symbols.wanted import MappedAddresses

MOST_CACHED = 16_384
"""About 3 MiB."""
MOST_CALLS = 20_000
"""The most of one profile that are checked: those of most samples. Busy profiles have some thousands."""


@dataclass(eq=False, slots=True)
class CallChecking:
    _cache: OrderedDict[tuple[FileId, int, int], Verdict] = field(
        default_factory=OrderedDict, init=False
    )

    async def verdicts(
        self,
        file: FileId,
        part: MappedAddresses,
        *,
        most: int,
        ask: Callable[[SymbolQuestion], Awaitable[SymbolAnswer | None]],
    ) -> dict[tuple[int, int], Verdict]:
        """About the calls of *part*, by their addresses. *ask* answers None when no more may be asked."""
        wanted = list(part.calls.items())[:most]
        places = dict.fromkeys(place for _, place in wanted)
        known = {
            place: self._cache[file, *place] for place in places if (file, *place) in self._cache
        }
        missing = [place for place in places if place not in known]
        for start in range(0, len(missing), MOST_ADDRESSES):
            some = tuple(missing[start : start + MOST_ADDRESSES])
            answer = await ask(SymbolQuestion(False, calls=some))
            if answer is None:
                break
            for place, verdict in zip(some, answer.calls, strict=True):
                known[place] = verdict
                if verdict != "unread":
                    self._remember((file, *place), verdict)
        return {call: known[place] for call, place in wanted if place in known}

    def _remember(self, call: tuple[FileId, int, int], verdict: Verdict) -> None:
        self._cache[call] = verdict
        if len(self._cache) > MOST_CACHED:
            self._cache.popitem(last=False)
