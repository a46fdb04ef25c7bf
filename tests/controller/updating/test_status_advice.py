from dataclasses import replace

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.updating.crds import sizing_definition
from nemutator_controller.updating.objects import RecommendedForContainer, RecommendedTexts
from nemutator_controller.updating.progress import PolicyProgress
from nemutator_controller.updating.records import AmountAdvice, ContainerAdvice
from nemutator_controller.updating.status_advice import (
    LONGEST_REASON,
    MOST_CONTAINERS,
    MOST_WORKLOADS,
    recommended_for,
)

from tests.fakes.sized_pods import firm, pod_document, pod_of

POD = pod_of(pod_document(requests={"cpu": "100m", "memory": "100M"}))


def test_a_container_has_what_it_requests_and_what_is_advised_with_its_bounds() -> None:
    quantity = parse_quantity
    amount = AmountAdvice(target=quantity("150m"), lower=quantity("90m"), upper=quantity("1"))
    known = ContainerAdvice(is_firm=True, reason="900 points", last_at=1.0, amounts={"cpu": amount})
    found = recommended_for(POD, {"app": known})
    assert (found.namespace, found.kind, found.name) == ("shop", "Deployment", "web")
    assert found.containers == (
        RecommendedForContainer(
            "app",
            is_firm=True,
            requested=RecommendedTexts("100m", "100M"),
            target=RecommendedTexts("150m"),
            lower_bound=RecommendedTexts("90m"),
            upper_bound=RecommendedTexts("1"),
        ),
    )


def test_why_there_is_none_is_said() -> None:
    [one] = recommended_for(POD, {}).containers
    assert (one.is_firm, one.reason) == (False, "no advice yet")
    young = ContainerAdvice(is_firm=False, reason="x" * 999, last_at=1.0, amounts={})
    [one] = recommended_for(POD, {"app": young}).containers
    assert one.reason == "x" * LONGEST_REASON


def test_there_is_an_end_to_workloads_and_those_left_off_are_counted_once() -> None:
    done = PolicyProgress(mode="Off")
    for number in range(MOST_WORKLOADS + 7):
        for _ in range(2):
            pod = pod_of(pod_document(), workload=("shop", "Deployment", f"web-{number:03}"))
            done.advise(pod, {"app": firm(cpu="1")})
    assert len(done.workloads) == MOST_WORKLOADS
    assert len(done.workloads_left_off) == 7


@given(
    names=st.lists(st.text(max_size=400), max_size=40),
    reason=st.text(max_size=600),
    is_firm=st.booleans(),
)
def test_what_is_written_keeps_within_the_definition(
    names: list[str], reason: str, *, is_firm: bool
) -> None:
    document = pod_document()
    document["spec"]["containers"] = [{"name": name} for name in names]
    known = ContainerAdvice(is_firm=is_firm, reason=reason, last_at=1.0, amounts={})
    found = msgspec.to_builtins(recommended_for(pod_of(document), dict.fromkeys(names, known)))
    [version] = sizing_definition()["spec"]["versions"]
    status = version["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]
    schema = status["workloads"]["items"]
    assert set(found) <= set(schema["properties"])
    containers = schema["properties"]["containers"]
    assert len(found.get("containers", ())) <= min(containers["maxItems"], MOST_CONTAINERS)
    for one in found.get("containers", ()):
        assert set(one) <= set(containers["items"]["properties"])
        assert len(one["name"]) <= 253
        assert len(one.get("reason", "")) <= LONGEST_REASON


def test_what_follows_use_hourly_says_so_and_what_does_not_yet_says_why() -> None:
    exact = AmountAdvice(
        target=parse_quantity("80m"),
        lower=parse_quantity("80m"),
        upper=parse_quantity("80m"),
        hourly="nemutator-hourly",
    )
    known = replace(firm(memory="100M"), amounts={"cpu": exact})
    [one] = recommended_for(POD, {"app": known}).containers
    assert one.strategy == RecommendedTexts("nemutator-hourly")
    assert (one.target.cpu, one.reason) == ("80m", "")
    waits = replace(firm(cpu="1"), not_hourly="the last hour is not known")
    [one] = recommended_for(POD, {"app": waits}).containers
    assert one.strategy == RecommendedTexts()
    assert one.reason == "not hourly: the last hour is not known"
