"""The cluster's signing keys, read again as they change: however many tokens name keys that are not
there, the API server is asked at most once in a while, and one question at a time."""

import asyncio
import logging
import math
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.access.ports import SigningKeySource
from nemutator_controller.access.signing_keys import KeySet, key_set
from nemutator_controller.access.token_reviews import ASK_S, UnknownNowError
from nemutator_controller.kube.failures import KubeError

log = logging.getLogger(__name__)

FRESH_S = 300.0
"""A key that the cluster takes back proves nothing after this time."""

AGAIN_S = 10.0
"""The time between two questions, whoever asks for them."""


@dataclass(kw_only=True, eq=False)
class SigningKeys:
    source: SigningKeySource
    process: Process
    _set: KeySet | None = field(init=False, default=None)
    _read_at: float = field(init=False, default=-math.inf)
    _reads: int = field(init=False, default=0)
    _tried_at: float = field(init=False, default=-math.inf)
    _reading: asyncio.Lock = field(init=False, default_factory=asyncio.Lock)

    async def for_key(self, key_id: str) -> KeySet | None:
        """The set in which *key_id* stands, or one that was read after this question and has no such key.

        None: the cluster shows no keys. Raises UnknownNowError when it may have a new key that cannot be
        asked for yet.
        """
        reads = self._reads
        known = self._set is not None and self._set.names(key_id)
        if known and self.process.clock.monotonic() - self._read_at < FRESH_S:
            return self._set
        # An older set with the key serves while it is read again.
        if not (known and self._reading.locked()):
            async with self._reading:
                await self._read()
        found = self._set
        if found is not None and not found.names(key_id) and self._reads == reads:
            raise UnknownNowError("the cluster has not shown the key of this token yet")
        return found

    async def _read(self) -> None:
        now = self.process.clock.monotonic()
        if now - self._tried_at < AGAIN_S:
            return
        self._tried_at = now
        try:
            async with asyncio.timeout(ASK_S):
                published = await self.source.signing_keys()
            self._set = key_set(published.discovery, published.keys)
        except (KubeError, ValueError, TimeoutError) as error:
            self._count("failed")
            log.warning("signing_keys_unreadable", {names.ERROR: error})
            return
        self._read_at = now
        self._reads += 1
        self._count("read")

    def _count(self, result: str) -> None:
        self.process.meter.count(names.SIGNING_KEYS_READ, result=result)
