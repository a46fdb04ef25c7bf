"""Sizing and profiles, put together: what the brain makes of reports, and asks agents for."""

from collections.abc import Callable, Mapping

from aiohttp import web
from nemutator_common.clocks import Clock
from nemutator_common.meters import Meter
from nemutator_common.supervising import Supervisor

from nemutator_controller.access.routes import AllowedRoute
from nemutator_controller.cluster.nodes import Nodes
from nemutator_controller.database.access import Database
from nemutator_controller.ingest.ports import ReportStore
from nemutator_controller.profiles.agents import AgentsApi
from nemutator_controller.profiles.annotated import AnnotatedProfiles
from nemutator_controller.profiles.endpoint import PATH, ProfilesApi
from nemutator_controller.profiles.ports import AnnotatedPods, KnownPods, Results
from nemutator_controller.profiles.profile_queue import ProfileQueue
from nemutator_controller.profiles.records import KnownPod
from nemutator_controller.profiles.sql import SqlProfiles
from nemutator_controller.settings import BrainSettings
from nemutator_controller.sizing.endpoint import AdviceApi
from nemutator_controller.sizing.keys import ByPath, ContainerKey, Requested
from nemutator_controller.sizing.learning_store import LearningStore
from nemutator_controller.sizing.ports import Requests, UsageOwners
from nemutator_controller.sizing.saving import UsageSaver
from nemutator_controller.sizing.sql import SqlUsages
from nemutator_controller.sizing.usages import Usages


class NoCluster:
    """Off clusters nobody requests anything, and no pod has a name. A `Requests`, a `KnownPods`."""

    async def now(self) -> Mapping[ContainerKey, Requested]:
        return {}

    def find(self, name: str) -> KnownPod | None:
        return None


class Insight:
    """*whose*, *requests* and *pods* are the cluster's; *console* is the console's address."""

    def __init__(
        self,
        settings: BrainSettings,
        database: Database,
        nodes: Nodes,
        *,
        whose: UsageOwners | None = None,
        requests: Requests | None = None,
        pods: KnownPods | None = None,
        console: Callable[[], str],
        meter: Meter,
        clock: Clock,
    ) -> None:
        self._whose = whose or ByPath()
        self._console = console
        self._meter = meter
        self._clock = clock
        self._usages = Usages(most=settings.sized_containers)
        self._keeper = UsageSaver(self._usages, SqlUsages(database), meter=meter, clock=clock)
        self._advice = AdviceApi(self._usages, requests or NoCluster(), clock=clock)
        store = SqlProfiles(database)
        self._desk = ProfileQueue(
            store,
            most=settings.profiles,
            most_bytes=settings.profile_bytes,
            meter=meter,
            clock=clock,
        )
        self._profiles = ProfilesApi(
            self._desk,
            store,
            nodes=nodes.all,
            pods=pods or NoCluster(),
            link=self._link,
            clock=clock,
        )

    def hearing(self, store: ReportStore) -> ReportStore:
        """*store*, with sizing behind it."""
        return LearningStore(store, self._usages, self._whose, meter=self._meter, clock=self._clock)

    def api(self) -> list[AllowedRoute]:
        return [*self._advice.routes(), *self._profiles.routes()]

    def uplink(self) -> list[web.RouteDef]:
        """For agents and admission, who show who they are."""
        agents = AgentsApi(self._desk, meter=self._meter)
        return [*self._advice.uplink_routes(), *agents.routes()]

    async def restore(self) -> None:
        await self._keeper.restore()
        await self._desk.restore()

    def add_keeper(self, supervisor: Supervisor) -> None:
        """Before the listeners, so that it ends after them and keeps what they took last."""
        supervisor.add("usages", self._keeper.run)

    def add_desk(self, supervisor: Supervisor) -> None:
        """After the listeners: agents that wait for work must not hold up their stop."""
        supervisor.add("profiles", self._desk.run)

    def add_annotated(self, supervisor: Supervisor, pods: AnnotatedPods, results: Results) -> None:
        """Only in a cluster: after `add_desk`."""
        annotated = AnnotatedProfiles(self._desk, pods, results, link=self._link, clock=self._clock)
        supervisor.add("annotated pods", annotated.run)

    def _link(self, identity: str) -> str:
        return f"{self._console()}{PATH}/{identity}/flamegraph"
