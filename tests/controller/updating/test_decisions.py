from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from nemutator_controller.kube.quantities import Quantity, parse_quantity
from nemutator_controller.mutations.decisions import Edit
from nemutator_controller.mutations.edits import apply_edits
from nemutator_controller.mutations.qos import class_of
from nemutator_controller.mutations.skips import Skips
from nemutator_controller.mutations.stamps import Stamp, in_full, stamping
from nemutator_controller.updating.decisions import (
    VERB,
    SizingSituation,
    changed_fields,
    decide,
)
from nemutator_controller.updating.model import sizing_of
from nemutator_controller.updating.records import (
    AmountAdvice,
    ContainerAdvice,
    LeaveAlone,
    MoveElsewhere,
    ResizeInPlace,
    SizedPod,
    SizingDecision,
    WaitFirst,
)

from tests.fakes.sized_pods import Json, firm, pod_document, pod_of

NOW = 1e9
DAY_OLD = SizingSituation(now=NOW, running=3)


def decided(
    pod: SizedPod,
    advice: ContainerAdvice | None,
    situation: SizingSituation = DAY_OLD,
    **spec: Any,
) -> SizingDecision:
    return decide(
        pod,
        sizing_of("p", {"mode": "InPlace", **spec}),
        {} if advice is None else {"app": advice},
        situation,
    )


def why(decision: SizingDecision) -> str:
    assert isinstance(decision, LeaveAlone | WaitFirst), decision
    return decision.reason


def fields(decision: SizingDecision) -> list[str]:
    assert isinstance(decision, ResizeInPlace), decision
    return list(changed_fields(decision.changes))


SMALL = pod_of(pod_document(requests={"cpu": "100m", "memory": "100M"}))


def test_requests_become_what_is_advised() -> None:
    found = decided(SMALL, firm(cpu="150m", memory="60M"))
    assert fields(found) == ["app requests.cpu 100m → 150m", "app requests.memory 100M → 60M"]


def test_less_than_a_tenth_is_not_worth_a_change() -> None:
    found = decided(SMALL, firm(cpu="104m", memory="104M"))
    assert found == LeaveAlone("it differs by 8% only", is_good=True)
    assert decided(SMALL, firm(cpu="100m", memory="100M")) == LeaveAlone(
        "it has what it needs", is_good=True
    )


def test_a_young_pod_waits_unless_it_is_out_of_the_bounds() -> None:
    young = replace(SMALL, created_at=NOW - 60)
    assert why(decided(young, firm(cpu="200m"))) == "it has not run for 43200 s"
    low = AmountAdvice(target=parse_quantity("200m"), lower=parse_quantity("120m"))
    out = replace(firm(), amounts={"cpu": low})
    assert fields(decided(young, out)) == ["app requests.cpu 100m → 200m"]
    fair = AmountAdvice(target=parse_quantity("200m"), lower=parse_quantity("90m"))
    assert isinstance(decided(young, replace(firm(), amounts={"cpu": fair})), WaitFirst)


@pytest.mark.parametrize(
    ("advice", "reason"),
    [
        (None, "app: cpu: no advice yet"),
        (replace(firm(cpu="1"), is_firm=False, reason="12 of 100 points"), "12 of 100 points"),
        (firm(last_at=NOW - 7_200, cpu="1"), "its advice is too old"),
    ],
)
def test_without_good_advice_nothing_is_changed(
    advice: ContainerAdvice | None, reason: str
) -> None:
    assert reason in why(decided(SMALL, advice))


@pytest.mark.parametrize(
    ("pod", "situation", "reason"),
    [
        (replace(SMALL, skips=Skips(everything=True)), DAY_OLD, "annotations"),
        (replace(SMALL, skips=Skips(verbs=frozenset({"resources"}))), DAY_OLD, "annotations"),
        (SMALL, replace(DAY_OLD, vertical_autoscaler="web"), "VerticalPodAutoscaler web"),
        (SMALL, replace(DAY_OLD, running=0), "0 of at least 1 pods run"),
        (SMALL, replace(DAY_OLD, autoscaled=frozenset({"cpu"})), "HorizontalPodAutoscaler"),
        (SMALL, replace(DAY_OLD, node={"cpu": parse_quantity("1")}), "its node has 1 for pods"),
        (SMALL, replace(DAY_OLD, refused="exceeds quota"), "refused: exceeds quota"),
        (SMALL, replace(DAY_OLD, changed_at=NOW - 60), "changed less than 3600 s ago"),
        (replace(SMALL, state="Infeasible"), DAY_OLD, "kubelet cannot make"),
        (replace(SMALL, state="Deferred"), DAY_OLD, "kubelet has not made"),
        (
            SMALL,
            replace(
                DAY_OLD,
                taken_back=frozenset({"containers[name=app].resources.requests.cpu"}),
            ),
            "it was taken back",
        ),
    ],
)
def test_whoever_must_not_be_changed_is_not(
    pod: SizedPod, situation: SizingSituation, reason: str
) -> None:
    assert reason in why(decided(pod, firm(cpu="2"), situation))


def test_one_step_is_no_larger_than_the_policy_says() -> None:
    resources = {"cpu": {"largestStepPercent": 50}}
    assert fields(decided(SMALL, firm(cpu="1"), resources=resources)) == [
        "app requests.cpu 100m → 150m"
    ]
    assert fields(decided(SMALL, firm(cpu="1m"), resources=resources)) == [
        "app requests.cpu 100m → 67m"
    ]


