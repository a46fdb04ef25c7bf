"""What the parts of the brain are made from."""

from dataclasses import dataclass

from nemutator_common.process import Process

from nemutator_controller.app.cluster import Cluster
from nemutator_controller.database.access import Database
from nemutator_controller.settings.brain import BrainSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class BrainContext:
    settings: BrainSettings
    process: Process
    database: Database
    cluster: Cluster | None
    """None: this machine stands alone."""

    @property
    def shared(self) -> bool:
        """Whether other brains may use the same database."""
        return bool(self.settings.database)
