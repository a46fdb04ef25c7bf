"""How often each node may report, so that one brain keeps up with all of them."""

from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.meters import Meter
from nemutator_common.wire import LONGEST_PACE_S

from nemutator_controller.ingest.ports import NodesView

LEAST_S = 1.0
"""Below it, no node is asked to report less often."""

MISSED = 3
"""When so many reports in a row are missing, a node may be lost, and not only slow."""

COUNTED_S = 300.0
"""A node that has not reported for so long is gone."""

COUNT_AGAIN_S = 5.0


def every_s(nodes: int, *, reports_per_s: float) -> float:
    """Seconds between two reports of each of *nodes*; 0: as often as it likes."""
    wanted = min(nodes / reports_per_s, LONGEST_PACE_S)
    return round(wanted, 1) if wanted >= LEAST_S else 0.0


@dataclass(slots=True)
class ReportPace:
    view: NodesView
    reports_per_s: float
    meter: Meter
    _every_s: float = field(default=0.0, init=False)
    _counted_at: float | None = field(default=None, init=False)

    def every_s(self, *, now: float) -> float:
        """Seconds between two reports that each node is asked to keep now."""
        if self._counted_at is None or not 0 <= now - self._counted_at < COUNT_AGAIN_S:
            nodes = self.view.heard_since(now - COUNTED_S)
            self._every_s = every_s(nodes, reports_per_s=self.reports_per_s)
            self._counted_at = now
            self.meter.gauge(names.REPORT_EVERY_SECONDS, self._every_s)
        return self._every_s

    def missed_after_s(self, *, now: float) -> float:
        """Seconds without a report after which a node counts as missing."""
        return MISSED * self.every_s(now=now)