def test_a_memory_limit_is_raised_with_its_request_and_never_lowered() -> None:
    document = pod_document(requests={"cpu": "100m", "memory": "100M"}, limits={"memory": "150M"})
    assert fields(decided(pod_of(document), firm(memory="180M"))) == [
        "app requests.memory 100M → 180M",
        "app limits.memory 150M → 180M",
    ]
    assert fields(decided(pod_of(document), firm(memory="60M"))) == [
        "app requests.memory 100M → 60M"
    ]


def test_a_guaranteed_pod_stays_so() -> None:
    both = {"cpu": "100m", "memory": "100M"}
    pod = pod_of(pod_document(requests=both, limits=both))
    assert fields(decided(pod, firm(cpu="150m", memory="150M"))) == [
        "app requests.cpu 100m → 150m",
        "app limits.cpu 100m → 150m",
        "app requests.memory 100M → 150M",
        "app limits.memory 100M → 150M",
    ]
    assert "its memory limit would have to fall" in why(decided(pod, firm(memory="50M")))


def test_what_somebody_else_has_changed_since_stays() -> None:
    path = "containers[name=app].resources.requests.cpu"
    edit = Edit(path=path, before=("50m",), after=("0.1",), verb=VERB, policy="p")
    text = in_full(Stamp("d1", (edit,)))
    assert text is not None
    ours = pod_of(apply_edits(dict(SMALL.manifest), [stamping((), text)], "Pod"))
    assert fields(decided(ours, firm(cpu="200m"))) == ["app requests.cpu 100m → 200m"]
    theirs = structs.replace(edit, before=("100m",), after=("90m",))
    changed = pod_of(apply_edits(dict(ours.manifest), [theirs], "Pod"))
    assert why(decided(changed, firm(cpu="200m"))) == (
        f"somebody else has changed {path} since nemutator did"
    )
    unreadable = replace(ours, stamp="{")
    assert "no room" in why(decided(unreadable, firm(cpu="200m")))


CPU = st.integers(min_value=1, max_value=4_000).map(lambda millis: f"{millis}m")
MEMORY = st.integers(min_value=1, max_value=10**10).map(str)
SIDE = st.fixed_dictionaries({}, optional={"cpu": CPU, "memory": MEMORY})


@st.composite
def sound_pods(draw: st.DrawFn) -> SizedPod:
    """Requests are at most the limits, as an API server has it."""
    requests, limits = draw(SIDE), draw(SIDE)
    for name, limit in limits.items():
        asked = parse_quantity(requests.get(name, limit))
        requests[name] = str(min(asked, parse_quantity(limit)))
        if draw(st.booleans()):
            requests[name] = limit
    return pod_of(pod_document(requests=requests, limits=limits))


BOUNDS = st.fixed_dictionaries(
    {"largestStepPercent": st.integers(1, 1_000)},
    optional={"min": st.sampled_from(["10m", "100m"]), "max": st.sampled_from(["200m", "3"])},
)


@given(sound_pods(), CPU, MEMORY, BOUNDS)
def test_what_is_given_keeps_class_bounds_and_limits_and_then_rests(
    pod: SizedPod, cpu: str, memory: str, bounds: Json
) -> None:
    advice = firm(cpu=cpu, memory=memory)
    resources = {"cpu": bounds}
    found = decided(pod, advice, resources=resources)
    if not isinstance(found, ResizeInPlace):
        return
    edits = [
        Edit(
            path=each.path,
            before=(str(each.before),),
            after=(str(each.after),),
            verb=VERB,
            policy="p",
        )
        for each in found.changes
    ]
    document = apply_edits(dict(pod.manifest), edits, "Pod")
    assert class_of(document, "Pod") == class_of(dict(pod.manifest), "Pod")
    after = pod_of(document)
    container, before = after.containers[0], pod.containers[0]
    for name, limit in container.limits.items():
        assert container.requests[name] <= limit
    if "memory" in before.limits:
        assert container.limits["memory"] >= before.limits["memory"]
    if "cpu" in before.requests:
        least = min(before.requests["cpu"], parse_quantity(bounds.get("min", "1m")))
        most = max(before.requests["cpu"], parse_quantity(bounds.get("max", "100")))
        assert least <= container.requests["cpu"] <= most
        step = Quantity(before.requests["cpu"].nanos * (100 + bounds["largestStepPercent"]) // 100)
        assert container.requests["cpu"] <= step
    assert container.requests.keys() == before.requests.keys()
    rested = decided(after, advice, replace(DAY_OLD, changed_at=NOW), resources=resources)
    assert not isinstance(rested, ResizeInPlace)


def test_all_containers_of_a_pod_must_fit_its_node_together() -> None:
    document = pod_document(requests={"cpu": "100m", "memory": "100M"})
    document["spec"]["containers"].append(
        {"name": "side", "resources": {"requests": {"cpu": "900m"}}}
    )
    pod = pod_of(document)
    room = replace(DAY_OLD, node={"cpu": parse_quantity("1")})
    assert why(decided(pod, firm(cpu="150m"), room)) == "its node has 1 for pods, not 1050m"
    moved = decided(pod, firm(cpu="150m", memory="200M"), room, mode="Evict")
    assert isinstance(moved, MoveElsewhere)
    assert fields(moved.meanwhile) == ["app requests.memory 100M → 200M"]
    assert moved.needs["cpu"] == parse_quantity("1050m")
