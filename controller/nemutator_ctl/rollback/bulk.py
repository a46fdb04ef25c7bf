"""Many mutations taken back: chosen, planned, then done one after another, the newest first.

What was taken back is not chosen a second time. So a run that was interrupted, or that left pods to
later ones, goes on when it is started again.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from nemutator_common.errors import ExitCode, OperatorError

from nemutator_ctl.answers import Listing, understood
from nemutator_ctl.api import Api
from nemutator_ctl.rollback.view import ShownPlan, ShownRollback, decode_plan, decode_rollback
from nemutator_ctl.terminal_text import visible

MUTATIONS_PATH = "/api/v1/mutations"
ROLLBACK_PATH = "/api/v1/mutations/{}/rollback"

MOST = 1_000
"""Mutations of one run: the brain lists no more at once."""
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
    subject: ChosenObject


@dataclass(frozen=True, slots=True)
class PlannedRollback:
    mutation: ChosenMutation
    plan: ShownPlan | None
    """None: there is nothing to take back."""
    why: str = ""
    """Why there is no plan."""

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

    def choose(self, query: Mapping[str, str]) -> tuple[ChosenMutation, ...]:
        """The newest that still stand."""
        asked = {**query, "standing": "true", "limit": str(MOST)}
        listed = self.brain.get(MUTATIONS_PATH, asked)
        return understood(listed, Listing[ChosenMutation], "a list of mutations").items

    def plan(self, chosen: Iterable[ChosenMutation]) -> list[PlannedRollback]:
        return [self._plan(each) for each in chosen]

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
            document = self.brain.post(path, query={"plan": "true", "evict": "true"})
        except OperatorError as error:
            # It is gone, or cannot be taken back: the others can.
            if error.code != ExitCode.FAILED:
                raise
            return PlannedRollback(mutation, None, error.what)
        return PlannedRollback(mutation, decode_plan(document))

    def _post(self, mutation: ChosenMutation, query: Mapping[str, str]) -> ShownRollback:
        path = ROLLBACK_PATH.format(quote(mutation.id, safe=""))
        return decode_rollback(self.brain.post(path, query=query))


def summary(planned: Sequence[PlannedRollback], evictions: int) -> str:
    """What will be done to which object, what is in conflict, and which pods are replaced."""
    lines = []
    replaced: Counter[Owner] = Counter()
    for one in planned:
        if one.plan is None:
            lines.append(f"{one.mutation.id} {one.mutation.subject}: {one.why}")
            continue
        verdicts = Counter(step.verdict for step in one.plan.steps)
        words = [f"{verdicts['reverse']} to take back"]
        words += [f"{verdicts['already']} done already"] if verdicts["already"] else []
        words += [f"{verdicts['conflict']} in conflict"] if verdicts["conflict"] else []
        if one.restarts:
            replaced[one.mutation.subject.workload] += 1
            words.append("needs a new pod")
        lines.append(f"{one.mutation.id} {one.mutation.subject}: {', '.join(words)}")
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


def _end(done: ShownRollback) -> str:
    results = Counter(outcome.result for outcome in done.outcomes)
    return f"{done.state} ({', '.join(f'{count} {result}' for result, count in results.items())})"


def _line(text: str) -> str:
    return visible(text, limit=WIDTH) + "\n"
