"""Notifies the watchers of one socket: a line of JSON for each change, and one when nothing happens.

    {"sequence":7}                            nothing new; the first line, and a sign of life
    {"name":"db","version":3,"sequence":8}    a change, without its value
    {"missed":true,"sequence":9}              what happened before is not known: read again
    {"error":…,"remedy":…,"step":…}           the last line: the caller is not let in any more

Who was disconnected asks again for what came `after` the last sequence that it has seen.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Protocol

from nemutator_common.clocks import Clock

from nemutator_agent.credentials.http_refusals import HttpRefusal, not_attested
from nemutator_agent.credentials.ports import SecretChanges
from nemutator_agent.credentials.rotation.changes import ChangeLog
from nemutator_agent.identity.failures import AttestationError

SIGN_OF_LIFE_S = 10.0
"""A listener gives each line as long as a whole answer, of which the shortest has 20 s."""


class MayWatch(Protocol):
    def may_watch(self, name: str) -> bool: ...


@dataclass(eq=False, slots=True)
class ChangeFeed:
    """A `SecretChanges`."""

    clock: Clock
    _: KW_ONLY
    sign_of_life_s: float = SIGN_OF_LIFE_S
    log: ChangeLog = field(init=False)
    _changed: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def __post_init__(self) -> None:
        # Beyond whatever an earlier run has counted to: it had fewer changes than milliseconds.
        self.log = ChangeLog(int(self.clock.now() * 1000))

    def announce(self, name: str, version: int | None) -> None:
        self.log.add(name, version)
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def beyond(self, sequence: int) -> None:
        """Wait for a change after *sequence*, or until a sign of life is due."""
        if self.log.newest > sequence:
            return
        try:
            async with asyncio.timeout(self.sign_of_life_s):
                await self._changed.wait()
        except TimeoutError:
            return


async def watch(
    changes: SecretChanges, admit: Callable[[], MayWatch], after: int | None
) -> AsyncGenerator[bytes]:
    """The lines for a caller, whom *admit* lets in anew before each: its process may have ended, and
    rules may have changed. It may raise what an `HttpRefusal` answers."""
    position = changes.log.newest if after is None else after
    if not changes.log.reaches(position):
        position = changes.log.newest
        yield _line(missed=True, sequence=position)
    else:
        yield _line(sequence=position)
    while True:
        await changes.beyond(position)
        try:
            caller = admit()
        except AttestationError as error:
            yield _refused(not_attested(error))
            return
        except HttpRefusal as refusal:
            yield _refused(refusal)
            return
        news = changes.log.after(position)
        # Also beyond what this caller may not hear of.
        position = changes.log.newest
        lines = [
            _line(name=change.name, version=change.version, sequence=change.sequence)
            for change in news
            if caller.may_watch(change.name)
        ]
        yield b"".join(lines) or _line(sequence=position)


def _refused(refusal: HttpRefusal) -> bytes:
    return _line(error=refusal.error, remedy=refusal.remedy, step=refusal.step)


def _line(**fields: object) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode() + b"\n"
