"""From the looks at all nodes to the neighbourhood of the cluster: grades of pods and of workloads."""

import math
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import TypeVar

from nemutator_controller.hysteresis import HeldGrades
from nemutator_controller.neighbours.looked_nodes import (
    AGGRESSOR,
    VICTIM,
    LookedNode,
    LookedPod,
    looked_pods,
)
from nemutator_controller.neighbours.model import (
    GradedNeighbour,
    GradedTimes,
    Neighbourhood,
    NeighbourLink,
    NeighbourRole,
    NeighbourWorkload,
)
from nemutator_controller.neighbours.reasons import reason
from nemutator_controller.neighbours.week_grades import SavedWeek, WeekGrades

MOST_SHOWN = 20_000
"""Pods that are graded above 0 in one neighbourhood, the worst first."""

AT_ONCE = 500
"""Nodes or workloads of which one turn of the loop concludes something."""

LEAST_TOP = 3
KEPT_TOP = 2
"""Who bears labels keeps them until it is behind twice as many: at the end of the list places change all the time."""

ROLES = (VICTIM, AGGRESSOR)

T = TypeVar("T")

PodKey = tuple[str, NeighbourRole]
WorkloadKey = tuple[NeighbourWorkload, NeighbourRole]


@dataclass(slots=True)
class _Node:
    """What stands of one node until the next look at it. Of pods without links and grades little is kept: there are
    150 000 of them."""

    containers: int
    untold: Counter[str]
    links: Sequence[NeighbourLink]
    workloads: Mapping[str, NeighbourWorkload]
    """Of each pod, by its uid."""
    known: frozenset[str]
    """Pods of which a verdict stands."""
    pods: Mapping[str, LookedPod]
    """Those that have links, or were bad this week."""
    shown: Sequence[GradedNeighbour]


