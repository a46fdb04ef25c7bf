"""The verdict on one workload, from the kept windows of its processes of one image."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

from nemutator_common.windows import SymbolFrame

from nemutator_controller.ageing.graphs import graph_points
from nemutator_controller.ageing.growth import (
    PROVISIONAL_POINTS,
    PROVISIONAL_S,
    Floor,
    Growth,
    Judgement,
    judge,
)
from nemutator_controller.ageing.hot_spots import FunctionWindow, grown
from nemutator_controller.ageing.loads import load_figure, load_of
from nemutator_controller.ageing.model import (
    AgedWorkload,
    AgeingFinding,
    FunctionFinding,
    KeptWindow,
    Replica,
    SiteFinding,
    State,
    Verdict,
    WindowSource,
)
from nemutator_controller.ageing.trends import SeriesPoint

MB = 1e6
MINUTE_S = 60.0

MEMORY = Floor(provisional=4 * MB, weekly=16 * MB)
SITE = Floor(provisional=1 * MB, weekly=4 * MB)
GOROUTINES = Floor(provisional=200, weekly=200)
PIECES = Floor(provisional=100, weekly=100)

MOST_SITES = 10
LEAST_EXPLAINED = 0.1
"""Of the growth: a site that explains less is not named for it."""
LEAST_BESIDE_GOROUTINES = 0.5
"""The same, of the memory's growth where the number of goroutines grows as well."""

History = Mapping[WindowSource, Sequence[KeptWindow]]
"""The windows of each process, oldest first."""

Judge = Callable[[Sequence[Sequence[SeriesPoint]], Floor], Judgement]
"""`judge` with what is the same for all measures of a workload."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One measure of a workload, and how much of it must grow."""

    name: str
    value: Callable[[KeptWindow], float | None]
    floor: Floor
    verdict: Verdict


MEASURES = (
    Measured("heap", lambda one: one.heap_bytes, MEMORY, "leak"),
    Measured("memory", lambda one: one.rss_bytes, MEMORY, "leak"),
    Measured("goroutines", lambda one: one.goroutines, GOROUTINES, "drift"),
    Measured("threads", lambda one: one.threads, PIECES, "drift"),
    Measured("open files", lambda one: one.open_files, PIECES, "drift"),
)
"""In the order in which they are named when several grow."""


def assess(
    workload: AgedWorkload,
    history: History,
    frames: Mapping[str, tuple[SymbolFrame, ...]],
    *,
    now: float,
    after_s: float = PROVISIONAL_S,
) -> AgeingFinding:
    """What *history* says of *workload*; *frames* are those of sites and functions by their ids.

    *after_s*: how long readings must go on before there is a provisional verdict.
    """
    figure = load_figure(history)
    loads = [load_of(windows, figure) for windows in history.values()]
    decide = partial(judge, after_s=after_s, loads=loads)
    judged = {one.name: decide(_series(history, one), one.floor) for one in MEASURES}
    functions = _hot_functions(history, frames, now=now)
    measure, verdict, state, judgement = _first(judged, functions)
    newest = max(history, key=lambda source: source.started_at)
    sites = _sites(history, frames, judged["heap"], decide) if verdict == "leak" else []
    reason, goroutines = _reason(verdict, judgement, history), 0.0
    if verdict == "leak" and measure == "memory":
        goroutines = _rise(judged["goroutines"]) * MINUTE_S
    if goroutines:
        # Their stacks are in no site of the heap.
        least = LEAST_BESIDE_GOROUTINES * judgement.slope * MINUTE_S
        sites = [one for one in sites if one.rate_bytes_per_min >= least]
        reason += "; so does the number of goroutines"
    return AgeingFinding(
        workload=workload,
        image=newest.image,
        go_version=newest.go_version,
        verdict=verdict,
        state=state,
        measure=measure,
        reason=reason,
        goroutines_per_min=goroutines,
        rate_per_min=judgement.slope * MINUTE_S,
        first_level=judgement.first,
        last_level=judgement.last,
        p=judgement.p,
        readings=judgement.points,
        span_s=judgement.span_s,
        looked_at=now,
        first_seen=None,
        sites=tuple(sites),
        functions=functions,
        replicas=(replicas := _replicas(history)),
        replicas_say=_compared(replicas) if verdict == "leak" else "",
        load=figure if any(loads) else None,
        points=graph_points(measure, history, functions[0].id if functions else None),
    )


