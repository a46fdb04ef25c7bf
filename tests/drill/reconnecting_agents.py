"""Some of the agents of `test_reconnecting.py`: a process may have 20 000 files here, and brain and agents need one each.

It reads words, one a line, and answers each with a line of JSON.
"""

import asyncio
import json
import sys
import time
from pathlib import Path

from nemutator_common import names
from nemutator_common.secret import Secret
from nemutator_common.shipping.destinations import RemoteBrain
from nemutator_common.shipping.report_columns import ReportColumns

from tests.bench import brain_scale_shape as shape
from tests.bench.brain_scale_tokens import token_of
from tests.fakes.reconnecting import Agents
from tests.fakes.reports import report

CALL_S = 10.0
"""As agents have it by default."""
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


async def obey(port: int, ca: Path, numbers: range) -> None:
    agents = Agents(
        RemoteBrain("127.0.0.1", port), ca, numbers,
        call_s=CALL_S, node=shape.node_name, token=lambda number: Secret(token_of(number)),
    )  # fmt: skip
    put = 0
    async with agents.running():
        while word := (await asyncio.to_thread(sys.stdin.readline)).strip():
            if word == "report":
                agents.report(ReportColumns().record(report(time.time())))
                put += len(numbers)
            waiting = [len(stream.shipper.queue) for stream in agents.streams]
            answer = {
                "acknowledged": put - sum(waiting),
                "behind": sum(map(bool, waiting)),
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
