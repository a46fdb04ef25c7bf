"""Many writes at once, but not too many: tried again when the server says later, and counted."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from nemutator_common.backoff import Backoff
from nemutator_common.clocks import Clock
from nemutator_controller.kube.calls import Call
from nemutator_controller.kube.failures import KubeError, TooManyRequestsError
from nemutator_controller.kube.ports import Transport

T = TypeVar("T")

BACKOFF = Backoff(first_s=0.2, longest_s=10.0)
TRIES = 8
"""For one write: about half a minute, in which an API server restarts."""


@dataclass(slots=True)
class Tally:
    """What became of all writes. The keys are verbs with resources: `create pods`."""

    written: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    postponed: Counter[str] = field(default_factory=Counter)
    """Answers of 429: the server had too much to do."""
    repeated: Counter[str] = field(default_factory=Counter)
    """Tries that failed otherwise and were made again."""
    reasons: dict[str, str] = field(default_factory=dict)
    """Of the first refusal of each kind, what the server said."""

    def __str__(self) -> str:
        parts = [f"{name} {counted}" for name, counted in sorted(self.written.items())]
        parts += [f"429 to {name} {counted}" for name, counted in sorted(self.postponed.items())]
        parts += [f"again {name} {counted}" for name, counted in sorted(self.repeated.items())]
        parts += [f"REFUSED {name} {counted}" for name, counted in sorted(self.refused.items())]
        return ", ".join(parts) or "nothing written"


class Sender:
    """Everything that a fleet writes goes through one of these: *at_once* bounds all together."""

    def __init__(
        self,
        transport: Transport,
        clock: Clock,
        *,
        roll: Callable[[], float],
        at_once: int = 16,
        backoff: Backoff = BACKOFF,
    ) -> None:
        self.tally = Tally()
        self.at_once = at_once
        self._transport = transport
        self._clock = clock
        self._roll = roll
        self._backoff = backoff
        self._room = asyncio.Semaphore(at_once)

    async def send(self, call: Call, *, done_by: tuple[type[KubeError], ...] = ()) -> bytes:
        """The server's answer, or the error that ended it, which is counted as a refusal.

        An error of *done_by* is raised too, and counted as written: what was wanted is so.
        """
        name = _name_of(call)
        for tries in range(1, TRIES + 1):
            try:
                async with self._room:
                    answer = await self._transport.send(call)
            except done_by:
                self.tally.written[name] += 1
                raise
            except KubeError as error:
                if not error.retry or tries == TRIES:
                    self.tally.refused[name] += 1
                    self.tally.reasons.setdefault(name, str(error))
                    raise
                late = isinstance(error, TooManyRequestsError)
                (self.tally.postponed if late else self.tally.repeated)[name] += 1
                wait_s = self._backoff.delay_s(tries, roll=self._roll())
                # Outside of the turn: others may write meanwhile.
                await self._clock.sleep(max(error.retry_after_s, wait_s))
            else:
                self.tally.written[name] += 1
                return answer
        raise AssertionError("the last try returns or raises")

    async def each(
        self, manifests: Iterable[T], do: Callable[[T], Awaitable[object]], *, at_once: int = 0
    ) -> None:
        """*do* it with every one of *manifests*; one that is refused does not hold up the others."""
        waiting = iter(manifests)

        async def work() -> None:
            for manifest in waiting:
                # It is counted, with its reason, where it was sent.
                with contextlib.suppress(KubeError):
                    await do(manifest)

        async with asyncio.TaskGroup() as group:
            for _ in range(at_once or self.at_once):
                group.create_task(work())


def _name_of(call: Call) -> str:
    """`create pods` of `create pods in namespace team (web)`."""
    verb, _, rest = call.asked.partition(" ")
    return f"{verb} {rest.partition(' ')[0]}"
