"""Reads the token store when it has changed. While it cannot be read, what was read last stays in use."""

import asyncio
import contextlib
import hashlib
import logging
from dataclasses import dataclass, field

import msgspec
from nemutator_common import names
from nemutator_common.admission_snapshots import TokenSnapshot
from nemutator_common.backoff import Backoff
from nemutator_common.process import Process

from nemutator_controller.mutations.known_tokens import NOT_READ, KnownTokens
from nemutator_controller.tokens.model import TokenSourceError, TokenTable
from nemutator_controller.tokens.ports import TokenSource

log = logging.getLogger(__name__)

FIRST_S = 3.0
"""The brain's start may take so much longer."""

BACKOFF = Backoff(first_s=1.0, longest_s=15.0)


@dataclass(slots=True)
class TokenReading:
    """Reads one source; `run` is its task."""

    source: TokenSource
    process: Process
    table: TokenTable | None = field(default=None, init=False)
    """None: it has never been read."""
    problem: str = field(default="", init=False)
    """Why it cannot be read now."""
    tag: str = field(default="", init=False)
    """Another one whenever there is another table."""
    _confirmed_at: float = field(init=False)
    _failures: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._confirmed_at = self.process.clock.monotonic()

    @property
    def age_s(self) -> float:
        """Seconds since the table was true; since the start, when there is none."""
        return self.process.clock.monotonic() - self._confirmed_at

    @property
    def known(self) -> KnownTokens:
        return KnownTokens({}, NOT_READ) if self.table is None else KnownTokens(self.table.values)

    @property
    def snapshot(self) -> TokenSnapshot:
        """What admission gets; it shares its tokens with the table."""
        values = {} if self.table is None else self.table.values
        return TokenSnapshot(self.source.name, self.table is not None, values)

    async def restore(self) -> None:
        """Read it before the first question comes, if that takes no longer than a moment."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FIRST_S):
                try:
                    await self.refresh()
                except TokenSourceError as error:
                    self._failed(error)

    async def run(self) -> None:
        with contextlib.closing(self.source):
            while True:
                try:
                    if self.table is None or self._failures or await self.source.changed():
                        await self.refresh()
                    else:
                        self._confirmed()
                except TokenSourceError as error:
                    self._failed(error)
                    await self.process.clock.sleep(
                        BACKOFF.delay_s(self._failures, roll=self.process.dice.random())
                    )

    async def refresh(self) -> None:
        """Read it now; raises `TokenSourceError`."""
        table = await self.source.read()
        if table != self.table:
            self._take(table)
        self._confirmed()

    async def put(self, key: str, value: str | None) -> None:
        """Change a token, which counts from then on; raises `TokenSourceError`."""
        await self.source.put(key, value)
        await self.refresh()

    def _take(self, table: TokenTable) -> None:
        self.table = table
        self.tag = hashlib.blake2b(msgspec.json.encode(self.snapshot), digest_size=16).hexdigest()
        self.process.meter.gauge(names.TOKENS, len(table.values))
        for why in ("key", "value", "room"):
            self.process.meter.gauge(names.TOKENS_LEFT_OUT, table.left_out.get(why, 0), reason=why)
        log.info("tokens_read", {names.COUNT: len(table.values)})

    def _confirmed(self) -> None:
        self._confirmed_at = self.process.clock.monotonic()
        self._failures, self.problem = 0, ""
        self.process.meter.gauge(names.TOKENS_AGE, 0)

    def _failed(self, error: TokenSourceError) -> None:
        self._failures += 1
        self.problem = str(error)[:300]
        self.process.meter.count(names.TOKENS_FAILURES, reason=error.reason)
        self.process.meter.gauge(names.TOKENS_AGE, self.age_s)
        log.log(
            logging.WARNING if self._failures == 1 else logging.DEBUG,
            "tokens_unavailable",
            {names.REASON: error.reason, names.ERROR: self.problem},
        )