_GROWING: tuple[tuple[Growth, State], ...] = (
    ("grows", "firm"),
    ("grows provisionally", "provisional"),
)


def _first(
    judged: Mapping[str, Judgement], functions: Sequence[FunctionFinding]
) -> tuple[str, Verdict, State, Judgement]:
    """The measure that the verdict is about: what surely grows comes before what seems to."""
    # The heap has a point for each collection: until it has enough of them, a rise of the memory has no
    # line yet, and waits for it.
    is_read = judged["heap"].growth == "cannot tell" and judged["heap"].points > 0
    for growth, state in _GROWING:
        for one in MEASURES:
            if is_read and one.name == "memory" and state == "provisional":
                continue
            if judged[one.name].growth == growth:
                return one.name, one.verdict, state, judged[one.name]
        if growth == "grows" and functions:
            return "cpu", "hot spot grew", "firm", _of_hot_spot(functions[0], judged["heap"])
    for name in ("heap", "memory"):
        if judged[name].growth in ("plateau", "steady"):
            firm: State = "firm" if judged[name].span_s >= 3 * 86_400 else "provisional"
            return name, "steady", firm, judged[name]
    untold = "heap" if is_read else "memory"
    return untold, "cannot tell", "provisional", judged[untold]


def _of_hot_spot(most: FunctionFinding, heap: Judgement) -> Judgement:
    """In percent of CPU time, over the time for which there are readings."""
    before, now = 100 * most.share_before, 100 * most.share_now
    reason = "functions have a larger share of CPU time than in their first days"
    return replace(heap, reason=reason, slope=0.0, p=most.p, first=before, last=now)


def _rise(judgement: Judgement) -> float:
    return judgement.slope if judgement.growth in ("grows", "grows provisionally") else 0.0


def _reason(verdict: Verdict, judgement: Judgement, history: History) -> str:
    if verdict == "cannot tell":
        for windows in history.values():
            for why in (windows[-1].missing or {}).values():
                return f"{judgement.reason}; {why}"
    return judgement.reason


def _series(history: History, measured: Measured) -> list[list[SeriesPoint]]:
    return [_points(windows, measured) for windows in history.values()]


def _points(windows: Sequence[KeptWindow], measured: Measured) -> list[SeriesPoint]:
    found: list[SeriesPoint] = []
    collection: int | None = None
    for one in windows:
        value = measured.value(one)
        if value is None:
            continue
        if measured.name == "heap":
            # Amounts change when a collection has ended: until then it is the same reading.
            if one.collection is not None and one.collection == collection:
                continue
            collection = one.collection
        found.append(SeriesPoint(one.at, value))
    return found


def _sites(
    history: History,
    frames: Mapping[str, tuple[SymbolFrame, ...]],
    heap: Judgement,
    decide: Judge,
) -> list[SiteFinding]:
    grown_by: dict[str, int] = {}
    for windows in history.values():
        amounts = [one.sites for one in windows if one.sites]
        for site in {site for one in amounts for site in one}:
            of_site = [one[site].in_use_bytes for one in amounts if site in one]
            grown_by[site] = grown_by.get(site, 0) + of_site[-1] - of_site[0]
    largest = sorted(grown_by, key=lambda site: -grown_by[site])[:MOST_SITES]
    found = (_site(history, frames.get(site, ()), heap, site, decide) for site in largest)
    return sorted(
        (one for one in found if one.explained_share >= LEAST_EXPLAINED),
        key=lambda one: -one.rate_bytes_per_min,
    )


