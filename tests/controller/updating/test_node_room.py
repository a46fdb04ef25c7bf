from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.kube.quantities import Format, Quantity, parse_quantity
from nemutator_controller.updating.node_room import lacking, needs_of
from nemutator_controller.updating.records import GivenAmount

from tests.fakes.sized_pods import pod_document, pod_of


def two_containers() -> dict[str, object]:
    document = pod_document(requests={"cpu": "100m"}, limits={"memory": "1Gi"})
    side = {"name": "side", "resources": {"requests": {"cpu": "300m", "memory": "10M"}}}
    document["spec"]["containers"].append(side)
    return document


def change(cpu: str, side: str = "requests") -> GivenAmount:
    return GivenAmount(
        container="app",
        side=side,  # type: ignore[arg-type]
        resource="cpu",
        before=parse_quantity("100m"),
        after=parse_quantity(cpu),
        reason="",
    )


def test_all_containers_count_and_changes_with_them() -> None:
    pod = pod_of(two_containers())
    wanted = {"cpu": parse_quantity("400m"), "memory": parse_quantity("10M")}
    assert needs_of(pod) == wanted
    assert needs_of(pod, [change("2"), change("9", "limits")])["cpu"] == parse_quantity("2300m")


def test_sidecars_count_with_them_and_init_containers_where_those_request_more() -> None:
    cpu, memory = parse_quantity("250m"), parse_quantity("1Gi")
    pod = replace(pod_of(two_containers()), beside={"cpu": cpu}, starting={"memory": memory})
    assert needs_of(pod) == {"cpu": parse_quantity("650m"), "memory": memory}
    pod = replace(pod, starting={"cpu": cpu, "memory": parse_quantity("5M")})
    assert needs_of(pod) == {"cpu": parse_quantity("650m"), "memory": parse_quantity("10M")}
    assert needs_of(pod, [change("2")])["cpu"] == parse_quantity("2550m")


def test_what_the_node_has_too_little_of_is_said() -> None:
    needs = needs_of(pod_of(two_containers()))
    assert lacking(needs, {"cpu": parse_quantity("400m")}) == {}
    assert lacking(needs, {"cpu": parse_quantity("399m")}) == {
        "cpu": "its node has 399m for pods, not 400m"
    }
    assert lacking(needs, {}) == {}


@given(st.integers(1, 10**15), st.integers(0, 10**15))
def test_a_node_that_has_more_lacks_no_more(room: int, more: int) -> None:
    needs = needs_of(pod_of(two_containers()))
    small = lacking(needs, {"cpu": Quantity(room, Format.DECIMAL)})
    assert set(lacking(needs, {"cpu": Quantity(room + more, Format.DECIMAL)})) <= set(small)
