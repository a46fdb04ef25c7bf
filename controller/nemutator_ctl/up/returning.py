"""Keeps the brain where people have found it.

Its page is open there, and the cookie's name has the port: with `--console 127.0.0.1:0` each new
brain would listen somewhere else, and nobody would know.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from nemutator_common import names
from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl.up.keeping import Keeper
from nemutator_ctl.up.processes import Command

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Returning:
    brain: Keeper
    plain: Command
    """With the address that was wished for; its port can be any."""
    at: Callable[[str], Command]
    """The same with the address that it is given."""
    moved: asyncio.Event
    """Set when it cannot return there: what was told of it is wrong then."""

    async def run(self) -> None:
        """Keep it running; returns by cancellation or an `OperatorError` only."""
        while True:
            try:
                await self.brain.keep(self.plain)
            except OperatorError as error:
                if error.code is not ExitCode.ADDRESS_IN_USE or self.brain.command == self.plain:
                    raise
                log.warning("console_moved", {names.REASON: "somebody else listens there by now"})
                self.moved.set()

    def found(self, link: str) -> None:
        """Somebody is told this link: from now on it starts there."""
        self.brain.command = self.at(urlsplit(link).netloc)
