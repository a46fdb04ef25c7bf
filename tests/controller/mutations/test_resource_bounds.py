"""Namespaces, nodes and pods bound what a policy may ask for."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.kube.quantities import Quantity, parse_quantity
from nemutator_controller.mutations.advisor import WithoutAdvice, WorkloadRef
from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.resource_bounds import (
    Instead,
    Range,
    ResourceBounds,
    Room,
    broken_by,
    growth_of,
    own_bounds,
)
from nemutator_controller.mutations.resources import (
    Amount,
    Circumstances,
    ContainerResources,
    apply,
)
from nemutator_controller.mutations.sidecars import Sidecar, Sidecars
from nemutator_controller.mutations.sidecars import apply as apply_sidecars

from tests.controller.mutations.pods import Json

WEB = WorkloadRef("default", "Deployment", "web")
NO_ADVICE = WithoutAdvice("none")


def amount(text: str) -> Quantity:
    return parse_quantity(text)


def container(name: str = "app", requests: Json = None, limits: Json = None) -> Json:
    sides = {"requests": requests, "limits": limits}
    return {"name": name, "resources": {side: found for side, found in sides.items() if found}}


def pod(*containers: Json, **spec: Json) -> Json:
    return {"spec": {"containers": list(containers), **spec}}


def made(
    manifest: Json, bounds: ResourceBounds, *, kind: str = "Pod", **wanted: Any
) -> tuple[Json, list[str], list[str]]:
    """The resources of the first container, the reasons of its edits, and the warnings."""
    draft = Draft(manifest, kind)
    circumstances = Circumstances(WEB, NO_ADVICE, bounds=lambda: bounds)
    resources = ContainerResources(qos="Change", **wanted)
    warnings = apply(draft, resources, circumstances, policy="p")
    found = draft.manifest["spec"]["containers"][0]["resources"]
    return found, [edit.reason for edit in draft.edits()], warnings


def between(least: str = "", most: str = "", ratio: str = "", per: Any = "container") -> Any:
    texts = [amount(text) if text else None for text in (least, most, ratio)]
    return ResourceBounds((Range("LimitRange l", per, "cpu", *texts),))


CPU: dict[str, Any] = {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}


@pytest.mark.parametrize(
    ("bounds", "wanted", "request_", "reason"),
    [
        (between(least="200m"), Amount(ratio=0.1), "200m", "0.1 of 1; held within LimitRange l"),
        (between(most="2"), Amount(value="3"), "2", "held within LimitRange l"),
        (between(ratio="4"), Amount(ratio=0.1), "500m", "0.1 of 1; held within LimitRange l"),
        (between(ratio="3"), Amount(value="1m"), "667m", "held within LimitRange l"),
        (ResourceBounds(largest={"cpu": amount("1500m")}), Amount(value="2"), "1500m", "held within the largest node"),
        (between(least="100m"), Amount(value="500m"), "500m", ""),
    ],
)  # fmt: skip
def test_a_request_is_held_within_what_is_allowed(
    bounds: ResourceBounds, wanted: Amount, request_: str, reason: str
) -> None:
    found, reasons, warnings = made(pod(container(**CPU)), bounds, requests={"cpu": wanted})
    assert (found["requests"]["cpu"], reasons, warnings) == (request_, [reason], [])


def test_a_limit_is_held_within_what_is_allowed() -> None:
    found, _, _ = made(pod(container(**CPU)), between(most="3"), limits={"cpu": Amount(value="5")})
    assert found["limits"] == {"cpu": "3"}
    found, reasons, warnings = made(
        pod(container(**CPU)), between(ratio="2.5"), limits={"cpu": Amount(value="5")}
    )
    assert (found["limits"], reasons, warnings) == (
        {"cpu": "2500m"},
        ["held within LimitRange l"],
        [],
    )


def test_what_fits_together_only_in_part_is_left_alone() -> None:
    found, _, [warning] = made(
        pod(container(**CPU)), between(most="2", per="pod"), limits={"cpu": Amount(value="3")}
    )
    assert found == CPU
    assert warning == (
        "policy p: resources left alone: LimitRange l: of cpu, its limit is too large"
    )


QUOTA = ResourceBounds(rooms=(Room("ResourceQuota q", "requests", "memory", amount("1Gi")),))


def test_a_quota_counts_all_containers_and_what_is_left() -> None:
    two = pod(
        container(requests={"memory": "256Mi"}), container("side", requests={"memory": "512Mi"})
    )
    found, _, warnings = made(two, QUOTA, requests={"memory": Amount(value="500Mi")})
    assert (found["requests"]["memory"], warnings) == ("500Mi", [])
    found, _, [warning] = made(two, QUOTA, requests={"memory": Amount(value="600Mi")})
    assert found["requests"]["memory"] == "256Mi"
    assert warning == (
        "policy p: resources left alone:"
        " ResourceQuota q has 1Gi left for requests.memory, not 1200Mi"
    )


def test_a_pod_that_a_quota_refuses_anyway_is_changed_as_the_policy_says() -> None:
    large = pod(container(requests={"memory": "2Gi"}))
    found, _, warnings = made(large, QUOTA, requests={"memory": Amount(value="3Gi")})
    assert (found["requests"]["memory"], warnings) == ("3Gi", [])


def test_the_original_counts_and_not_what_an_earlier_policy_has_made() -> None:
    draft = Draft(pod(container(requests={"memory": "1Gi"})), "Pod")
    circumstances = Circumstances(WEB, NO_ADVICE, bounds=lambda: QUOTA)
    smaller, larger = (
        apply(
            draft,
            ContainerResources(requests={"memory": Amount(value=text)}),
            circumstances,
            policy="p",
        )
        for text in ("256Mi", "2Gi")
    )
    assert (smaller, len(larger)) == ([], 1)
    [edit] = draft.edits()
    assert edit.after == ("256Mi",)


def test_a_missing_request_is_its_limit_and_init_containers_count_as_they_run() -> None:
    spec = pod(
        container(limits={"cpu": "1"}),
        container("second", requests={"cpu": "1"}),
        initContainers=[
            container("first", requests={"cpu": "5"}),
            container("proxy", requests={"cpu": "2"}) | {"restartPolicy": "Always"},
            container("last", requests={"cpu": "3"}),
        ],
        overhead={"cpu": "250m"},
    )
    # The two that run with the proxy beside them make 4, but the last one before them makes 5 with it.
    for left, fits in (("5250m", True), ("5249m", False)):
        bounds = ResourceBounds(rooms=(Room("q", "requests", "cpu", amount(left)),))
        assert (not broken_by(spec, "Pod", {}, bounds)) == fits
    instead: Instead = {"app": {"requests": {"cpu": amount("3500m")}}}
    bounds = ResourceBounds(rooms=(Room("q", "requests", "cpu", amount("6749m")),))
    assert list(broken_by(spec, "Pod", instead, bounds).values()) == [
        "q has 6749m left for requests.cpu, not 6750m"
    ]


OWN = {"requests": {"cpu": "2"}, "limits": {"cpu": "3"}}


def test_containers_stay_within_what_their_pod_has_for_all_of_them() -> None:
    both = container(requests={"cpu": "500m"}), container("side", requests={"cpu": "1"})
    manifest = pod(*both, resources=OWN)
    found, _, warnings = made(manifest, ResourceBounds(), requests={"cpu": Amount(value="1")})
    assert (found["requests"]["cpu"], warnings) == ("1", [])
    found, _, [warning] = made(manifest, ResourceBounds(), requests={"cpu": Amount(value="2")})
    assert found["requests"]["cpu"] == "500m"
    assert "the pod's own request has 2 left for requests.cpu, not 4" in warning
    found, reasons, _ = made(manifest, ResourceBounds(), limits={"cpu": Amount(value="8")})
    assert found["limits"]["cpu"] == "3"
    assert reasons[0] == "held within the pod's own limit"


@pytest.mark.parametrize("bounds", [ResourceBounds(), between(least="10m", most="4")])
def test_a_container_that_is_added_beside_breaks_nothing_by_what_it_does_not_say(
    bounds: ResourceBounds,
) -> None:
    draft = Draft(pod(container(**CPU), resources=OWN), "Pod")
    apply_sidecars(draft, Sidecars(add=(Sidecar(name="proxy", image="proxy:1"),)), policy="p")
    circumstances = Circumstances(WEB, NO_ADVICE, bounds=lambda: bounds)
    half = ContainerResources(requests={"cpu": Amount(ratio=0.5)})
    assert apply(draft, half, circumstances, policy="p") == []
    assert draft.manifest["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "500m"


def test_what_a_pod_has_for_all_containers_is_what_a_quota_counts() -> None:
    manifest = pod(container(requests={"cpu": "100m"}), resources=OWN)
    bounds = ResourceBounds(rooms=(Room("q", "requests", "cpu", amount("1")),))
    # The quota refuses it as it is, and no container makes a difference.
    found, _, warnings = made(manifest, bounds, requests={"cpu": Amount(value="1")})
    assert (found["requests"]["cpu"], warnings) == ("1", [])
    assert not own_bounds(pod(container()), "Pod")


cpus = st.integers(1, 40).map(lambda number: f"{number * 100}m")
sections = st.fixed_dictionaries({}, optional={"requests": cpus, "limits": cpus})
bounded = st.builds(
    ResourceBounds,
    st.lists(
        st.builds(
            Range,
            st.just("r"),
            st.sampled_from(["container", "pod"]),
            st.just("cpu"),
            *(st.none() | cpus.map(amount) for _ in range(2)),
            st.none() | st.integers(10, 40).map(lambda tenths: Quantity(tenths * 10**8)),
        ),
        max_size=2,
    ).map(tuple),
    st.lists(
        st.builds(
            Room, st.just("q"), st.sampled_from(["requests", "limits"]), st.just("cpu"), cpus.map(amount)
        ),
        max_size=2,
    ).map(tuple),
    st.just({}) | cpus.map(lambda text: {"cpu": amount(text)}),
)  # fmt: skip
wishes = st.none() | st.builds(Amount, value=cpus) | st.builds(Amount, ratio=st.floats(0.1, 5))


@given(st.lists(sections, min_size=1, max_size=3), bounded, wishes, wishes)
def test_no_bound_is_broken_that_was_not(
    asked: list[dict[str, str]], bounds: ResourceBounds, request_: Amount | None, limit: Any
) -> None:
    manifest = pod(
        *(
            container(
                f"c{at}",
                *({"cpu": each[side]} if side in each else None for side in ("requests", "limits")),
            )
            for at, each in enumerate(asked)
        )
    )
    draft = Draft(manifest, "Pod")
    wanted = ContainerResources(
        requests={"cpu": request_} if request_ else {},
        limits={"cpu": limit} if limit else {},
        qos="Change",
    )
    apply(draft, wanted, Circumstances(WEB, NO_ADVICE, bounds=lambda: bounds), policy="p")
    before, after = (broken_by(each, "Pod", {}, bounds) for each in (manifest, draft.manifest))
    assert after.keys() <= before.keys()


@given(sections, sections, sections, st.sampled_from(["requests", "limits"]), cpus)
def test_what_a_pod_grows_by_fits_into_a_room_that_it_does_not_break(
    own: Json, beside: Json, instead: Json, side: Any, left: str
) -> None:
    def cpu(section: Json) -> Json:
        return {each: {"cpu": text} for each, text in section.items()}

    manifest = pod(container("app", **cpu(own)), container("side", **cpu(beside)))
    other: Instead = {"app": {each: {"cpu": amount(text)} for each, text in instead.items()}}
    room = Room("q", side, "cpu", amount(left))
    bounds = ResourceBounds(rooms=(room,))
    breaks = broken_by(manifest, "Pod", other, bounds).keys() - broken_by(
        manifest, "Pod", {}, bounds
    )
    assert all(each.fits(room) for each in growth_of(manifest, "Pod", other)) == (not breaks)
