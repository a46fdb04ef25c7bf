"""What the policies have come to, for people: pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from nemutator_controller.updating.decisions import changed_fields
from nemutator_controller.updating.objects import RecommendedForWorkload
from nemutator_controller.updating.records import (
    ContainerAdvice,
    LeaveAlone,
    MoveElsewhere,
    ResizeInPlace,
    SizedPod,
    SizedWorkload,
    SizingDecision,
    WaitFirst,
)
from nemutator_controller.updating.status_advice import MOST_WORKLOADS, recommended_for

MOST_SHOWN = 1_000
"""Pods of one policy that are shown; all are counted."""

WORDS = {"fits": "as advised", "given": "changed", "waits": "wait", "left": "left alone"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSizing:
    """One pod of a policy at the last look."""

    namespace: str
    workload: str
    """Kind and name."""
    pod: str
    state: str
    """fits, due (a change that Off only shows), given, waits, or left."""
    why: str


@dataclass(slots=True, kw_only=True)
class PolicyProgress:
    mode: str
    counts: Counter[str] = field(default_factory=Counter)
    pods: list[PodSizing] = field(default_factory=list)
    workloads: dict[SizedWorkload, RecommendedForWorkload] = field(default_factory=dict)
    """What is advised for some of them."""
    workloads_left_off: set[SizedWorkload] = field(default_factory=set)
    followed_hourly: int = 0
    """Containers of workloads whose CPU follows use by the hour now."""
    not_hourly: Counter[str] = field(default_factory=Counter)
    """Those for which advice holds although the policy says so, by the reason."""

    def advise(self, pod: SizedPod, advice: Mapping[str, ContainerAdvice]) -> None:
        if pod.workload in self.workloads or pod.workload in self.workloads_left_off:
            return
        for known in advice.values():
            cpu = known.amounts.get("cpu")
            self.followed_hourly += cpu is not None and bool(cpu.hourly)
            if known.not_hourly:
                self.not_hourly[known.not_hourly] += 1
        if len(self.workloads) < MOST_WORKLOADS:
            self.workloads[pod.workload] = recommended_for(pod, advice)
        else:
            self.workloads_left_off.add(pod.workload)

    def note(self, pod: SizedPod, state: str, why: str) -> None:
        self.counts[state] += 1
        if len(self.pods) < MOST_SHOWN:
            namespace, kind, name = pod.workload
            self.pods.append(
                PodSizing(
                    namespace=namespace,
                    workload=f"{kind}/{name}",
                    pod=pod.name,
                    state=state,
                    why=why,
                )
            )

    def summary(self) -> str:
        """One line for the policy's condition; the numbers, and one example of each reason to wait."""
        total = sum(self.counts.values())
        words = {"due": "would be changed", **WORDS}
        parts = [f"{self.counts[state]} {words[state]}" for state in words if self.counts[state]]
        whys: dict[str, str] = {}
        # The same ones at each look, in whichever order that took them: each new text is written.
        for each in sorted(self.pods, key=lambda one: (one.namespace, one.pod)):
            if each.state in ("waits", "left") and len(whys) < 3:
                whys.setdefault(each.why, f"{each.namespace}/{each.pod}: {each.why}")
        line = f"{total} pods" + (f": {', '.join(parts)}" if parts else "")
        return "; ".join([line, *self._hours(), *whys.values()])[:1024]

    def _hours(self) -> Iterator[str]:
        if self.followed_hourly:
            yield f"the CPU of {self.followed_hourly} containers follows use hourly"
        if self.not_hourly:
            [(reason, _)] = self.not_hourly.most_common(1)
            yield f"that of {self.not_hourly.total()} follows advice, such as: {reason}"


def state_of(decision: SizingDecision) -> tuple[str, str]:
    """The state of a pod with that decision, and why."""
    match decision:
        case ResizeInPlace(changes):
            return "due", "; ".join(changed_fields(changes))
        case WaitFirst(reason):
            return "waits", reason
        case MoveElsewhere(reason):
            return "left", reason
        case LeaveAlone(reason, is_good):
            return ("fits" if is_good else "left"), reason


def sizing_list(
    progress: Mapping[str, PolicyProgress], faulty: Mapping[str, str], namespace: str | None
) -> list[dict[str, object]]:
    """As the API shows them."""
    found: list[dict[str, object]] = [
        {
            "policy": name,
            "mode": each.mode,
            "counts": dict(each.counts),
            "pods": [_pod(one) for one in each.pods if namespace in (None, one.namespace)],
        }
        for name, each in sorted(progress.items())
    ]
    return found + [
        {"policy": name, "mode": "", "fault": fault, "counts": {}, "pods": []}
        for name, fault in sorted(faulty.items())
    ]


def _pod(one: PodSizing) -> dict[str, str]:
    return {
        "namespace": one.namespace,
        "workload": one.workload,
        "pod": one.pod,
        "state": one.state,
        "why": one.why,
    }


def open_changes(pods: Iterable[SizedPod]) -> Counter[tuple[str, str, str]]:
    """By workload: pods whose last change kubelet has not made yet."""
    return Counter(pod.workload for pod in pods if pod.state in ("Deferred", "InProgress"))
