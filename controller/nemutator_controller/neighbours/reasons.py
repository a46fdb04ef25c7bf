"""Why a pod or a workload has its grade, or has none, in words."""

from collections.abc import Sequence

from nemutator_controller.neighbours.model import NeighbourLink
from nemutator_controller.neighbours.week_grades import LEAST_TIMES

MOST_NAMED = 3


def reason(
    links: Sequence[NeighbourLink],
    untold: str,
    times: int,
    seen_from: str | None = None,
) -> str:
    """*untold*: why nobody can tell now; *times*: how often it was looked at this week."""
    if links:
        first = sorted(links, key=lambda link: link.p)[:MOST_NAMED]
        more = f"; and {len(links) - len(first)} more" if len(links) > len(first) else ""
        return "; ".join(link.sentence(seen_from) for link in first) + more
    if untold:
        return untold
    if times < LEAST_TIMES:
        return f"what is usual needs {LEAST_TIMES} looks, one a minute: there were {times}"
    return ""
