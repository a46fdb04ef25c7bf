"""From the looks at all nodes to the neighbourhood of the cluster: grades of pods and of workloads."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nemutator_controller.neighbours.hysteresis import HeldGrades
from nemutator_controller.neighbours.links import NodeFindings, NodeLink
from nemutator_controller.neighbours.model import (
    GradedNeighbour,
    GradedTimes,
    Neighbourhood,
    NeighbourLink,
    NeighbourRole,
    NeighbourWorkload,
    PlacedContainer,
)
from nemutator_controller.neighbours.week_grades import LEAST_TIMES, WeekGrades

MOST_SHOWN = 20_000
"""Pods that are graded above 0 in one neighbourhood, the worst first."""

MOST_NAMED = 3
LEAST_TOP = 3
KEPT_TOP = 2
"""Who bears labels keeps them until it is behind twice as many: at the end of the list places change all the time."""

VICTIM, AGGRESSOR = NeighbourRole.VICTIM, NeighbourRole.AGGRESSOR
ROLES = (VICTIM, AGGRESSOR)

PodKey = tuple[str, NeighbourRole]
WorkloadKey = tuple[NeighbourWorkload, NeighbourRole]


@dataclass(frozen=True, slots=True)
class LookedNode:
    """What was found on one node: its containers in the order of the rows, None where nobody knows whose it is."""

    containers: Sequence[PlacedContainer | None]
    found: NodeFindings


@dataclass(slots=True)
class _Pod:
    placed: PlacedContainer
    scores: dict[NeighbourRole, float] = field(default_factory=dict)
    untold: dict[NeighbourRole, str] = field(default_factory=dict)
    told: set[NeighbourRole] = field(default_factory=set)
    links: dict[NeighbourRole, list[NeighbourLink]] = field(
        default_factory=lambda: defaultdict(list)
    )


@dataclass(slots=True)
class Verdicts:
    """What is remembered between looks."""

    share: float
    """Of as many as there are nodes: how many of each role are the worst."""
    most: int
    """Pods and workloads that are remembered for seven days."""
    _pods: HeldGrades[PodKey] = field(default_factory=HeldGrades, init=False)
    _workloads: HeldGrades[WorkloadKey] = field(default_factory=HeldGrades, init=False)
    _pod_weeks: dict[NeighbourRole, WeekGrades[str]] = field(init=False)
    _workload_weeks: dict[NeighbourRole, WeekGrades[NeighbourWorkload]] = field(init=False)
    _top: dict[NeighbourRole, frozenset[str]] = field(default_factory=dict, init=False)
    unplaced: int = field(default=0, init=False)
    """Pods and workloads that found no room in the last look."""

    def __post_init__(self) -> None:
        self._pod_weeks = {role: WeekGrades(self.most) for role in ROLES}
        self._workload_weeks = {role: WeekGrades(self.most) for role in ROLES}

    def conclude(
        self, nodes: Iterable[LookedNode], *, nodes_count: int, now: float
    ) -> Neighbourhood:
        pods: dict[str, _Pod] = {}
        links: list[NeighbourLink] = []
        untold: Counter[str] = Counter()
        containers = 0
        for node in nodes:
            containers += sum(one is not None for one in node.containers)
            _collect(node, pods, links, untold)
        of_pods, of_workloads = self._graded(pods, now)
        top = max(LEAST_TOP, math.ceil(self.share * nodes_count))
        shown = [
            self._pod(pod, of_pods)
            for pod in pods.values()
            if any(
                (pod.placed.uid, role) in of_pods
                or _worst(self._pod_weeks[role], pod.placed.uid) > 0
                for role in ROLES
            )
        ]
        shown.sort(key=_badness)
        shown = self._marked(shown[:MOST_SHOWN], top)
        return Neighbourhood(
            at=now,
            pods=tuple(shown),
            workloads=tuple(self._workload_list(pods, of_workloads)),
            links=tuple(links),
            containers=containers,
            untold=dict(untold),
            top=top,
            known_pods=frozenset(uid for uid, pod in pods.items() if len(pod.told) == len(ROLES)),
        )

    def _graded(
        self, pods: Mapping[str, _Pod], now: float
    ) -> tuple[Mapping[PodKey, int], Mapping[WorkloadKey, int]]:
        unknown = frozenset(
            (uid, role) for uid, pod in pods.items() for role in ROLES if role not in pod.told
        )
        scores = {
            (uid, role): score for uid, pod in pods.items() for role, score in pod.scores.items()
        }
        of_pods = self._pods.assess(scores, unknown)
        workload_scores: dict[WorkloadKey, float] = {}
        told: set[WorkloadKey] = set()
        for pod in pods.values():
            for role in ROLES:
                key = pod.placed.workload, role
                if role in pod.told:
                    told.add(key)
                score = pod.scores.get(role, 0.0)
                workload_scores[key] = max(score, workload_scores.get(key, 0.0))
        of_workloads = self._workloads.assess(
            workload_scores, frozenset(key for key in workload_scores if key not in told)
        )
        self.unplaced = 0
        for role in ROLES:
            uids = [uid for uid, pod in pods.items() if role in pod.told]
            weeks, workload_weeks = self._pod_weeks[role], self._workload_weeks[role]
            weeks.keep(pods)
            self.unplaced += weeks.add(
                uids, {uid: grade for (uid, r), grade in of_pods.items() if r is role}, now=now
            )
            # A workload that is between two runs keeps its week, as far as there is room.
            if len(workload_weeks) >= self.most:
                workload_weeks.keep({pod.placed.workload for pod in pods.values()})
            self.unplaced += workload_weeks.add(
                [workload for workload, r in told if r is role],
                {key: grade for (key, r), grade in of_workloads.items() if r is role},
                now=now,
            )
        return of_pods, of_workloads

    def _pod(self, pod: _Pod, graded: Mapping[PodKey, int]) -> GradedNeighbour:
        placed = pod.placed
        names = {
            link.victim.container if role is VICTIM else link.aggressor.container
            for role, several in pod.links.items()
            for link in several
        }
        return GradedNeighbour(
            namespace=placed.namespace,
            kind="Pod",
            name=placed.pod,
            uid=placed.uid,
            node=placed.node,
            owner_kind=placed.owner_kind,
            owner=placed.owner,
            grades={
                role: _times(
                    graded.get((placed.uid, role), 0) if role in pod.told else None,
                    self._pod_weeks[role].usual_and_worst(placed.uid),
                )
                for role in ROLES
            },
            why=self._reasons(pod, None),
            why_within=self._reasons(pod, placed.namespace),
            containers=tuple(sorted(names)),
        )

    def _workload_list(
        self, pods: Mapping[str, _Pod], graded: Mapping[WorkloadKey, int]
    ) -> list[GradedNeighbour]:
        together: defaultdict[NeighbourWorkload, list[_Pod]] = defaultdict(list)
        for pod in pods.values():
            together[pod.placed.workload].append(pod)
        found = []
        for workload, several in together.items():
            weeks = {role: self._workload_weeks[role].usual_and_worst(workload) for role in ROLES}
            grades = {
                role: _times(
                    graded.get((workload, role), 0)
                    if any(role in pod.told for pod in several)
                    else None,
                    weeks[role],
                )
                for role in ROLES
            }
            if not any(times.most for times in grades.values()):
                continue
            found.append(
                GradedNeighbour(
                    namespace=workload.namespace,
                    kind=workload.kind,
                    name=workload.name,
                    grades=grades,
                    why=self._reasons_together(workload, several, None),
                    why_within=self._reasons_together(workload, several, workload.namespace),
                )
            )
        return sorted(found, key=_badness)

    def _reasons(self, pod: _Pod, seen_from: str | None) -> Mapping[NeighbourRole, str]:
        return {
            role: _why(
                pod.links.get(role, ()),
                pod.untold.get(role, ""),
                self._pod_weeks[role].times(pod.placed.uid),
                seen_from,
            )
            for role in ROLES
        }

    def _reasons_together(
        self, workload: NeighbourWorkload, several: Sequence[_Pod], seen_from: str | None
    ) -> Mapping[NeighbourRole, str]:
        return {
            role: _why(
                [link for pod in several for link in pod.links.get(role, ())],
                "",
                self._workload_weeks[role].times(workload),
                seen_from,
            )
            for role in ROLES
        }

    def _marked(self, shown: list[GradedNeighbour], top: int) -> list[GradedNeighbour]:
        """*shown* with who of them is among the worst *top* of a role."""
        for role in ROLES:
            ordered = sorted(
                (one for one in shown if one.grades[role].most), key=lambda one: _of_role(one, role)
            )
            before = self._top.get(role, frozenset())
            self._top[role] = frozenset(
                one.uid
                for place, one in enumerate(ordered)
                if place < top or (place < KEPT_TOP * top and one.uid in before)
            )
        return [
            replace(one, is_top={role: one.uid in self._top[role] for role in ROLES})
            for one in shown
        ]


def _collect(
    node: LookedNode,
    pods: dict[str, _Pod],
    links: list[NeighbourLink],
    untold: Counter[str],
) -> None:
    found = node.found
    for row, placed in enumerate(node.containers):
        if placed is None:
            continue
        pod = pods.get(placed.uid)
        if pod is None:
            pod = pods[placed.uid] = _Pod(placed)
        if found.victims[row]:
            untold[found.victims[row]] += 1
        for role, why in ((VICTIM, found.victims[row]), (AGGRESSOR, found.aggressors[row])):
            if why:
                pod.untold.setdefault(role, why)
            else:
                # Of one of its containers is enough.
                pod.told.add(role)
    for one in found.links:
        victim, aggressor = node.containers[one.victim], node.containers[one.aggressor]
        # What a pod does to itself is no neighbour's doing.
        if victim is None or aggressor is None or victim.uid == aggressor.uid:
            continue
        link = _link(one, victim, aggressor)
        links.append(link)
        for role, placed, score in (
            (VICTIM, victim, one.victim_now),
            (AGGRESSOR, aggressor, one.aggressor_now),
        ):
            pod = pods[placed.uid]
            pod.links[role].append(link)
            pod.scores[role] = max(score, pod.scores.get(role, 0.0))


def _link(one: NodeLink, victim: PlacedContainer, aggressor: PlacedContainer) -> NeighbourLink:
    moved = one.movement
    return NeighbourLink(
        victim=victim,
        aggressor=aggressor,
        resource=one.resource,
        correlation=round(moved.correlation, 3),
        p=moved.p,
        lag_minutes=moved.lag,
        minutes=moved.minutes,
        quiet=round(moved.quiet, 4),
        busy=round(moved.busy, 4),
    )


def _times(now: int | None, week: tuple[int, int] | None) -> GradedTimes:
    usual, worst = (None, None) if week is None else week
    return GradedTimes(now, usual, worst)


def _why(
    links: Sequence[NeighbourLink],
    untold: str,
    times: int,
    seen_from: str | None = None,
) -> str:
    if links:
        first = sorted(links, key=lambda link: link.p)[:MOST_NAMED]
        more = f"; and {len(links) - len(first)} more" if len(links) > len(first) else ""
        return "; ".join(link.sentence(seen_from) for link in first) + more
    if untold:
        return untold
    if times < LEAST_TIMES:
        return f"what is usual needs {LEAST_TIMES} looks, one a minute: there were {times}"
    return ""


def _worst(weeks: WeekGrades[str], uid: str) -> int:
    found = weeks.usual_and_worst(uid)
    return 0 if found is None else found[1]


Order = tuple[int, int, int, str, str]


def _badness(one: GradedNeighbour) -> Order:
    return min(_of_role(one, role) for role in ROLES)


def _of_role(one: GradedNeighbour, role: NeighbourRole) -> Order:
    """The worst now first, then the usually worst."""
    times = one.grades[role]
    return (
        -(times.now or 0),
        -(times.usual or 0),
        -(times.worst or 0),
        one.namespace,
        one.name,
    )
