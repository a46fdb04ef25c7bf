"""Runs the sample, and puts up a secret, a mutation and a flame graph beside it: a new user then
tries each of the four jobs by one command.

Nothing else needs any of it: what fails is shown, and everything else goes on.
"""

import asyncio
import logging
import shlex
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from nemutator_common import names
from nemutator_common.clocks import Clock
from nemutator_common.errors import OperatorError

from nemutator_ctl.edits import ShownObject
from nemutator_ctl.terminal_text import visible
from nemutator_ctl.up.child import Child
from nemutator_ctl.up.command_lines import Typed

log = logging.getLogger(__name__)

STEP_S = 1.0
"""Between two checks of what takes its time."""

BUILT_WITHIN_S = 300.0
"""For a Go that must be fetched first, on a slow line."""

PROFILED_WITHIN_S = 60.0

SECRET = "greeting"  # noqa: S105 - its name
VALUE = "hello from nemutator"

POLICY: dict[str, Any] = {
    "apiVersion": f"{names.DOMAIN}/v1alpha1",
    "kind": "MutationPolicy",
    "metadata": {"name": "sample-owners"},
    "spec": {
        "match": {"namespaces": ["sample"]},
        "mode": "Apply",
        "mutations": [
            {"labels": {"set": {"team": "shop"}}},
            {"resources": {"requests": {"cpu": {"ratio": 0.25}}}},
        ],
    },
}

MANIFEST: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {
        "name": "shop",
        "namespace": "sample",
        # Where groups do not count CPU time, so that what it requests has something to be wasted of.
        "annotations": {names.STANDS_FOR: "program/shop"},
    },
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "shop"}},
        "template": {
            "metadata": {"labels": {"app": "shop"}},
            "spec": {
                "containers": [
                    {
                        "name": "shop",
                        "image": "example.com/shop:1",
                        "resources": {"requests": {"cpu": "1", "memory": "256Mi"}},
                    }
                ]
            },
        },
    },
}
"""Nothing runs it: without a cluster, manifests are what policies change."""

UNITS = (".service", ".scope", ".socket", ".mount", ".swap")

DAYS_UNTIL_KNOWN = 4

WORKLOAD = f"{MANIFEST['kind']}/{MANIFEST['metadata']['name']}"
FILE = Path("Deployment", MANIFEST["metadata"]["namespace"], f"{MANIFEST['metadata']['name']}.json")
"""Where the brain keeps that manifest, below the data directory's objects."""


@dataclass(frozen=True, slots=True)
class SampleScope:
    """As what the brain knows the sample, whose season its policies follow: the machine's own depends on what else it does."""

    namespace: str
    kind: str
    name: str


def brains(of: SampleScope) -> list[dict[str, Any]]:
    """Where a day is so short that somebody sees seasons come and go."""
    owner = {"namespace": of.namespace, "kind": of.kind, "name": of.name}
    return [
        {
            "apiVersion": f"{names.DOMAIN}/v1alpha1",
            "kind": "SeasonPolicy",
            "metadata": {"name": name},
            "spec": {"when": {"season": seasons, "of": owner}, "advice": advice},
        }
        for name, seasons, advice in (
            (
                "sample-busy",
                ["pre-peak", "peak", "surprise"],
                {"cpuPercentile": 99, "memoryBufferPercent": 40},
            ),
            ("sample-quiet", ["off-peak"], {"cpuPercentile": 90}),
        )
    ]


def scope_of(path: str, kind: str, name: str, command: str, *, is_summed: bool) -> SampleScope:
    """Of a process named *command* in the group at *path*: that group, or the processes of its name where groups do
    not count CPU time. What else is in the group, as the terminal's own, is in its season."""
    parts = [part for part in path.split("/") if part]
    first = parts[0] if parts else "/"
    if is_summed or not parts:
        return SampleScope(first, "program", command)
    if kind == "container":
        return SampleScope(first, kind, name)
    return SampleScope(first, "unit" if parts[-1].endswith(UNITS) else "group", parts[-1])


@dataclass(frozen=True, slots=True)
class PutUp:
    """What there is to be tried."""

    secret: str
    mutation: str | None
    """Id of a mutation that can be rolled back; None when there is none (any more)."""
    day_s: float | None = None
    """Of a compressed day, in which seasons come and go; None: it is one of 24 hours."""


class SampleApi(Protocol):
    """What is asked of the other processes; every call may raise an `OperatorError`."""

    async def put_up(self) -> PutUp:
        """Store a secret and a manifest that a policy changes; what is there stays as it is."""
        ...

    async def is_go(self, pid: int) -> bool:
        """Whether *pid* is known to be a Go program: while it is built, it is not."""
        ...

    async def follow_seasons(self, pid: int) -> None:
        """Put up brains that follow the season of process *pid*; what is there stays as it is."""
        ...

    async def profile(self, pid: int) -> str:
        """Ask for a profile of it; its id."""
        ...

    async def failure(self, profile: str) -> str | None:
        """Why it was not made, for people: empty when it was, None while it is being made."""
        ...


