"""The settings of the brain, all parts together."""

from dataclasses import dataclass
from typing import ClassVar

from nemutator_common import names
from nemutator_common.settings import ServesMetrics

from nemutator_controller.settings.advice import AdviceSettings
from nemutator_controller.settings.callers import CallerSettings
from nemutator_controller.settings.in_cluster import ClusterSettings
from nemutator_controller.settings.mutations import MutationSettings
from nemutator_controller.settings.placement import PlacementSettings
from nemutator_controller.settings.profiles import ProfileSettings
from nemutator_controller.settings.storage import StorageSettings
from nemutator_controller.settings.usage_engines import UsageEngineSettings
from nemutator_controller.settings.writes import WriteSettings


# The fields of the last base come first, in `--help` and in docs/reference.md. One base at most can have
# slots, and it is the one that all processes share.
@dataclass(frozen=True, slots=True, kw_only=True)
class BrainSettings(
    UsageEngineSettings,
    ProfileSettings,
    MutationSettings,
    PlacementSettings,
    WriteSettings,
    AdviceSettings,
    StorageSettings,
    ClusterSettings,
    CallerSettings,
    ServesMetrics,
):
    role: ClassVar[str] = names.BRAIN
