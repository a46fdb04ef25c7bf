"""Which brain of a cluster leads, put together: what only it does, and how people reach it."""

import logging
import socket
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import replace
from typing import Any

from aiohttp import web
from nemutator_common import names
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.process import Process

from nemutator_controller.access.routes import AllowedRoute
from nemutator_controller.answers import unavailable
from nemutator_controller.app.parts import Task, TaskPhase
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.kube.budget import OverBudgetError, WriteBudget
from nemutator_controller.kube.failures import KubeError, NotFoundError
from nemutator_controller.kube.fencing import fenced
from nemutator_controller.kube.ports import Transport
from nemutator_controller.kube.reading import Reader
from nemutator_controller.kube.resources import PODS
from nemutator_controller.kube.writing import Writer
from nemutator_controller.leasing.election import Election
from nemutator_controller.leasing.kube_leases import KubeLease
from nemutator_controller.leasing.leading import Leading
from nemutator_controller.settings.brain import BrainSettings

log = logging.getLogger(__name__)

LEASE = "nemutator-brain"
"""The Lease's name, and that of the StatefulSet."""

READING = frozenset({"GET", "HEAD"})
AGAIN_S = 1.0
LABEL_AGAIN_S = 10.0
LEADER_REMEDY = "ask by the Service nemutator-console, or again in a few seconds"

Run = Callable[[], Coroutine[Any, Any, None]]


class Leadership:
    """A brain that shares its database with others leads by a Lease, and any other one always."""

    def __init__(self, settings: BrainSettings, transport: Transport, process: Process) -> None:
        self._process = process
        self._namespace = settings.namespace
        self._pod = socket.gethostname()
        # Renewing shares no budget: it must not wait behind a thousand annotations.
        self._writer = Writer(transport, WriteBudget(process.clock), process.clock)
        self._leading: Leading | None = None
        if settings.database:
            me = f"{self._pod}_{uuid.uuid4().hex[:12]}"
            lease = KubeLease(Reader(transport), self._writer, settings.namespace, LEASE)
            self._leading = Leading(Election(me), lease, process)

    def now(self) -> bool:
        return self._leading is None or self._leading.now()

    @property
    def holder(self) -> str:
        """The pod of the brain that leads; empty: it is not known."""
        holder = self._pod if self._leading is None else self._leading.election.holder
        return holder.rpartition("_")[0] or holder

    def arranged(self, tasks: Iterable[Task]) -> list[Task]:
        """*tasks*, of which those of one brain alone run while this one leads."""
        tasks = list(tasks)
        label = Task(TaskPhase.WATCH, "label of who leads", self._label)
        leading = self._leading
        if leading is None:
            self._process.meter.gauge(names.BRAIN_LEADS, 1.0)
            return [*tasks, label]
        alone = sorted((task for task in tasks if task.alone), key=lambda task: task.phase)
        bodies = {task.name: fenced(task.run, leading.now) for task in alone}
        return [
            *(task for task in tasks if not task.alone),
            label,
            Task(TaskPhase.WATCH, "elect who leads", leading.elect),
            Task(TaskPhase.WATCH, "watch the lease", leading.watch),
            Task(TaskPhase.WORK, "lead", lambda: leading.lead(lambda: bodies)),
        ]

    async def _label(self) -> None:
        """Keep the label of this pod, by which people's Service finds who leads."""
        written: bool | None = None
        while True:
            leads = self.now()
            if leads != written and await self._labelled(leads):
                written = leads
            await self._process.clock.sleep(AGAIN_S if leads == written else LABEL_AGAIN_S)

    async def _labelled(self, leads: bool) -> bool:
        patch = {"metadata": {"labels": {str(names.LEADS): "true" if leads else None}}}
        try:
            await self._writer.merge_patch(PODS, self._namespace, self._pod, patch)
        except NotFoundError:
            # A brain that runs in no pod has nobody's Service in front of it.
            return True
        except (KubeError, OverBudgetError) as error:
            log.warning("leader_unlabelled", {names.ERROR: error})
            return False
        return True


def by_the_leader(
    routes: Sequence[AllowedRoute], leadership: Leadership, *, reading: bool = False
) -> list[AllowedRoute]:
    """*routes*, of which those that change something are answered by the brain that leads alone.

    With *reading* all of them are: only that brain knows.
    """

    def guarded(handler: Any) -> Any:
        async def handle(request: web.Request) -> web.StreamResponse:
            if not leadership.now():
                who = leadership.holder or "no brain at this moment"
                return unavailable(f"this brain does not lead: {who} does", LEADER_REMEDY)
            response: web.StreamResponse = await handler(request)
            return response

        return handle

    def of(one: AllowedRoute) -> AllowedRoute:
        route = one.route
        if route.method in READING and not reading:
            return one
        return replace(
            one, route=web.RouteDef(route.method, route.path, guarded(route.handler), route.kwargs)
        )

    return [of(one) for one in routes]


def resumed(resume: Callable[[], Awaitable[None]], run: Run, process: Process) -> Run:
    """*run*, from where whoever led before has left what is stored."""

    async def body() -> None:
        while True:
            try:
                await resume()
                break
            except StoreUnavailableError as failure:
                log.warning("leading_waits", {names.REASON: failure.reason})
                await process.clock.sleep(AGAIN_S)
        await run()

    return body


def refuse_many_on_a_file(settings: BrainSettings, host: str) -> None:
    """Raises `OperatorError` for a further replica that would have a database file of its own."""
    number = host.removeprefix(f"{LEASE}-")
    further = number != host and number.isdecimal() and int(number) > 0
    if settings.cluster and not settings.database and further:
        raise OperatorError(
            f"{host} is a further brain, and each would keep an SQLite file of its own",
            remedy=f"name a PostgreSQL in brain.database, or `kubectl scale statefulset {LEASE} --replicas=1`",
            code=ExitCode.SETTINGS,
        )
