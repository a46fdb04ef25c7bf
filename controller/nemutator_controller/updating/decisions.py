"""What is to be done about the sizes of one pod that runs: pure.

A change is due as in VPA: when a request is out of the advice's bounds, or when the pod has run for some time
and its requests, all containers together, differ by a tenth. What is given stays within the policy's bounds and
step, keeps the pod's quality-of-service class, and can be taken back by a resize: only amounts that are there
are changed. A memory limit is never lowered, because a container that uses more than that would be killed.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from nemutator_common.admission_snapshots import SIZING_PREFIX

from nemutator_controller.daily_changes import may_change
from nemutator_controller.kube.quantities import Quantity
from nemutator_controller.mutations.advisor import Side
from nemutator_controller.mutations.edits import same
from nemutator_controller.mutations.globs import fits_any
from nemutator_controller.mutations.path_texts import parse_path
from nemutator_controller.mutations.paths import PathError, value_at
from nemutator_controller.mutations.qos import class_of, class_with, quantity
from nemutator_controller.mutations.stamps import parse_stamp
from nemutator_controller.updating.model import ResourceLimits, SizedResource, SoundSizing
from nemutator_controller.updating.node_room import lacking, needs_of
from nemutator_controller.updating.records import (
    RESOURCES,
    AmountAdvice,
    ContainerAdvice,
    GivenAmount,
    LeaveAlone,
    MoveElsewhere,
    ResizeInPlace,
    ResourceName,
    SizedContainer,
    SizedPod,
    SizingDecision,
    WaitFirst,
)

VERB = "sizing"
"""Of the edits, in stamps and in the journal."""

LEAST_DIFFERENCE = 0.1
USUAL_STEP, HOURLY_STEP = 100, 1_000
"""In percent, where the policy names none. An hour that needs five times as much cannot wait for three changes."""
STALE_S = 3_600.0
"""Advice for a container that was not seen for so long is of another time."""

_STEP = {"cpu": 10**6, "memory": 10**9}
"""Whole units that are given: a thousandth of a core, a byte."""

SEASON_OVER = "the policy's season is over: it only makes larger what it has given"

DIFFERENT = "somebody else has changed {} since nemutator did"


@dataclass(frozen=True, slots=True, kw_only=True)
class SizingSituation:
    """What counts beside the pod itself."""

    now: float
    running: int
    """Pods of its workload that run."""
    changed_at: float | None = None
    """When its sizes were changed last."""
    autoscaled: frozenset[str] = frozenset()
    """Resources that a HorizontalPodAutoscaler of the workload follows."""
    vertical_autoscaler: str = ""
    """The name of the one that sizes the workload as well."""
    node: Mapping[str, Quantity] = field(default_factory=dict)
    """What the node has for pods."""
    refused: str = ""
    """What the API server has said to the last attempt."""
    taken_back: frozenset[str] = frozenset()
    """Paths that stay as they were before us."""
    only_larger: bool = False
    """Nothing becomes smaller, and what becomes larger waits for no rest of the pod."""
    changes_of_day: Mapping[str, int] = field(default_factory=dict)
    """How often CPU was changed in 24 hours for hourly requests, by container."""


def decide(
    pod: SizedPod,
    policy: SoundSizing,
    advice: Mapping[str, ContainerAdvice],
    situation: SizingSituation,
) -> SizingDecision:
    """*advice* is by name of the container."""
    if reason := _left_alone(pod, policy, situation):
        return LeaveAlone(reason)
    reasons: list[str] = []
    changes: list[GivenAmount] = []
    targets: list[GivenAmount] = []
    hourly: list[GivenAmount] = []
    hourly_targets: list[GivenAmount] = []
    due = False
    wanted: dict[ResourceName, int] = {}
    asked: dict[ResourceName, int] = {}
    for container in pod.containers:
        globs = policy.spec.resources.containers
        if globs and not fits_any(container.name, globs):
            continue
        for resource in RESOURCES:
            found = _amount(container, resource, policy, advice.get(container.name), situation)
            if isinstance(found, str):
                reasons.append(f"{container.name}: {resource}: {found}")
                continue
            target, known, several, whole = found
            if known.hourly:
                # It is due by itself, and has nothing else changed with it.
                hourly += several
                hourly_targets += whole
                continue
            request = container.requests[resource]
            wanted[resource] = wanted.get(resource, 0) + target.nanos
            asked[resource] = asked.get(resource, 0) + request.nanos
            due = due or (_is_out(request, known) and bool(several))
            changes += several
            targets += whole
    difference = sum(
        abs(wanted[name] - asked[name]) / asked[name] for name in wanted if asked[name]
    )
    settled_s = 0 if situation.only_larger else policy.spec.settled_seconds
    held: SizingDecision | None = None
    if not changes and not reasons and pod.state:
        # It asks for what it should have, and has not got it.
        held = _unmade(pod)
    elif not changes:
        held = LeaveAlone("; ".join(reasons) or "it has what it needs", is_good=not reasons)
    elif not due and difference < LEAST_DIFFERENCE:
        held = LeaveAlone(f"it differs by {difference:.0%} only", is_good=True)
    elif not due and situation.now - pod.created_at < settled_s:
        held = WaitFirst(f"it has not run for {settled_s} s")
    if held is not None:
        if not hourly:
            return held
        changes, targets = [], []
    changes = [*hourly, *changes]
    needs = needs_of(pod, [*hourly_targets, *targets])
    too_little = lacking(needs, situation.node)
    here = tuple(each for each in changes if each.resource not in too_little)
    if not too_little:
        return _now_or_later(pod, policy, here, situation)
    why = "; ".join(too_little.values())
    meanwhile = _now_or_later(pod, policy, here, situation) if here else LeaveAlone(why)
    if policy.spec.mode == "Evict" and isinstance(meanwhile, ResizeInPlace | LeaveAlone):
        return MoveElsewhere(why, needs, meanwhile)
    return meanwhile


def _left_alone(pod: SizedPod, policy: SoundSizing, situation: SizingSituation) -> str:
    if pod.skips.everything or pod.skips.preview or pod.skips.verbs & {"resources", "containers"}:
        return "its annotations say so"
    if situation.vertical_autoscaler:
        return f"the VerticalPodAutoscaler {situation.vertical_autoscaler} sizes it"
    if situation.running < policy.spec.min_replicas:
        return f"{situation.running} of at least {policy.spec.min_replicas} pods run"
    if (pod.manifest.get("spec") or {}).get("resources"):
        return "its resources are set for the pod as a whole"
    if pod.state in ("Infeasible", "Error"):
        return f"kubelet cannot make the last change: {pod.state}"
    return _foreign(pod)


def was_sized(pod: SizedPod) -> bool:
    """Whether a SizingPolicy has given it amounts, at its creation or since."""
    return f'"{VERB}"' in pod.stamp or f'"{SIZING_PREFIX}' in pod.stamp


def _foreign(pod: SizedPod) -> str:
    """Why what we have given before must not be touched; empty: it may be."""
    if not pod.stamp:
        return ""
    stamp = parse_stamp(pod.stamp)
    if stamp is None or stamp.edits is None:
        return "its annotation has no room for what was changed"
    for edit in stamp.edits:
        if edit.verb != VERB:
            continue
        try:
            live = value_at(pod.manifest, parse_path(edit.path), "Pod")
        except PathError:
            return DIFFERENT.format(edit.path)
        if not same(live, edit.after) and not _alike(live, edit.after):
            return DIFFERENT.format(edit.path)
    return ""


def _alike(live: tuple[object, ...], after: tuple[object, ...]) -> bool:
    """`0.5` is `500m`, as the API server writes it."""
    if len(live) != 1 or len(after) != 1:
        return False
    one, other = quantity(live[0]), quantity(after[0])
    return one is not None and one == other


def _amount(
    container: SizedContainer,
    resource: ResourceName,
    policy: SoundSizing,
    known: ContainerAdvice | None,
    situation: SizingSituation,
) -> tuple[Quantity, AmountAdvice, list[GivenAmount], list[GivenAmount]] | str:
    """What it should request, of what advice, the changes of that and those that a new pod would have; or why it is
    left alone."""
    spec: SizedResource = getattr(policy.spec.resources, resource)
    limits: ResourceLimits = getattr(policy, resource)
    if not spec.enabled:
        return "the policy leaves it alone"
    if resource in situation.autoscaled:
        return "a HorizontalPodAutoscaler follows it"
    request = container.requests.get(resource)
    if request is None or request.nanos <= 0:
        return "nothing is requested that could be changed"
    if resource in container.restarted_by:
        return "a change would restart the container"
    if known is None:
        return "no advice yet"
    if not known.is_firm:
        return known.reason or "its advice is not firm"
    if situation.now - known.last_at > STALE_S:
        return "its advice is too old"
    if f"containers[name={container.name}].resources.requests.{resource}" in situation.taken_back:
        return "it was taken back"
    amount = known.amounts.get(resource)
    if amount is None:
        return known.reason or "no advice"
    target = _held(amount.target, resource, limits)
    if amount.hourly:
        changed = situation.changes_of_day.get(container.name, 0)
        if target != request and not may_change(changed, rises=target > request):
            return f"its changes of 24 hours are used up: {target} would fit better"
    if situation.only_larger and target <= request:
        return SEASON_OVER
    usual = HOURLY_STEP if amount.hourly else USUAL_STEP
    step = _stepped(request, target, spec.largest_step_percent or usual, resource)
    changes = _changes(container, resource, request, step, _reason(known, amount, target))
    if not changes and target < request:
        return "its memory limit would have to fall, and a container above it would be killed"
    if not changes and target > request:
        return "its limit is too low for what is advised"
    return target, amount, changes, _changes(container, resource, request, target, "")


def _reason(known: ContainerAdvice, amount: AmountAdvice, target: Quantity) -> str:
    return f"{amount.hourly or known.strategy or 'advice'} says {target}"


def _held(amount: Quantity, resource: ResourceName, limits: ResourceLimits) -> Quantity:
    nanos = max(amount.nanos, _STEP[resource])
    if limits.least is not None:
        nanos = max(nanos, limits.least)
    if limits.most is not None:
        nanos = min(nanos, limits.most)
    return Quantity(nanos, amount.format)


def _changes(
    container: SizedContainer,
    resource: ResourceName,
    request: Quantity,
    after: Quantity,
    reason: str,
) -> list[GivenAmount]:
    """To request *after*, or what is possible of it."""
    limit = container.limits.get(resource)
    new_limit = limit
    if limit is not None:
        if resource == "memory":
            # What runs may use more than that by now.
            new_limit = max(limit, after)
            if limit == request:
                after = new_limit
        elif limit == request:
            new_limit = after
        else:
            after = min(after, limit)
    made: list[GivenAmount] = []
    both: tuple[tuple[Side, Quantity | None, Quantity | None], ...]
    both = (("requests", request, after), ("limits", limit, new_limit))
    for side, before, value in both:
        if before is not None and value is not None and before != value:
            made.append(
                GivenAmount(
                    container=container.name,
                    side=side,
                    resource=resource,
                    before=before,
                    after=value,
                    reason=reason,
                )
            )
    return made


def _stepped(request: Quantity, target: Quantity, percent: int, resource: str) -> Quantity:
    unit = _STEP[resource]
    most = request.nanos * (100 + percent) // 100
    least = -(-request.nanos * 100 // (100 + percent))
    # Whole units, and towards where it was: a step is never larger than was said.
    most = max(most // unit * unit, request.nanos)
    least = min(-(-least // unit) * unit, request.nanos)
    return Quantity(min(max(target.nanos, least), most), target.format)


def _is_out(request: Quantity, known: AmountAdvice) -> bool:
    below = known.lower is not None and request < known.lower
    return below or (known.upper is not None and request > known.upper)


def _now_or_later(
    pod: SizedPod,
    policy: SoundSizing,
    changes: tuple[GivenAmount, ...],
    situation: SizingSituation,
) -> SizingDecision:
    if not _keeps_class(pod, changes):
        return LeaveAlone("its quality-of-service class would change")
    if situation.refused:
        return WaitFirst(f"the last change was refused: {situation.refused}", was_refused=True)
    if pod.state:
        return _unmade(pod)
    changed_at, cool_s = situation.changed_at, policy.spec.cool_down_seconds
    if situation.only_larger:
        changed_at = None
    if changed_at is not None and situation.now - changed_at < cool_s:
        return WaitFirst(f"it was changed less than {cool_s} s ago")
    return ResizeInPlace(changes)


def _unmade(pod: SizedPod) -> WaitFirst:
    return WaitFirst(f"kubelet has not made the last change yet: {pod.state}")


def _keeps_class(pod: SizedPod, changes: tuple[GivenAmount, ...]) -> bool:
    instead: dict[str, dict[Side, dict[str, Quantity]]] = {}
    for each in changes:
        sides = instead.setdefault(each.container, {})
        sides.setdefault(each.side, {})[each.resource] = each.after
    before = class_of(pod.manifest, "Pod")
    return class_with(pod.manifest, "Pod", instead) == before


def changed_fields(changes: tuple[GivenAmount, ...]) -> Iterator[str]:
    """In words, for people."""
    for each in changes:
        yield f"{each.container} {each.side}.{each.resource} {each.before} → {each.after}"