@dataclass(frozen=True, slots=True)
class Sample:
    child: Child
    needed: tuple[Child, ...]
    """Those that must be ready before anything can be put up."""
    api: SampleApi
    clock: Clock
    typed: Typed
    objects: Path
    """Where the brain keeps manifests."""
    say: Callable[[str], None]

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._keep_running(), name="run the sample")
            tasks.create_task(self._show(), name="show the sample")

    async def _keep_running(self) -> None:
        try:
            await self.child.run()
        except OperatorError as error:
            log.warning("no_sample", {names.REASON: error.what})
            self.child.problem = error.what

    async def _show(self) -> None:
        for child in self.needed:
            while child.problem is not None:
                await self.clock.sleep(STEP_S)
        try:
            there = await self.api.put_up()
            self.say(to_try(there, self.typed, objects=self.objects))
            pid = await self._go_program()
            if pid is not None and there.day_s is not None:
                await self.api.follow_seasons(pid)
            self.say(await self._profiled(pid))
        except OperatorError as error:
            self.say(not_shown(str(error)))
        # The supervisor would end everything if this body ended.
        await asyncio.Event().wait()

    async def _profiled(self, pid: int | None) -> str:
        """Profile the sample; what there is to say of it."""
        if pid is None:
            return not_shown("the sample does not run; its own message is above")
        profile = await self.api.profile(pid)
        deadline = self.clock.monotonic() + PROFILED_WITHIN_S
        while self.clock.monotonic() < deadline:
            failure = await self.api.failure(profile)
            if failure is not None:
                made = profiled(pid, self.typed)
                return not_shown(failure) if failure else made
            await self.clock.sleep(STEP_S)
        return not_shown("its first profile has not come")

    async def _go_program(self) -> int | None:
        deadline = self.clock.monotonic() + BUILT_WITHIN_S
        while self.clock.monotonic() < deadline:
            pid = self.child.pid
            if pid is not None and self.child.problem is None and await self.api.is_go(pid):
                return pid
            await self.clock.sleep(STEP_S)
        return None


def absent(
    wanted: Iterable[dict[str, Any]], there: Collection[ShownObject]
) -> list[dict[str, Any]]:
    """What of *wanted* is not among the objects that are *there* already, in its order.

    What is there may be a person's own by now, and we leave it alone whatever is in it.
    """
    return [one for one in wanted if _name_of(one) not in there]


def _name_of(document: dict[str, Any]) -> ShownObject:
    metadata = document["metadata"]
    return ShownObject(document["kind"], metadata.get("namespace", ""), metadata["name"])


def to_try(there: PutUp, typed: Typed, *, objects: Path) -> str:
    """A command for each job but profiles; *objects* is where the brain keeps manifests."""
    socket = shlex.quote(str(typed.data_dir / names.POD_SOCKET))
    url = f"http://nemutator/v1/secret/{there.secret}"
    lines = [
        f"    a secret     curl --silent --unix-socket {socket} {url}",
        f"    advice       {typed.command('advise')}",
    ]
    if there.mutation is not None:
        rollback = typed.command("rollback")
        lines.append(f"    a rollback   {rollback} {shlex.quote(there.mutation)}")
    else:
        # What was put up has been rolled back, which it stays, or changed by somebody.
        forget = f"--forget --namespace {MANIFEST['metadata']['namespace']} --workload {WORKLOAD}"
        lines += [
            "    a rollback   nothing is left to roll back; there is something again after these,",
            f"                 while the policy `{POLICY['metadata']['name']}` is in mode Apply:",
            f"                 {typed.command('tombstones')} {forget}",
            f"                 {typed.command('apply')} {shlex.quote(str(objects / FILE))}",
        ]
    if there.day_s is not None:
        known = DAYS_UNTIL_KNOWN * there.day_s / 60
        lines += [
            f"    seasons      {typed.command('seasons')}",
            f"                 a day takes {there.day_s / 60:g} minutes here, and the sample is busy in its second half;",
            f"                 after {known:g} minutes its seasons are known, and the brains `sample-busy` and `sample-quiet`",
            "                 take turns: Seasons on the page",
        ]
    return _block("Try", lines)


def profiled(pid: int, typed: Typed) -> str:
    """Once the sample has been profiled: before, nobody knows whether that works here."""
    command = f"    a profile    {typed.command('profile')} pid:{pid} --seconds 10"
    seen = "    the flame graph of the sample service `shop` is on the page: Profiles"
    return _block("Try", [command, "  Seen", seen])


def not_shown(problem: str) -> str:
    """Why something of it is not there, with its remedy."""
    return _block("Not shown", [f"    {visible(line, limit=300)}" for line in problem.splitlines()])


def _block(title: str, lines: Iterable[str]) -> str:
    return "\n".join([f"  {title}", *lines, "", ""])
