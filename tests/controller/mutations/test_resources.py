from tests.controller.mutations.sized_pods import amounts, wishes

"""Requests and limits: bounded, beside each other, once, and without a surprise for kubelet."""

from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.mutations.advisor import Name, NoAdvice, RecommendedAmount
from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.qos import class_of
from nemutator_controller.mutations.resources import (
    Amount,
    Circumstances,
    ContainerResources,
    apply,
    faults,
)

from tests.controller.mutations.pods import Json
from tests.controller.mutations.sized_pods import UNSTAMPED, WEB, pod


def applied(
    resources: Json, wanted: ContainerResources, circumstances: Circumstances = UNSTAMPED
) -> tuple[Json, list[str]]:
    draft = Draft(pod(resources), "Pod")
    warnings = apply(draft, wanted, circumstances, policy="p")
    return draft.manifest["spec"]["containers"][0].get("resources"), warnings


@dataclass(frozen=True)
class Known:
    answer: RecommendedAmount | NoAdvice

    def advise(self, *_: Any) -> RecommendedAmount | NoAdvice:
        return self.answer


def test_a_value_is_written_as_the_api_server_would() -> None:
    wanted = ContainerResources(
        requests={"cpu": Amount(value="0.5"), "memory": Amount(value="1024Mi")}
    )
    made, warnings = applied({"requests": {"cpu": "1"}}, wanted)
    assert made == {"requests": {"cpu": "500m", "memory": "1Gi"}}
    assert warnings == []


def test_the_same_amount_in_other_words_is_no_change() -> None:
    draft = Draft(pod({"requests": {"cpu": "1000m"}}), "Pod")
    apply(draft, ContainerResources(requests={"cpu": Amount(value="1")}), UNSTAMPED, policy="p")
    assert draft.edits() == ()


def test_a_share_is_of_what_is_there() -> None:
    wanted = ContainerResources(requests={"cpu": Amount(ratio=0.2), "memory": Amount(ratio=0.1)})
    made, _ = applied({"requests": {"cpu": "1"}}, wanted)
    assert made == {"requests": {"cpu": "200m"}}


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        (Amount(ratio=0.001, min="50m"), "50m"),
        (Amount(ratio=9.0, max="2"), "2"),
        (Amount(ratio=0.0001), "1m"),
        (Amount(ratio=0.3333), "334m"),
    ],
)
def test_amounts_are_bounded_and_whole(amount: Amount, expected: str) -> None:
    made, _ = applied({"requests": {"cpu": "1"}}, ContainerResources(requests={"cpu": amount}))
    assert made["requests"]["cpu"] == expected


def test_a_request_stays_below_its_limit_and_a_limit_above_its_request() -> None:
    made, _ = applied(
        {"limits": {"cpu": "1"}, "requests": {"cpu": "100m"}},
        ContainerResources(requests={"cpu": Amount(value="4")}, qos="Change"),
    )
    assert made["requests"]["cpu"] == "1"
    made, _ = applied(
        {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}},
        ContainerResources(limits={"cpu": Amount(value="500m")}, qos="Change"),
    )
    assert made["limits"]["cpu"] == "1"


@pytest.mark.parametrize(
    ("limits", "expected"),
    [({"memory": "64Mi"}, {"memory": "128Mi"}), ({"memory": "1Gi"}, {"memory": "1Gi"}), ({}, None)],
)
def test_a_request_raises_its_limit_where_that_is_wanted_and_makes_none(
    limits: Json, expected: Json
) -> None:
    wanted = ContainerResources(requests={"memory": Amount(value="128Mi", raise_limit=True)})
    given = {"requests": {"memory": "32Mi"}, **({"limits": limits} if limits else {})}
    made, warnings = applied(given, wanted)
    assert (made["requests"], made.get("limits")) == ({"memory": "128Mi"}, expected)
    assert warnings == []
    least = Amount(ratio_of_limit=0.5, min="128Mi", raise_limit=True)
    made, _ = applied(given, ContainerResources(requests={"memory": least}))
    assert (made["requests"] != given["requests"], made.get("limits")) == (bool(limits), expected)
    most = Amount(value="4Gi", max="128Mi", raise_limit=True)
    made, _ = applied(given, ContainerResources(requests={"memory": most}))
    assert (made["requests"], made.get("limits")) == ({"memory": "128Mi"}, expected)
    alone = ContainerResources(limits={"memory": Amount(value="1Gi", raise_limit=True)})
    assert list(faults(alone)) == ["limits.memory.raiseLimit: only requests raise their limit"]


