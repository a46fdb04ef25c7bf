"""The journal and what takes things back, put together."""

import uuid

from aiohttp import web
from nemutator_common import names
from nemutator_common.clocks import Clock
from nemutator_common.data_directory import DataDirectory
from nemutator_common.meters import Meter
from nemutator_common.supervising import Supervisor

from nemutator_controller.access.routes import AllowedRoute
from nemutator_controller.database.access import Database
from nemutator_controller.database.retention import Retention, RetentionLimit, RetentionTask
from nemutator_controller.journal.admission_replicas import AdmissionReplicas
from nemutator_controller.journal.applying import Applying
from nemutator_controller.journal.endpoint import MutationsApi, TombstonesApi
from nemutator_controller.journal.files import FileObjects
from nemutator_controller.journal.manifests_endpoint import ManifestsApi
from nemutator_controller.journal.ports import Objects, StampedPods
from nemutator_controller.journal.rolling_back import RollingBack
from nemutator_controller.journal.sql import Handler, SqlJournal, recorder
from nemutator_controller.journal.stamp_observer import StampObserver
from nemutator_controller.mutations.advisor import Advisor
from nemutator_controller.policies.plans import NO_ADVICE
from nemutator_controller.settings import BrainSettings

DECISIONS = RetentionTask(
    task="journal retention",
    every_s=300.0,
    step=200,
    kept=names.DECISIONS,
    dropped=names.DECISIONS_DROPPED,
)


class Journaling:
    """*cluster* has the objects; without one they are manifests in the data directory."""

    def __init__(
        self,
        settings: BrainSettings,
        database: Database,
        directory: DataDirectory,
        *,
        cluster: Objects | None = None,
        advisor: Advisor = NO_ADVICE,
        meter: Meter,
        clock: Clock,
    ) -> None:
        self._store = SqlJournal(database)
        self._meter = meter
        self._clock = clock
        self.record: Handler = recorder(meter)
        """What stores the stream "decisions"."""
        manifests = FileObjects(directory.objects)
        self._audience = AdmissionReplicas(expected=cluster is not None, clock=clock)
        rolling_back = RollingBack(
            self._store,
            cluster or manifests,
            audience=self._audience,
            fresh=fresh_id,
            clock=clock,
        )
        self._mutations = MutationsApi(self._store, rolling_back, meter=meter)
        self._manifests: ManifestsApi | None = None
        if cluster is None:
            self._manifests = ManifestsApi(
                Applying(self._store, manifests, fresh=fresh_id, clock=clock, advisor=advisor)
            )
        keep = RetentionLimit(seconds=settings.journal_s, records=settings.journal_decisions)
        self._retention = Retention(self._store, keep, DECISIONS, meter=meter, clock=clock)

    def api(self) -> list[AllowedRoute]:
        manifests = [] if self._manifests is None else self._manifests.routes()
        return [*self._mutations.routes(), *manifests]

    def uplink(self) -> list[web.RouteDef]:
        return TombstonesApi(self._store, self._audience).routes()

    def add(self, supervisor: Supervisor) -> None:
        supervisor.add(DECISIONS.task, self._retention.run)

    def add_sightings(self, supervisor: Supervisor, pods: StampedPods) -> None:
        """Only in a cluster, whose pods get their names after the decision about them."""
        sightings = StampObserver(self._store, pods, meter=self._meter, clock=self._clock)
        supervisor.add("marked pods", sightings.run)


def fresh_id() -> str:
    return uuid.uuid4().hex
