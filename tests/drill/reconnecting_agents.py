"""Some of the agents of `test_reconnecting.py`: a process may have 20 000 files here, and brain and agents need one each.

It reads words, one a line, and answers each with a line of JSON.
"""

import asyncio
import json
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from nemutator_common import names
from nemutator_common.secret import Secret
from nemutator_common.shipping.destinations import RemoteBrain
from nemutator_common.shipping.links import Link
from nemutator_common.shipping.report_columns import ReportColumns
from nemutator_common.wire import Ack

from tests.bench import brain_scale_shape as shape
from tests.bench.brain_scale_tokens import token_of
from tests.fakes.reconnecting import Agents
from tests.fakes.reports import report

AT_ONCE = 24
"""Calls of this process: each agent has a processor of its own elsewhere, and its deadline of 10 s for a call is not for
waiting until thousands of others have had this one."""
TURN_S = 3600.0
FAILURES = (
    "busy",
    "connection",
    "failed",
    "invalid",
    "timeout",
    "token",
    "unauthorised",
    "untrusted",
)


@dataclass
class Turns:
    """Calls take turns; counts when agents wanted to make theirs, by the second."""

    free: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    wanted: Counter[int] = field(default_factory=Counter)

    def through(self, link: Link) -> Link:
        return InTurn(self, link)


@dataclass(frozen=True)
class InTurn:
    turns: Turns
    link: Link

    async def position(self, *, writer: str, epoch: str) -> Ack:
        self.turns.wanted[int(time.monotonic())] += 1
        async with self.turns.free:
            return await self.link.position(writer=writer, epoch=epoch)

    async def send(self, batch: bytes) -> Ack:
        async with self.turns.free:
            return await self.link.send(batch)


async def obey(port: int, ca: Path, numbers: range) -> None:
    turns = Turns()
    agents = Agents(
        RemoteBrain("127.0.0.1", port), ca, numbers,
        call_s=TURN_S, node=shape.node_name, token=lambda number: Secret(token_of(number)),
        through=turns.through,
    )  # fmt: skip
    put = 0
    async with agents.running():
        while word := (await asyncio.to_thread(sys.stdin.readline)).strip():
            if word == "report":
                agents.report(ReportColumns().record(report(time.time())))
                put += len(numbers)
            if word == "again":
                turns.wanted.clear()
            waiting = [len(stream.shipper.queue) for stream in agents.streams]
            answer = {
                "acknowledged": put - sum(waiting),
                "behind": sum(map(bool, waiting)),
                "wanted": turns.wanted,
                "dropped": sum(stream.dropped for stream in agents.streams),
                "sent": agents.meter.total(names.UPLINK_SENT, stream="reports"),
                "failures": {
                    reason: agents.meter.total(names.UPLINK_FAILURES, stream="reports", reason=reason)
                    for reason in FAILURES
                },
            }  # fmt: skip
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(
        obey(int(sys.argv[1]), Path(sys.argv[2]), range(int(sys.argv[3]), int(sys.argv[4])))
    )