def test_a_limit_comes_down_together_with_its_request() -> None:
    both = ContainerResources(
        limits={"cpu": Amount(value="200m"), "memory": Amount(ratio=0.5)},
        requests={"cpu": Amount(value="100m"), "memory": Amount(ratio=0.25)},
    )
    made, warnings = applied(
        {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1", "memory": "768Mi"}}, both
    )
    assert made == {
        "limits": {"cpu": "200m", "memory": "512Mi"},
        "requests": {"cpu": "100m", "memory": "192Mi"},
    }
    assert warnings == []


@pytest.mark.parametrize("left", ["limits", "requests"])
def test_what_was_taken_back_on_one_side_holds_the_other(left: str) -> None:
    asked = {"limits": {"cpu": "1"}, "requests": {"cpu": "500m"}}
    higher = ContainerResources(
        limits={"cpu": Amount(value="4")}, requests={"cpu": Amount(value="2")}
    )
    lower = ContainerResources(
        limits={"cpu": Amount(value="200m")}, requests={"cpu": Amount(value="100m")}
    )
    path = f"containers[name=app].resources.{left}.cpu"
    for wanted in (higher, lower):
        draft = Draft(pod(asked), "Pod", leave=frozenset({path}))
        apply(draft, wanted, UNSTAMPED, policy="p")
        made = draft.manifest["spec"]["containers"][0]["resources"]
        assert made[left] == asked[left]
        requested, limit = (parse_quantity(made[side]["cpu"]) for side in ("requests", "limits"))
        assert requested <= limit


def test_a_limit_that_cannot_come_down_is_no_change() -> None:
    draft = Draft(pod({"limits": {"cpu": "1000m"}, "requests": {"cpu": "1"}}), "Pod")
    apply(draft, ContainerResources(limits={"cpu": Amount(value="0.5")}), UNSTAMPED, policy="p")
    assert draft.edits() == ()


def test_who_is_held_back_for_the_class_has_changed_nothing() -> None:
    draft = Draft(pod({"requests": {"cpu": "1"}}), "Pod")
    first = ContainerResources(requests={"cpu": Amount(value="2")})
    apply(draft, first, UNSTAMPED, policy="first")
    guaranteed: dict[Name, Amount] = {"cpu": Amount(value="3"), "memory": Amount(value="1Gi")}
    second = ContainerResources(requests=guaranteed, limits=guaranteed)
    [warning] = apply(draft, second, UNSTAMPED, policy="second")
    assert "Burstable would become Guaranteed" in warning
    [edit] = draft.edits()
    assert (edit.after, edit.policy) == (("2",), "first")


def test_advice_is_written_with_its_reason() -> None:
    advice = RecommendedAmount(parse_quantity("123456n"), "p95 of 212 points")
    circumstances = Circumstances(WEB, Known(advice))
    draft = Draft(pod({"requests": {"cpu": "1"}}), "Pod")
    wanted = ContainerResources(requests={"cpu": Amount(advice=True, min="10m")})
    apply(draft, wanted, circumstances, policy="p")
    [edit] = draft.edits()
    assert (edit.after, edit.reason) == (("10m",), "p95 of 212 points")


def test_no_advice_is_a_warning_and_no_change() -> None:
    wanted = ContainerResources(requests={"cpu": Amount(advice=True)})
    made, warnings = applied({"requests": {"cpu": "1"}}, wanted)
    assert made == {"requests": {"cpu": "1"}}
    assert warnings == [
        (
            "policy p: containers[name=app].resources.requests.cpu: "
            "no advice has come from the brain yet"
        )
    ]


def test_a_pod_may_refuse_what_was_measured() -> None:
    circumstances = Circumstances(
        WEB, Known(RecommendedAmount(parse_quantity("1m"), "")), measured=False
    )
    wanted = ContainerResources(requests={"cpu": Amount(advice=True)})
    assert applied({"requests": {"cpu": "1"}}, wanted, circumstances) == (
        {"requests": {"cpu": "1"}},
        [],
    )


def test_the_class_stays_unless_the_policy_says_otherwise() -> None:
    wanted = ContainerResources(requests={"cpu": Amount(value="1")})
    made, [warning] = applied({}, wanted)
    assert not made
    assert "BestEffort would become Burstable" in warning
    made, warnings = applied({}, msgspec.structs.replace(wanted, qos="Change"))
    assert (made, warnings) == ({"requests": {"cpu": "1"}}, [])


def test_only_containers_that_are_named() -> None:
    wanted = ContainerResources(
        containers=("web-*",), requests={"cpu": Amount(value="1")}, qos="Change"
    )
    assert applied({}, wanted) == ({}, [])


def test_requests_do_not_exceed_what_the_pod_has_for_all_containers() -> None:
    manifest = pod({"requests": {"cpu": "1"}})
    manifest["spec"]["resources"] = {"requests": {"cpu": "2"}}
    draft = Draft(manifest, "Pod")
    wanted = ContainerResources(requests={"cpu": Amount(value="3")})
    [warning] = apply(draft, wanted, UNSTAMPED, policy="p")
    assert draft.edits() == ()
    assert "the pod's own request has 2 left for requests.cpu, not 3" in warning


@pytest.mark.parametrize(
    ("resources", "fault"),
    [
        (ContainerResources(), "requests: name at least one amount"),
        (ContainerResources(requests={"cpu": Amount()}), "requests.cpu: expected exactly one of"),
        (
            ContainerResources(limits={"cpu": Amount(value="1", advice=True)}),
            "limits.cpu: expected exactly one of",
        ),
        (ContainerResources(requests={"cpu": Amount(value="x")}), "requests.cpu.value: 'x'"),
        (
            ContainerResources(requests={"cpu": Amount(value="-1")}),
            "requests.cpu.value: expected more",
        ),
        (
            ContainerResources(requests={"cpu": Amount(ratio=1, min="2", max="1")}),
            "requests.cpu.min: above max",
        ),
    ],
)
def test_what_cannot_be_done_is_named(resources: ContainerResources, fault: str) -> None:
    assert any(each.startswith(fault) for each in faults(resources))


@pytest.mark.parametrize("ratio", [0, -1, 100.5, float("nan"), float("inf"), "1"])
def test_a_share_is_more_than_nothing_and_at_most_a_hundredfold(ratio: object) -> None:
    assert msgspec.convert({"ratio": 100}, Amount) == Amount(ratio=100.0)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"ratio": ratio}, Amount)


