"""What was made ready once is what each pod would be given for itself."""

from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.mutations.amount_trials import MOST_KNOWN
from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.resource_bounds import Range, ResourceBounds, Room
from nemutator_controller.mutations.resources import (
    Amount,
    Circumstances,
    ContainerResources,
    Sizing,
    apply,
)

from tests.controller.mutations.pods import Json
from tests.controller.mutations.sized_pods import UNSTAMPED, WEB, pod, wishes

odd_amounts = st.sampled_from(
    ["0", "1m", "250m", "1", "7", "64Mi", "0.5Gi", "1e3", "100u", "1500e-3", "3Ti", "-", "Ki", "x"]
)


bounds_of_pods = st.builds(
    ResourceBounds,
    ranges=st.lists(
        st.builds(
            Range,
            st.just("r"),
            st.sampled_from(["container", "pod"]),
            st.sampled_from(["cpu", "memory"]),
            st.none() | st.sampled_from(["50m", "2"]).map(parse_quantity),
            st.none() | st.sampled_from(["500m", "4", "1Gi"]).map(parse_quantity),
            st.none() | st.just(parse_quantity("2")),
        ),
        max_size=2,
    ).map(tuple),
    rooms=st.lists(
        st.builds(
            Room,
            st.just("q"),
            st.sampled_from(["requests", "limits"]),
            st.sampled_from(["cpu", "memory"]),
            st.sampled_from(["0", "1", "64Mi", "8Gi"]).map(parse_quantity),
        ),
        max_size=2,
    ).map(tuple),
    largest=st.sampled_from(
        [{}, {"cpu": parse_quantity("2")}, {"cpu": parse_quantity("64"), "memory": parse_quantity("8Gi")}]
    ),
)  # fmt: skip


odd_wishes = st.one_of(
    wishes,
    st.builds(Amount, ratio=st.sampled_from([0.5, 1.0, 2.0]), min=st.none() | st.just("100m"),
              max=st.none() | st.just("2")),
    st.just(Amount(ratio_of_limit=0.8)),
    st.just(Amount(value="3", raise_limit=True)),
)  # fmt: skip


ODD_RESOURCES = st.builds(
    ContainerResources,
    containers=st.sampled_from([("*",), ("app*",), ("none",)]),
    requests=st.dictionaries(st.sampled_from(["cpu", "memory", "nvidia.com/gpu"]), odd_wishes),
    limits=st.dictionaries(st.sampled_from(["cpu", "memory"]), wishes),
    qos=st.sampled_from(["Keep", "Change"]),
)


ODD_SECTIONS = st.dictionaries(st.sampled_from(["cpu", "memory", "nvidia.com/gpu"]), odd_amounts)
ODD_CONTAINERS = st.fixed_dictionaries(
    {"name": st.sampled_from(["app", "app-2", "proxy"])},
    optional={
        "resources": st.none()
        | st.fixed_dictionaries({}, optional={"requests": ODD_SECTIONS, "limits": ODD_SECTIONS})
    },
)


ODD_PODS = st.fixed_dictionaries(
    {"containers": st.lists(ODD_CONTAINERS, min_size=1, max_size=3)},
    optional={
        "initContainers": st.lists(ODD_CONTAINERS, max_size=2),
        "resources": st.fixed_dictionaries({}, optional={"requests": ODD_SECTIONS}),
        "overhead": ODD_SECTIONS,
    },
).map(lambda spec: {"spec": spec})


@settings(max_examples=60, deadline=None)
@given(st.lists(ODD_PODS, min_size=1, max_size=3), ODD_RESOURCES, bounds_of_pods)
def test_what_was_made_ready_is_what_each_pod_would_be_given_alone(
    pods: list[Json], wanted: ContainerResources, bounds: ResourceBounds
) -> None:
    sizing = Sizing(wanted, "p")
    circumstances = Circumstances(WEB, UNSTAMPED.advisor, bounds=lambda: bounds)
    for each in pods * 2:
        drafts = Draft(each, "Pod"), Draft(each, "Pod")
        said = [
            apply(draft, wanted, circumstances, policy="p", sizing=known)
            for draft, known in zip(drafts, (sizing, None), strict=True)
        ]
        alone, other = drafts[1], drafts[0]
        assert said[0] == said[1]
        assert (other.manifest, other.edits()) == (alone.manifest, alone.edits())


def test_what_strangers_ask_for_is_not_kept_for_ever() -> None:
    sizing = Sizing(ContainerResources(requests={"cpu": Amount(ratio=0.5)}), "p")
    for number in range(1, MOST_KNOWN + 3):
        assert sizing.ready_of(((("cpu", str(number)),), ()), ResourceBounds()) is not None
    assert len(sizing._ready) == 2


def test_what_has_no_room_breaks_what_it_did_not_break_before() -> None:
    wanted = ContainerResources(requests={"cpu": Amount(ratio=2.0)})
    bounds = ResourceBounds(rooms=(Room("q", "requests", "cpu", parse_quantity("3")),))
    circumstances = Circumstances(WEB, UNSTAMPED.advisor, bounds=lambda: bounds)
    sizing = Sizing(wanted, "p")
    for asked, made in (("1", "2"), ("2", "2"), ("4", "8")):
        draft = Draft(pod({"requests": {"cpu": asked}}), "Pod")
        warnings = apply(draft, wanted, circumstances, policy="p", sizing=sizing)
        assert draft.manifest["spec"]["containers"][0]["resources"]["requests"]["cpu"] == made
        assert bool(warnings) == (asked == made)
