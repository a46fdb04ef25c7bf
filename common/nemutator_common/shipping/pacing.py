"""How often the brain wants to hear of a node: one that many report to asks each for less."""

from nemutator_common.shipping.links import Link
from nemutator_common.wire import LONGEST_PACE_S, Ack


class PacedLink:
    """A `Link` that remembers what its answers ask for."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self.report_every_s = 0.0
        """0 until the brain has asked for something."""

    async def position(self, *, writer: str, epoch: str) -> Ack:
        return self._heard(await self._link.position(writer=writer, epoch=epoch))

    async def send(self, batch: bytes) -> Ack:
        return self._heard(await self._link.send(batch))

    def _heard(self, ack: Ack) -> Ack:
        self.report_every_s = min(max(0.0, ack.report_every_s), LONGEST_PACE_S)
        return ack
