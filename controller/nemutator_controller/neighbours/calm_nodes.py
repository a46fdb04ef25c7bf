"""Nodes on which nobody can suffer from anybody, told from the codes of their windows.

Codes rise with what they stand for, so that they can be counted as they are. Most nodes are calm most of the time, and to decode
their hour and look at each resource would take several times as long.
"""

from functools import cache

import numpy as np
import numpy.typing as npt

from nemutator_controller.neighbours.links import LEAST_TRAFFIC, SELDOM, NodeFindings, rows_with
from nemutator_controller.neighbours.node_window import FIGURES, Codes, least_code
from nemutator_controller.neighbours.resources import SCALES, Contended
from nemutator_controller.neighbours.untold import untold_aggressors, untold_victims

_CPU, _NETWORK = FIGURES.index("cpu"), FIGURES.index("network")
_WAITS = tuple(FIGURES.index(name) for name in ("cpu_waiting", "memory_waiting", "disk_waiting"))
_WAITED_FOR = {
    Contended.CPU: FIGURES.index("cpu_waiting"),
    Contended.TURNS: FIGURES.index("turn_waiting"),
    Contended.MEMORY: FIGURES.index("memory_waiting"),
    Contended.DISK: FIGURES.index("disk_waiting"),
}
"""What whoever suffers of them waits for. Of the other two it is told from what is moved over the network."""


def calm_findings(codes: Codes) -> NodeFindings | None:
    """What `assess` finds on a node on which nobody can be a victim; None where somebody may be."""
    if codes[_NETWORK].max(initial=0) >= _least(_NETWORK, LEAST_TRAFFIC):
        return None
    for resource, figure in _WAITED_FOR.items():
        least, of = _least(figure, SCALES[resource].suffering[0]), codes[figure]
        if of.max(initial=0) < least:
            continue
        if rows_with(np.count_nonzero(of, axis=1), np.count_nonzero(of >= least, axis=1), SELDOM):
            return None
    cpu, memory, disk = (codes[figure] for figure in _WAITS)
    waits, uses = _known_minutes(cpu | memory | disk), _known_minutes(codes[_CPU])
    minutes = codes[_CPU].shape[1]
    return NodeFindings((), untold_victims(waits, uses, minutes), untold_aggressors(waits, uses), 0)


def _known_minutes(codes: npt.NDArray[np.unsignedinteger]) -> list[int]:
    found: list[int] = np.count_nonzero(codes, axis=1).tolist()
    return found


@cache
def _least(figure: int, value: float) -> int:
    return least_code(figure, value)
