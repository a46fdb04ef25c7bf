"""How much the brain may change in a minute."""

from dataclasses import dataclass

from nemutator_common import names
from nemutator_common.on_rotate import RESTART
from nemutator_common.settings import between, setting

from nemutator_controller.setting_checks import absolute_path


@dataclass(frozen=True, kw_only=True)
class WriteSettings:
    restarts_per_minute: float = setting(
        10.0,
        "Pods per minute that are evicted because their secrets have changed and their annotation"
        f" `{names.ON_ROTATE}` is `{RESTART}`.",
        check=between(0.1, 1_000),
    )
    evictions_per_minute: int = setting(
        30,
        "Pods per minute that are evicted because people asked for it (`nemutator evict`), all together.",
        check=between(1, 1_000),
    )
    evictions_per_node: int = setting(
        5, "The same of one node, in any minute.", check=between(1, 1_000)
    )
    evictions_per_workload: int = setting(
        1,
        "Pods of one workload that may be away because of such evictions: the next one goes when as many"
        " are ready again.",
        check=between(1, 1_000),
    )
    live_writes_per_minute: float = setting(
        60.0,
        "Running pods per minute whose labels and annotations are changed by policies with `applyTo: live`.",
        check=between(1, 6_000),
    )
    resizes_per_minute: float = setting(
        30.0,
        "Running pods per minute that are resized by SizingPolicies, all policies together.",
        check=between(1, 6_000),
    )
    unit_folder: str = setting(
        "/etc/systemd/system",
        "Folder of systemd in which `nemutator size` writes drop-ins. `/run/systemd/system` forgets them at the next"
        " boot, of which the journal does not hear.",
        check=absolute_path,
    )