@dataclass(slots=True)
class Verdicts:
    """What is remembered between looks. A look may be at some of the nodes: on others all stays as it was found."""

    share: float
    """Of as many as there are nodes: how many of each role are the worst."""
    most: int
    """Pods and workloads that are remembered for seven days."""
    _nodes: dict[str, _Node] = field(default_factory=dict, init=False)
    _pods: HeldGrades[PodKey] = field(default_factory=HeldGrades, init=False)
    _workloads: HeldGrades[WorkloadKey] = field(default_factory=HeldGrades, init=False)
    _pod_weeks: dict[NeighbourRole, WeekGrades[str]] = field(init=False)
    _workload_weeks: dict[NeighbourRole, WeekGrades[NeighbourWorkload]] = field(init=False)
    _pods_of: Counter[NeighbourWorkload] = field(default_factory=Counter, init=False)
    """How many pods each workload has."""
    _names: dict[NeighbourWorkload, NeighbourWorkload] = field(default_factory=dict, init=False)
    """One object for each workload, however many pods it has."""
    _shown_workloads: dict[NeighbourWorkload, GradedNeighbour] = field(
        default_factory=dict, init=False
    )
    _top: dict[NeighbourRole, frozenset[str]] = field(default_factory=dict, init=False)
    _touched: set[NeighbourWorkload] = field(default_factory=set, init=False)
    """Workloads of pods that were looked at since the last conclusion, or have gone."""
    _told: dict[NeighbourRole, set[NeighbourWorkload]] = field(init=False)
    """Those of whose pods the look could tell."""
    _unplaced: int = field(default=0, init=False)
    unplaced: int = field(default=0, init=False)
    """Pods and workloads that found no room in the last look."""

    def __post_init__(self) -> None:
        self._told = {role: set() for role in ROLES}
        self._pod_weeks = {role: WeekGrades(self.most) for role in ROLES}
        self._workload_weeks = {role: WeekGrades(self.most) for role in ROLES}

    def saved(self, *, most: int) -> list[SavedWeek]:
        """The weeks of those that were bad, up to *most* of each role, pods and workloads."""
        return [
            SavedWeek(role, subject, weeks.today, counts)
            for role in ROLES
            for weeks in (self._pod_weeks[role], self._workload_weeks[role])
            for subject, counts in weeks.bad(most=most)
        ]

    def restore(self, saved: Iterable[SavedWeek], *, now: float) -> None:
        for one in saved:
            subject = one.subject
            if isinstance(subject, str):
                pods = self._pod_weeks[one.role]
                pods.restore([(subject, one.counts)], until=one.day, now=now)
            else:
                workloads = self._workload_weeks[one.role]
                workloads.restore([(subject, one.counts)], until=one.day, now=now)

    def conclude(
        self, nodes: Iterable[LookedNode], *, nodes_count: int, now: float
    ) -> Neighbourhood:
        """What stands after a look, the last of whose nodes are *nodes*."""
        self.take_in(nodes, now=now)
        *_, found = self.concluding(nodes_count=nodes_count, now=now)
        assert found is not None
        return found

    def concluding(self, *, nodes_count: int, now: float) -> Iterator[Neighbourhood | None]:
        """The same, with None after each part of the work, for a turn of the loop: of 150 000 pods all of it takes half
        a second. No node may be taken in or forgotten meanwhile."""
        touched = self._touched | {w for w, _ in self._workloads if not self._pods_of[w]}
        yield from self._conclude_workloads(touched, now)
        self._touched, self._told = set(), {role: set() for role in ROLES}
        self.unplaced, self._unplaced = self._unplaced, 0
        known, untold = set[str](), Counter[str]()
        for some in _parts(list(self._nodes.values())):
            known.update(*(node.known for node in some))
            for node in some:
                untold.update(node.untold)
            yield None
        yield self._neighbourhood(nodes_count, known, untold, now)

    def take_in(self, nodes: Iterable[LookedNode], *, now: float) -> None:
        """Take in some of the nodes of a look, for a turn of the loop."""
        for node in nodes:
            self._take_in(node, now)

    def forget(self, nodes: Container[str]) -> None:
        """Let go of all nodes that are not among *nodes*, with their pods."""
        for name in [name for name in self._nodes if name not in nodes]:
            gone = self._nodes.pop(name)
            self._touched.update(gone.workloads.values())
            self._forget_pods(gone, gone.workloads)

    def _take_in(self, node: LookedNode, now: float) -> None:
        found = looked_pods(node)
        workloads = {uid: self._name(pod.placed.workload) for uid, pod in found.pods.items()}
        before = self._nodes.get(node.node)
        if before is not None:
            self._touched.update(before.workloads.values())
            self._forget_pods(before, before.workloads.keys() - workloads.keys())
        self._touched.update(workloads.values())
        for uid, pod in found.pods.items():
            for role in pod.told:
                self._told[role].add(workloads[uid])
        known_before = before.workloads if before is not None else {}
        self._pods_of.update(w for uid, w in workloads.items() if uid not in known_before)
        self._grade_pods(found.pods, now)
        may_be = set[str]().union(*(weeks.bad_of(found.pods) for weeks in self._pod_weeks.values()))
        bad = {
            uid: pod
            for uid, pod in found.pods.items()
            if pod.links or self._is_bad(uid, was_bad=uid in may_be)
        }
        self._nodes[node.node] = _Node(
            containers=found.containers,
            untold=found.untold,
            links=found.links,
            workloads=workloads,
            known=frozenset(uid for uid, pod in found.pods.items() if len(pod.told) == len(ROLES)),
            pods=bad,
            shown=[
                self._pod(pod)
                for uid, pod in bad.items()
                if self._is_bad(uid, was_bad=uid in may_be)
            ],
        )

    def _name(self, workload: NeighbourWorkload) -> NeighbourWorkload:
        return self._names.setdefault(workload, workload)

    def _forget_pods(self, node: _Node, uids: Iterable[str]) -> None:
        for uid in uids:
            workload = node.workloads[uid]
            self._pods_of[workload] -= 1
            if not self._pods_of[workload]:
                del self._pods_of[workload]
                self._names.pop(workload, None)
            for role in ROLES:
                self._pods.forget((uid, role))
                self._pod_weeks[role].forget((uid,))

    def _grade_pods(self, pods: Mapping[str, LookedPod], now: float) -> None:
        for role in ROLES:
            # Of whom nobody can tell everything stays.
            told = [uid for uid, pod in pods.items() if role in pod.told]
            self._pods.assess({(uid, role): pods[uid].scores.get(role, 0.0) for uid in told})
            grades = {uid: self._pods.grade((uid, role)) for uid in told}
            self._unplaced += self._pod_weeks[role].add(told, grades, now=now)

    def _is_bad(self, uid: str, *, was_bad: bool) -> bool:
        """Whether it has a grade above 0, or so often had one this week that it counts, where it *was_bad* at all."""
        return any(
            self._pods.grade((uid, role)) or (was_bad and self._pod_weeks[role].worst(uid))
            for role in ROLES
        )

    def _conclude_workloads(
        self, touched: AbstractSet[NeighbourWorkload], now: float
    ) -> Iterator[None]:
        """*touched*: those of whose pods some were looked at, and those that have none any more."""
        told = self._told
        bad: defaultdict[NeighbourWorkload, list[LookedPod]] = defaultdict(list)
        for nodes in _parts(list(self._nodes.values())):
            for node in nodes:
                for uid, pod in node.pods.items():
                    if node.workloads[uid] in touched:
                        bad[node.workloads[uid]].append(pod)
            yield
        for role in ROLES:
            # One that has no pods any more suffers nothing.
            assessed = told[role] | {w for w in touched if not self._pods_of[w]}
            for some in _parts(list(assessed)):
                scores = {
                    (w, role): max(
                        (pod.scores.get(role, 0.0) for pod in bad.get(w, ())), default=0.0
                    )
                    for w in some
                }
                self._workloads.assess(scores)
                yield
            weeks = self._workload_weeks[role]
            # A workload that is between two runs keeps its week, as far as there is room.
            if len(weeks) >= self.most:
                weeks.keep(self._pods_of)
            for some in _parts(list(told[role])):
                grades = {w: self._workloads.grade((w, role)) for w in some}
                self._unplaced += weeks.add(some, grades, now=now)
                yield
        for some in _parts(list(touched)):
            for workload in some:
                self._show(workload, bad.get(workload, ()))
            yield

    def _show(self, workload: NeighbourWorkload, bad: Sequence[LookedPod]) -> None:
        if self._pods_of[workload] and any(
            self._workloads.grade((workload, role)) or self._workload_weeks[role].worst(workload)
            for role in ROLES
        ):
            self._shown_workloads[workload] = self._workload(workload, bad)
        else:
            self._shown_workloads.pop(workload, None)

    def _neighbourhood(
        self, nodes_count: int, known: AbstractSet[str], untold: Mapping[str, int], now: float
    ) -> Neighbourhood:
        nodes = self._nodes.values()
        top = max(LEAST_TOP, math.ceil(self.share * nodes_count))
        shown = sorted((one for node in nodes for one in node.shown), key=_badness)[:MOST_SHOWN]
        return Neighbourhood(
            at=now,
            pods=tuple(self._marked(shown, top)),
            workloads=tuple(sorted(self._shown_workloads.values(), key=_badness)),
            links=tuple(link for node in nodes for link in node.links),
            containers=sum(node.containers for node in nodes),
            untold=dict(untold),
            top=top,
            known_pods=known,
        )

    def _pod(self, pod: LookedPod) -> GradedNeighbour:
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
                    self._pods.grade((placed.uid, role)) if role in pod.told else None,
                    self._pod_weeks[role].usual_and_worst(placed.uid),
                )
                for role in ROLES
            },
            why=self._reasons(pod, None),
            why_within=self._reasons(pod, placed.namespace),
            containers=tuple(sorted(names)),
            is_top=dict.fromkeys(ROLES, False),
        )

    def _workload(self, workload: NeighbourWorkload, bad: Sequence[LookedPod]) -> GradedNeighbour:
        return GradedNeighbour(
            namespace=workload.namespace,
            kind=workload.kind,
            name=workload.name,
            grades={
                role: _times(
                    self._workloads.grade((workload, role))
                    if workload in self._told[role]
                    else None,
                    self._workload_weeks[role].usual_and_worst(workload),
                )
                for role in ROLES
            },
            why=self._reasons_together(workload, bad, None),
            why_within=self._reasons_together(workload, bad, workload.namespace),
        )

    def _reasons(self, pod: LookedPod, seen_from: str | None) -> Mapping[NeighbourRole, str]:
        return {
            role: reason(
                pod.links.get(role, ()),
                pod.untold.get(role, ""),
                self._pod_weeks[role].times(pod.placed.uid),
                seen_from,
            )
            for role in ROLES
        }

    def _reasons_together(
        self, workload: NeighbourWorkload, several: Sequence[LookedPod], seen_from: str | None
    ) -> Mapping[NeighbourRole, str]:
        return {
            role: reason(
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
        either = frozenset[str]().union(*self._top.values())
        return [
            replace(one, is_top={role: one.uid in self._top[role] for role in ROLES})
            if one.uid in either
            else one
            for one in shown
        ]


def _parts(several: Sequence[T]) -> Iterator[Sequence[T]]:
    """*several* in parts that take some milliseconds each."""
    for begin in range(0, len(several), AT_ONCE):
        yield several[begin : begin + AT_ONCE]


def _times(now: int | None, week: tuple[int, int] | None) -> GradedTimes:
    usual, worst = (None, None) if week is None else week
    return GradedTimes(now, usual, worst)


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