def _site(
    history: History, stack: tuple[SymbolFrame, ...], heap: Judgement, site: str, decide: Judge
) -> SiteFinding:
    measured = Measured("heap", lambda one: _in_use(one, site), SITE, "leak")
    judgement = decide(_series(history, measured), SITE)
    used = allocated = last = 0
    for windows in history.values():
        kept = [one.sites[site] for one in windows if one.sites and site in one.sites]
        if kept:
            used += kept[-1].in_use_bytes - kept[0].in_use_bytes
            allocated += kept[-1].allocated_bytes - kept[0].allocated_bytes
            last += kept[-1].in_use_bytes
    frame = own_frame(stack)
    return SiteFinding(
        id=site,
        function=frame.function,
        file=frame.file,
        line=frame.line,
        verdict="leak" if _rise(judgement) else "steady",
        rate_bytes_per_min=judgement.slope * MINUTE_S,
        in_use_bytes=last,
        kept_share=min(max(used / allocated, 0.0), 1.0) if allocated > 0 else None,
        explained_share=max(judgement.slope / heap.slope, 0.0) if heap.slope > 0 else 0.0,
        stack=stack,
    )


def _in_use(window: KeptWindow, site: str) -> float | None:
    amounts = (window.sites or {}).get(site)
    return None if amounts is None else amounts.in_use_bytes


def own_frame(stack: Sequence[SymbolFrame]) -> SymbolFrame:
    """The innermost call that is not the runtime's own: the line that people can change."""
    own = (frame for frame in stack if not frame.function.startswith("runtime."))
    return next(own, stack[0] if stack else SymbolFrame("a function without a name"))


def _hot_functions(
    history: History, frames: Mapping[str, tuple[SymbolFrame, ...]], *, now: float
) -> tuple[FunctionFinding, ...]:
    windows = [
        FunctionWindow(one.at, one.samples, one.functions)
        for kept in history.values()
        for one in kept
        if one.functions is not None
    ]
    found = []
    for change in grown(windows, now=now):
        frame = own_frame(frames.get(change.function, ()))
        found.append(
            FunctionFinding(
                id=change.function,
                function=frame.function,
                file=frame.file,
                line=frame.line,
                share_before=change.before,
                share_now=change.after,
                p=change.p,
            )
        )
    return tuple(found)


def _replicas(history: History) -> tuple[Replica, ...]:
    found = []
    for source, windows in history.items():
        points = _points(windows, MEASURES[0]) or _points(windows, MEASURES[1])
        if not points:
            continue
        alone = judge([points], MEMORY)
        found.append(
            Replica(
                node=source.node,
                pid=source.pid,
                pod_uid=source.pod_uid,
                age_s=points[-1].at - source.started_at,
                level_bytes=round(points[-1].value),
                rate_bytes_per_min=alone.slope * MINUTE_S,
                readings=len(points),
            )
        )
    return tuple(sorted(found, key=lambda one: -one.age_s))


def _compared(replicas: Sequence[Replica]) -> str:
    """Whether replicas of different ages agree: what all of them do, the code does."""
    compared = [one for one in replicas if one.readings >= PROVISIONAL_POINTS]
    if len(compared) < 2:
        return "there is one process only: nothing can be compared with it"
    growing = sum(one.rate_bytes_per_min > 0 for one in compared)
    ordered = sorted(compared, key=lambda one: one.age_s)
    older_is_larger = all(young.level_bytes <= old.level_bytes for young, old in pairwise(ordered))
    if growing == len(compared):
        larger = ", and the older has more" if older_is_larger else ""
        return f"it grows in all {growing} processes{larger}: the code does it"
    return f"it grows in {growing} of {len(compared)} processes: rather what these do than the code"
