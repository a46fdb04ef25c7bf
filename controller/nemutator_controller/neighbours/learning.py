"""Takes what containers used and waited for into the windows of their nodes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.ingest.points_together import parts_of
from nemutator_controller.ingest.usage_points import NodePoints, UsagePoints
from nemutator_controller.neighbours.node_window import MINUTE_S, NodeWindow, add_together


@dataclass(frozen=True, slots=True)
class NeighbourLearner:
    """A `UsageConsumer`."""

    process: Process
    most_nodes: int
    minute_s: float = MINUTE_S
    """Less is a compressed minute, to see neighbours found within minutes."""
    windows: dict[str, NodeWindow] = field(default_factory=dict, init=False)
    """The node heard of last at the end."""

    def learn_all(self, reported: Sequence[NodePoints], now: float) -> None:
        for part in parts_of(reported):
            windows = [self._window(one.node) for one in part.reported]
            for reason, count in add_together(windows, part, now=now).items():
                self.process.meter.count(names.NEIGHBOUR_POINTS_DROPPED, count, reason=reason)

    def learn(self, node: str, points: UsagePoints, now: float) -> None:
        self.learn_all([NodePoints(node, points)], now)

    def _window(self, node: str) -> NodeWindow:
        window = self.windows.pop(node, None) or NodeWindow(self.minute_s)
        self.windows[node] = window
        if len(self.windows) > self.most_nodes:
            del self.windows[next(iter(self.windows))]
        return window

    def forget_ended(self, nodes: Iterable[str]) -> None:
        """Those of *nodes* that have said nothing for an hour, and containers of them that are gone."""
        for node in nodes:
            window = self.windows.get(node)
            if window is not None:
                window.forget_ended()
                if not len(window):
                    del self.windows[node]