@pytest.mark.parametrize(
    ("limit", "ratio", "request_"),
    [
        ("1Gi", 0.8, "820Mi"),
        ("1024Mi", 0.8, "820Mi"),
        ("1536Mi", 0.8, "1229Mi"),
        ("64Mi", 0.1, "6554Ki"),
        ("150Mi", 0.5, "75Mi"),
        ("1G", 0.333, "333M"),
        ("134217728", 0.8, "107374183"),
        ("1Gi", 1, "1Gi"),
        ("100", 0.001, "1"),
    ],
)
def test_a_share_of_a_limit_keeps_the_units_of_people(
    limit: str, ratio: float, request_: str
) -> None:
    wanted = ContainerResources(requests={"memory": Amount(ratio_of_limit=ratio)}, qos="Change")
    made, warnings = applied({"limits": {"memory": limit}}, wanted)
    assert (made["requests"]["memory"], warnings) == (request_, [])


def test_a_share_of_a_limit_is_one_of_the_limit_that_it_gets() -> None:
    half = Amount(ratio_of_limit=0.5)
    wanted = ContainerResources(requests={"cpu": half}, limits={"cpu": Amount(value="500m")})
    made, _ = applied({"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}, wanted)
    assert made == {"requests": {"cpu": "250m"}, "limits": {"cpu": "500m"}}
    # Without a limit there is nothing to share.
    assert applied({"requests": {"cpu": "1"}}, ContainerResources(requests={"cpu": half})) == (
        {"requests": {"cpu": "1"}},
        [],
    )


def test_only_a_request_is_a_share_of_a_limit() -> None:
    wanted = ContainerResources(limits={"cpu": Amount(ratio_of_limit=0.5)})
    assert list(faults(wanted)) == ["limits.cpu.ratioOfLimit: only requests are a share of limits"]


@pytest.mark.parametrize("containers", [[], [""], ["x" * 254], ["*"] * 65])
def test_globs_on_containers_are_few_and_short(containers: list[str]) -> None:
    most = ["*"] * 64
    assert msgspec.convert({"containers": most}, ContainerResources).containers == tuple(most)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"containers": containers}, ContainerResources)


sections = st.dictionaries(st.sampled_from(["cpu", "memory"]), amounts)
wanted_resources = st.builds(
    ContainerResources,
    requests=st.dictionaries(st.sampled_from(["cpu", "memory"]), wishes),
    limits=st.dictionaries(st.sampled_from(["cpu", "memory"]), wishes),
    qos=st.sampled_from(["Keep", "Change"]),
)


@pytest.mark.slow
@given(
    st.fixed_dictionaries({}, optional={"requests": sections, "limits": sections}), wanted_resources
)
def test_what_was_valid_stays_valid(resources: Json, wanted: ContainerResources) -> None:
    limits, requests = resources.get("limits", {}), resources.get("requests", {})
    for name in limits.keys() & requests.keys():
        if parse_quantity(requests[name]) > parse_quantity(limits[name]):
            requests[name] = limits[name]
    draft = Draft(pod(resources), "Pod")
    apply(draft, wanted, UNSTAMPED, policy="p")
    made = draft.manifest["spec"]["containers"][0].get("resources") or {}
    for name in made.get("limits", {}).keys() & made.get("requests", {}).keys():
        assert parse_quantity(made["requests"][name]) <= parse_quantity(made["limits"][name])
    if wanted.qos == "Keep":
        assert class_of(draft.manifest, "Pod") == class_of(pod(resources), "Pod")
