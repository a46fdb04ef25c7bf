from dataclasses import replace

import pytest
from nemutator_common import names
from nemutator_controller.kube.quantities import Quantity, parse_quantity
from nemutator_controller.updating.evicting import APART_S, DEFERRED_S, SizingEvictions
from nemutator_controller.updating.model import SoundSizing, sizing_of
from nemutator_controller.updating.records import NotResizedError, ResourceName, SizedPod

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.sized_pods import MemorySizedPods, pod_document, pod_of


class Evictions:
    def __init__(self) -> None:
        self.clock, self.meter = ManualClock(), MemoryMeter()
        self.pods = MemorySizedPods(pod_document("web-1"))
        self.made = SizingEvictions(self.pods, fake_process(clock=self.clock, meter=self.meter))

    def pod(self, **changed: object) -> SizedPod:
        created = self.clock.now() - 86_400
        return replace(pod_of(pod_document("web-1"), created_at=created), **changed)  # type: ignore[arg-type]


def policy(**spec: object) -> SoundSizing:
    return sizing_of("p", {"mode": "Evict", **spec})


@pytest.mark.parametrize("state", ["Infeasible", "Error"])
def test_what_cannot_be_made_is_a_cause_at_once(state: str) -> None:
    assert state in Evictions().made.cause(Evictions().pod(state=state))


async def test_what_is_put_off_is_one_after_a_while_and_anew_each_time() -> None:
    one = Evictions()
    deferred = one.pod(state="Deferred")
    assert one.made.cause(deferred) == ""
    await one.clock.advance(DEFERRED_S)
    assert "put its resize off" in one.made.cause(deferred)
    assert one.made.cause(one.pod()) == ""
    assert one.made.cause(deferred) == ""


def test_who_may_not_be_evicted_is_said() -> None:
    one = Evictions()
    made, pod = one.made, one.pod()
    assert made.barred(pod, policy(), running=2, needs={}) == ""
    assert "evicts none" in made.barred(pod, policy(mode="InPlace"), running=2, needs={})
    assert "1 pods run" in made.barred(pod, policy(), running=1, needs={})
    assert "4 pods run" in made.barred(pod, policy(minReplicas=5), running=4, needs={})
    young = one.pod(created_at=one.clock.now() - 60)
    assert "too young" in made.barred(young, policy(), running=2, needs={})
    alone = one.pod(workload=("shop", "Pod", "web-1"))
    assert "nobody would make another" in made.barred(alone, policy(), running=2, needs={})


async def test_pods_of_one_workload_go_one_after_another() -> None:
    one = Evictions()
    state, why = await one.made.evict(one.pod(), policy(), "it must")
    assert (state, why.partition(";")[0]) == ("given", "evicted: it must")
    assert "evicted lately" in one.made.barred(one.pod(uid="u2"), policy(), running=3, needs={})
    await one.clock.advance(APART_S)
    assert one.made.barred(one.pod(uid="u2"), policy(), running=3, needs={}) == ""
    await one.made.evict(one.pod(uid="u2"), policy(), "x") if "u2" in one.pods.documents else None
    one.made.forget((), ())
    assert one.made.barred(one.pod(uid="u3"), policy(), running=3, needs={}) == ""


async def test_a_budget_that_does_not_allow_it_is_waited_for() -> None:
    one = Evictions()
    one.pods.budget = NotResizedError("a PodDisruptionBudget", again=True)
    assert await one.made.evict(one.pod(), policy(), "x") == (
        "waits",
        "not evicted: a PodDisruptionBudget",
    )
    assert one.meter.value(names.RESIZES, result="not_evicted") == 1
    assert one.made.barred(one.pod(), policy(), running=2, needs={}) == ""


def test_none_is_evicted_while_a_season_holds_evictions_back() -> None:
    one = Evictions()
    assert one.made.barred(one.pod(), policy(), running=3, needs={}) == ""
    one.made.held = lambda: "busy"
    assert "SeasonPolicy busy" in one.made.barred(one.pod(), policy(), running=3, needs={})


def test_none_is_evicted_for_one_that_no_node_could_take() -> None:
    one = Evictions()
    one.pods.largest_node = {"cpu": parse_quantity("4")}

    def barred(cpu: str) -> str:
        needs: dict[ResourceName, Quantity] = {"cpu": parse_quantity(cpu)}
        return one.made.barred(one.pod(), policy(), running=3, needs=needs)

    assert barred("4") == ""
    assert barred("4001m") == "no node could take the pod that comes after it"
