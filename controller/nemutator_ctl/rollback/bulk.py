"""Many mutations taken back: chosen, planned, then done one after another, the newest first.

What was taken back is not chosen a second time. So a run that was interrupted, or that left pods to
later ones, goes on when it is started again. Objects that are gone fill no run: there are more of them
than of others, and they stay in the journal.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl.answers import Listing, Moment, understood
from nemutator_ctl.api import Api
from nemutator_ctl.rollback.view import ShownPlan, ShownRollback, decode_plan, decode_rollback
from nemutator_ctl.terminal_text import visible

MUTATIONS_PATH = "/api/v1/mutations"
ROLLBACK_PATH = "/api/v1/mutations/{}/rollback"

PAGE = 1_000
"""Mutations that the brain lists at once."""
MOST = 1_000
"""Mutations that one run takes back."""
MOST_NAMED = 100
"""Of those that cannot be taken back."""
WIDTH = 200

Owner = tuple[str, str, str]
"""Namespace, kind and name of a workload."""


@dataclass(frozen=True, slots=True)
class ChosenObject:
    kind: str
    namespace: str
    name: str
    generate_name: str
    owner_kind: str
    owner_name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name or f'{self.generate_name}…'}"

    @property
    def workload(self) -> Owner:
        if not self.owner_name:
            return self.namespace, self.kind, self.name
        return self.namespace, self.owner_kind, self.owner_name


@dataclass(frozen=True, slots=True)
class ChosenMutation:
    id: str
    at: Moment
    subject: ChosenObject


@dataclass(frozen=True, slots=True)
class PlannedRollback:
    mutation: ChosenMutation
    plan: ShownPlan | None
    """None: there is nothing to take back."""
    why: str = ""
    """Why there is no plan."""

    @property
    def changes(self) -> bool:
        """Whether something is taken back of the object as it is."""
        return self.plan is not None and any(
            step.verdict == "reverse" and step.way != "new pod" for step in self.plan.steps
        )

    @property
    def restarts(self) -> bool:
        """Whether the pod has to be replaced, where that is allowed."""
        return self.plan is not None and any(
            step.verdict == "reverse" and step.way == "new pod" for step in self.plan.steps
        )


@dataclass(slots=True)
class BulkRollback:
    brain: Api
    evictions: int
    """Pods of one workload that may be evicted in this run."""
    only: Mapping[str, str] = field(default_factory=dict)
    """The words of a query that narrow what is taken back of a mutation."""

    def choose(self, query: Mapping[str, str]) -> Iterator[ChosenMutation]:
        """Those that still stand, the newest first."""
        asked = {**query, "standing": "true", "limit": str(PAGE)}
        seen: set[str] = set()
        while True:
            listed = self.brain.get(MUTATIONS_PATH, asked)
            page = understood(listed, Listing[ChosenMutation], "a list of mutations").items
            new = [each for each in page if each.id not in seen]
            yield from new
            if len(page) < PAGE or not new:
                return
            seen = {each.id for each in page}
            # The next page begins with those of the last one's moment.
            asked["until"] = repr(math.nextafter(page[-1].at, math.inf))

    def plan(self, chosen: Iterable[ChosenMutation]) -> list[PlannedRollback]:
        """Until there is enough to do for one run."""
        planned: list[PlannedRollback] = []
        replaced: Counter[Owner] = Counter()
        ready = 0
        for each in chosen:
            planned.append(one := self._plan(each))
            workload = one.mutation.subject.workload
            replaces = one.restarts and replaced[workload] < self.evictions
            replaced[workload] += replaces
            ready += replaces or one.changes
            if ready == MOST:
                break
        return [one for one in planned if not _is_done(one)]

    def rehearse(self, planned: Iterable[PlannedRollback], say: Callable[[str], object]) -> int:
        """Ask the API server what it would refuse; the number of mutations that would not be whole."""
        return self._each(planned, say, lambda _: {"dry_run": "true"})

    def run(self, planned: Iterable[PlannedRollback], say: Callable[[str], object]) -> int:
        """Take back; the number of mutations that are not wholly taken back."""
        evicted: Counter[Owner] = Counter()

        def query(one: PlannedRollback) -> dict[str, str]:
            workload = one.mutation.subject.workload
            evict = one.restarts and evicted[workload] < self.evictions
            evicted[workload] += evict
            return {"evict": str(evict).lower()}

        return self._each(planned, say, query)

    def _each(
        self,
        planned: Iterable[PlannedRollback],
        say: Callable[[str], object],
        query: Callable[[PlannedRollback], Mapping[str, str]],
    ) -> int:
        todo = [one for one in planned if one.plan is not None]
        left = 0
        for number, one in enumerate(todo, start=1):
            try:
                done = self._post(one.mutation, query(one))
                end, whole = _end(done), done.is_whole
            except OperatorError as error:
                if error.code != ExitCode.FAILED:
                    raise
                end, whole = error.what, False
            left += not whole
            say(_line(f"[{number}/{len(todo)}] {one.mutation.id} {one.mutation.subject}: {end}"))
        return left

    def _plan(self, mutation: ChosenMutation) -> PlannedRollback:
        path = ROLLBACK_PATH.format(quote(mutation.id, safe=""))
        try:
            query = {"plan": "true", "evict": "true", **self.only}
            document = self.brain.post(path, query=query)
        except OperatorError as error:
            # It is gone, or cannot be taken back: the others can.
            if error.code != ExitCode.FAILED:
                raise
            return PlannedRollback(mutation, None, error.what)
        return PlannedRollback(mutation, decode_plan(document))

    def _post(self, mutation: ChosenMutation, query: Mapping[str, str]) -> ShownRollback:
        path = ROLLBACK_PATH.format(quote(mutation.id, safe=""))
        return decode_rollback(self.brain.post(path, query={**query, **self.only}))


def summary(planned: Sequence[PlannedRollback], evictions: int) -> str:
    """What will be done to which object, what is in conflict, and which pods are replaced."""
    lines = []
    replaced: Counter[Owner] = Counter()
    gone = 0
    for one in planned:
        if one.plan is None:
            gone += 1
            if gone <= MOST_NAMED:
                lines.append(f"{one.mutation.id} {one.mutation.subject}: {one.why}")
            continue
        verdicts = Counter(step.verdict for step in one.plan.steps)
        words = [f"{verdicts['reverse']} to take back"]
        words += [f"{verdicts['already']} done already"] if verdicts["already"] else []
        words += [f"{verdicts['conflict']} in conflict"] if verdicts["conflict"] else []
        words += [f"{verdicts['kept']} of other policies"] if verdicts["kept"] else []
        if one.restarts:
            replaced[one.mutation.subject.workload] += 1
            words.append("needs a new pod")
        lines.append(f"{one.mutation.id} {one.mutation.subject}: {', '.join(words)}")
    if gone > MOST_NAMED:
        lines.append(f"and {gone - MOST_NAMED} more that cannot be taken back")
    for (namespace, kind, name), count in sorted(replaced.items()):
        now = min(count, evictions)
        lines.append(
            f"{kind} {namespace}/{name}: {count} pods keep a part until they are replaced,"
            f" {now} of them in this run"
        )
    lines.append(
        f"{sum(one.plan is not None for one in planned)} of {len(planned)} mutations can be taken back"
    )
    return "".join(map(_line, lines))


def _is_done(one: PlannedRollback) -> bool:
    """Whether of what was asked for nothing is left to be taken back, and the rest is others'."""
    verdicts = {step.verdict for step in one.plan.steps} if one.plan is not None else set()
    return "kept" in verdicts <= {"already", "kept"}


def _end(done: ShownRollback) -> str:
    results = Counter(outcome.result for outcome in done.outcomes)
    return f"{done.state} ({', '.join(f'{count} {result}' for result, count in results.items())})"


def _line(text: str) -> str:
    return visible(text, limit=WIDTH) + "\n"
