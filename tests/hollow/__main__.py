"""Nodes and pods by the thousand on an API server, for tests of scale: nothing of them runs.

    make testbed-shell
    python -m tests.hollow --nodes 100 --pods 3000 --churn 5

writes 100 nodes and 3 000 pods that are Running and Ready, with their ReplicaSets, Deployments and
namespaces, to where KUBECONFIG points. It then keeps the nodes alive, as their kubelets would, and
replaces five pods a second until it is interrupted, when it takes everything away again. A fleet
whose writer was killed is completed by the same command, or taken away by `--clear`. The same
numbers and seed give the same names, so two runs can be compared; `--name` keeps fleets apart.

Hollow nodes are tainted: what is not hollow is not scheduled there. Nobody answers for them, so
logs and exec fail, and a hollow pod that others delete is `Terminating` until churn comes to it.
What the controllers of a real control plane would do with the workloads is held back:
`workloads.py` says how, and it shows as one FailedCreate event for each ReplicaSet.

From Python: `Fleet` in `fleet.py`. `make bench NAME=hollow` says how fast it is and who spends the
time.
"""

import argparse
import asyncio
import contextlib
import random
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import uvloop
from nemutator_common.errors import OperatorError
from nemutator_common.system_clock import SystemClock
from nemutator_controller.kube.failures import KubeError
from nemutator_controller.kube.transport import HttpTransport

from tests.fakes.meters import MemoryMeter
from tests.hollow.clearing import NotClearedError
from tests.hollow.fleet import Fleet
from tests.hollow.kubeconfigs import Kubeconfig
from tests.hollow.plan import Plan


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        plan = Plan(
            name=options.name,
            nodes=options.nodes,
            pods=options.pods,
            namespaces=options.namespaces,
            seed=options.seed,
        )
    except ValueError as wrong:
        parser.error(str(wrong))
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(_run(plan, options))
    except (OperatorError, KubeError, NotClearedError) as error:
        sys.stderr.write(f"hollow: {error}\n")
        return 1


async def _run(plan: Plan, options: argparse.Namespace) -> int:
    clock = SystemClock()
    configuration = Kubeconfig(clock, path=options.kubeconfig, context=options.context)
    stop = asyncio.Event()
    async with HttpTransport(configuration, MemoryMeter()) as transport:
        fleet = Fleet(plan, transport, clock, roll=random.random, at_once=options.at_once)
        # Fails at once, with the reason, where nothing can be reached.
        await fleet.clearing.left()
        if not options.clear:
            with _signals(stop):
                await _live(fleet, stop, churn_per_s=options.churn)
        _say(f"clearing ({fleet.tally})")
        await fleet.clearing.all()
    _say("cleared")
    return 1 if fleet.tally.refused else 0


@contextlib.contextmanager
def _signals(stop: asyncio.Event) -> Iterator[None]:
    """Inside, signals ask to clear; after it, another one ends the clearing, too."""
    loop, numbers = asyncio.get_running_loop(), (signal.SIGINT, signal.SIGTERM)
    for number in numbers:
        loop.add_signal_handler(number, stop.set)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


async def _live(fleet: Fleet, stop: asyncio.Event, *, churn_per_s: float) -> None:
    """Populate and keep alive until *stop*."""
    async with asyncio.TaskGroup() as group:
        life = group.create_task(_populate_and_keep(fleet, churn_per_s))
        asked = group.create_task(stop.wait())
        await asyncio.wait([life, asked], return_when=asyncio.FIRST_COMPLETED)
        life.cancel()
        asked.cancel()


async def _populate_and_keep(fleet: Fleet, churn_per_s: float) -> None:
    plan, populating = fleet.plan, fleet.populating
    begun = time.monotonic()
    async with asyncio.TaskGroup() as group:
        await populating.namespaces()
        await populating.nodes(range(plan.nodes))
        # From here on: the pods may take longer than the nodes would stay alive by themselves.
        group.create_task(fleet.heartbeats.run())
        await populating.workloads()
        pods_begun = time.monotonic()
        await populating.pods(plan.lives())
        ended = time.monotonic()
        per_s = plan.pods / max(ended - pods_begun, 1e-3)
        _say(f"populated in {ended - begun:.1f} s, {per_s:.0f} pods/s: {fleet.tally}")
        for what, why in fleet.tally.reasons.items():
            _say(f"first refusal to {what}: {why}")
        _say("kept alive until interrupted")
        if churn_per_s and plan.pods:
            group.create_task(fleet.churning.run(per_s=churn_per_s))


def _say(text: str) -> None:
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.hollow",
        description="Write hollow nodes and pods, keep them alive until interrupted, clear them.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--nodes", type=int, default=100)
    add("--pods", type=int, default=3000)
    add("--namespaces", type=int, default=4)
    add("--churn", type=float, default=0.0, metavar="PER_S", help="pods replaced each second")
    add("--name", default="hollow", help="begins all names; tells fleets apart")
    add("--seed", type=int, default=0)
    add("--at-once", type=int, default=16, help="requests under way at most")
    add("--kubeconfig", type=Path, help="default: where kubectl looks")
    add("--context", default="")
    add("--clear", action="store_true", help="only take away what is there of this name")
    return parser


if __name__ == "__main__":
    sys.exit(main())
