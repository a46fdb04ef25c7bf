"""How often each node may report, so that one brain keeps up with all of them."""

from nemutator_common import names
from nemutator_common.meters import Meter
from nemutator_common.wire import LONGEST_PACE_S

from nemutator_controller.ingest.ports import NodesView

LEAST_S = 1.0
"""Below it, no node is asked to report less often."""

MISSED = 3
"""Reports in a row without which a node may be lost, and is not only slow."""

COUNTED_S = 300.0
"""A node that has not reported for so long is gone."""

COUNT_AGAIN_S = 5.0


def every_s(nodes: int, *, reports_per_s: float) -> float:
    """Seconds between two reports of each of *nodes*; 0: as often as it likes."""
    wanted = min(nodes / reports_per_s, LONGEST_PACE_S)
    return round(wanted, 1) if wanted >= LEAST_S else 0.0


class ReportPace:
    def __init__(self, view: NodesView, *, reports_per_s: float, meter: Meter) -> None:
        self._view = view
        self._reports_per_s = reports_per_s
        self._meter = meter
        self._every_s = 0.0
        self._counted_at: float | None = None

    def every_s(self, *, now: float) -> float:
        """What is asked of each node at the moment."""
        if self._counted_at is None or not 0 <= now - self._counted_at < COUNT_AGAIN_S:
            nodes = self._view.heard_since(now - COUNTED_S)
            self._every_s = every_s(nodes, reports_per_s=self._reports_per_s)
            self._counted_at = now
            self._meter.gauge(names.REPORT_EVERY_SECONDS, self._every_s)
        return self._every_s

    def missed_after_s(self, *, now: float) -> float:
        """After how long without a report one counts as missing."""
        return MISSED * self.every_s(now=now)
