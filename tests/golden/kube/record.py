"""Records what a real API server answers to the requests of the contract suite.

    .venv/bin/python -m tests.golden.kube.record

It starts a control plane of its own, and needs the testbed for that (`make testbed`).
"""

import asyncio
import json
from pathlib import Path
from typing import Any

from tests.contract.kube.answers import answers, prepare
from tests.contract.kube.real_place import real_place
from tests.testbed.parts import control_plane
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.running.run import running

STATUSES = Path(__file__).with_name("statuses.json")


def recorded() -> dict[str, Any]:
    """What was answered, by the names of the requests."""
    content: dict[str, Any] = json.loads(STATUSES.read_text())
    return dict(content["answers"])


async def record(cluster: Cluster) -> None:
    async with real_place(cluster) as place:
        await prepare(place)
        found = await answers(place)
    version = json.loads(cluster.ask("/version")[1])["gitVersion"]
    # One line for each, so that a difference is one line too.
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(found[name])}" for name in found)
    head = json.dumps(version)
    STATUSES.write_text(f'{{"server": {head}, "answers": {{\n{lines}\n}}}}\n')


if __name__ == "__main__":
    with running() as run:
        asyncio.run(record(control_plane.begin(run)))
