from dataclasses import replace
from typing import Any

from nemutator_common import names
from nemutator_common.admission_snapshots import Tombstone
from nemutator_common.traces import NO_TRACER, Tracer
from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.mutations.decisions import Edit
from nemutator_controller.mutations.stamps import stamp_of
from nemutator_controller.updating.evicting import SizingEvictions
from nemutator_controller.updating.records import (
    ContainerAdvice,
    NotResizedError,
    PodSurroundings,
)
from nemutator_controller.updating.resize_writing import ResizeWriter
from nemutator_controller.updating.resizing import REFUSED_FIRST_S, UNPROVEN, RunningResizes

from tests.fakes.clocks import ManualClock
from tests.fakes.hourly import MemoryHourly
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.sized_pods import (
    Json,
    MemoryAdvice,
    MemorySizedPods,
    MemorySizingJournal,
    MemorySizings,
    Replicas,
    firm,
    pod_document,
)

CPU = "containers[name=app].resources.requests.cpu"
WANTED = firm(cpu="150m", memory="100M")


class Resizes:
    def __init__(
        self,
        *pods: Json,
        advice: ContainerAdvice = WANTED,
        per_minute: float = 600,
        tracer: Tracer = NO_TRACER,
        **spec: Any,
    ) -> None:
        self.clock, self.meter = ManualClock(), MemoryMeter()
        self.pods = MemorySizedPods(*(pods or (small(),)))
        self.pods.created_at = self.clock.now() - 86_400
        self.journal, self.replicas = MemorySizingJournal(), Replicas()
        self.hourly = MemoryHourly()
        self.advice = MemoryAdvice(app=replace(advice, last_at=self.clock.now()))
        ids = iter(range(1_000))
        process = fake_process(clock=self.clock, meter=self.meter, tracer=tracer)
        self.engine = RunningResizes(
            self.pods,
            MemorySizings(p={"mode": "InPlace", **spec}),
            self.advice,
            self.journal,
            self.replicas,
            SizingEvictions(self.pods, process),
            ResizeWriter(self.pods, self.journal, process, lambda: f"d{next(ids)}"),
            process,
            self.hourly,
            per_minute=per_minute,
        )
        self.engine._room = per_minute

    def states(self) -> list[str]:
        return [each.state for each in self.engine.progress["p"].pods]

    def why(self) -> str:
        return self.engine.progress["p"].pods[0].why

    def counted(self, result: str) -> float:
        return self.meter.value(names.RESIZES, result=result)


def small(name: str = "web-1") -> Json:
    return pod_document(name, requests={"cpu": "100m", "memory": "100M"})


async def test_a_pod_is_resized_once_with_a_record_and_a_stamp() -> None:
    one = Resizes()
    await one.engine.check()
    assert one.pods.requests() == {"cpu": "150m", "memory": "100M"}
    [decision] = one.journal.decisions
    assert (decision.operation, decision.subject.owner_name) == ("RESIZE", "web")
    assert [(each.path, each.before, each.after) for each in decision.edits] == [
        (CPU, ("100m",), ("150m",))
    ]
    stamp = stamp_of(one.pods.documents["u-web-1"], "Pod")
    assert stamp is not None
    assert stamp.id == "d0"
    assert (one.states(), one.counted("given")) == (["given"], 1)
    assert "`nemutator rollback d0`" in one.pods.notes[0]
    await one.engine.check()
    assert len(one.journal.decisions) == 1
    assert one.states() == ["fits"]


async def test_an_autoscaler_that_appears_between_two_rounds_ends_changes_of_cpu_alone() -> None:
    one = Resizes(
        pod_document("web-1", requests={"cpu": "100m", "memory": "100M"}), coolDownSeconds=60
    )
    await one.engine.check()
    assert one.pods.requests()["cpu"] == "150m"
    one.pods.surroundings = PodSurroundings(autoscaled=frozenset({"cpu"}))
    one.clock.jump(86_400)
    more = firm(cpu="400m", memory="500M")
    one.engine = replace(
        one.engine, advice=MemoryAdvice(app=replace(more, last_at=one.clock.now()))
    )
    one.engine._room = 600
    await one.engine.check()
    assert one.pods.requests()["cpu"] == "150m"
    assert one.pods.requests()["memory"] != "100M"
    # A pod that runs has one decision, which keeps what was given before.
    [_, later] = one.journal.decisions
    assert {edit.path: edit.after for edit in later.edits}[CPU] == ("150m",)


async def test_off_shows_and_changes_nothing() -> None:
    one = Resizes(mode="Off")
    await one.engine.check()
    assert (one.states(), one.journal.decisions) == (["due"], [])
    assert one.why() == "app requests.cpu 100m → 150m"


async def test_nothing_is_changed_while_admission_is_not_heard() -> None:
    one = Resizes()
    one.replicas.alive = False
    await one.engine.check()
    assert (one.states(), one.why(), one.journal.decisions) == (["waits"], UNPROVEN, [])
    assert one.meter.value(names.RESIZES_PAUSED) == 1


async def test_pods_of_one_workload_go_one_after_another() -> None:
    one = Resizes(small("web-1"), small("web-2"))
    await one.engine.check()
    assert sorted(one.states()) == ["given", "waits"]
    one.pods.states["u-web-1"] = "Deferred"
    await one.engine.check()
    assert one.states() == ["waits", "waits"]
    del one.pods.states["u-web-1"]
    await one.engine.check()
    assert one.pods.requests("web-2")["cpu"] == "150m"


async def test_the_budget_of_all_holds() -> None:
    one = Resizes(small("web-1"), small("web-2"), per_minute=1, podsAtOnce=9)
    await one.engine.check()
    assert sorted(one.states()) == ["given", "waits"]


async def test_what_the_server_refuses_is_told_and_tried_again_later() -> None:
    one = Resizes()
    one.pods.refusal = NotResizedError("exceeded quota", again=False)
    await one.engine.check()
    assert (one.states(), one.journal.decisions, one.counted("refused")) == (["waits"], [], 1)
    assert one.pods.notes == ["not resized: exceeded quota"]
    one.pods.refusal = None
    await one.engine.check()
    assert one.why() == "the last change was refused: exceeded quota"
    await one.clock.advance(REFUSED_FIRST_S)
    one.advice.containers = {"app": replace(WANTED, last_at=one.clock.now())}
    await one.engine.check()
    assert one.states() == ["given"]


async def test_a_stamp_goes_again_when_the_change_was_refused_after_it() -> None:
    one = Resizes()
    one.pods.late_refusal = NotResizedError("node is gone", again=True)
    await one.engine.check()
    assert stamp_of(one.pods.documents["u-web-1"], "Pod") is None
    assert one.pods.requests()["cpu"] == "100m"
    assert one.counted("unreachable") == 1


async def test_kubelet_may_write_in_between() -> None:
    one = Resizes()
    one.pods.races = 2
    await one.engine.check()
    assert (one.states(), one.pods.requests()["cpu"]) == (["given"], "150m")


async def test_what_somebody_else_sets_back_stays_and_is_told_once() -> None:
    one = Resizes()
    await one.engine.check()
    one.pods.write("web-1", Edit(path=CPU, before=("150m",), after=("100m",), verb="x", policy=""))
    for _ in range(3):
        await one.clock.advance(7_200)
        one.advice.containers = {"app": replace(WANTED, last_at=one.clock.now())}
        await one.engine.check()
    assert one.pods.requests()["cpu"] == "100m"
    assert one.counted("foreign") == 1
    assert len([each for each in one.pods.notes if "somebody else" in each]) == 1


async def test_what_kubelet_cannot_make_is_told_once() -> None:
    one = Resizes()
    await one.engine.check()
    one.pods.states["u-web-1"] = "Infeasible"
    await one.engine.check()
    await one.engine.check()
    assert one.counted("infeasible") == 1
    assert one.states() == ["left"]


async def test_what_was_taken_back_is_not_given_again() -> None:
    one = Resizes()
    one.journal.buried.append(Tombstone("shop", "Deployment", "web", CPU))
    await one.engine.check()
    assert (one.states(), one.journal.decisions) == (["left"], [])


async def test_out_of_its_time_a_policy_waits() -> None:
    # The clock of tests stands on one day.
    days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    one = Resizes(when={"windows": [{"days": days, "from": "00:00", "to": "00:01"}]})
    await one.engine.check()
    assert one.why() == "it is not the policy's time"


async def test_a_pod_that_was_changed_before_this_brain_began_counts_as_changed_then() -> None:
    one = Resizes()
    await one.engine.check()
    other = Resizes()
    other.pods = one.pods
    other.engine.pods = one.pods
    other.engine._began_at = other.clock.now()
    other.advice.containers = {"app": firm(last_at=other.clock.now(), cpu="300m")}
    await other.engine.check()
    assert "it was changed less than" in other.why()


async def test_a_pod_that_kubelet_cannot_resize_is_evicted_where_the_policy_says_so() -> None:
    one = Resizes(small(), small("web-2"), mode="Evict", podsAtOnce=5)
    await one.engine.check()
    one.pods.states["u-web-1"] = "Infeasible"
    await one.clock.advance(3_600)
    await one.engine.check()
    assert list(one.pods.documents) == ["u-web-2"]
    assert one.counted("evicted") == 1
    assert any(note.startswith("evicted: kubelet cannot resize it") for note in one.pods.notes)


async def test_of_two_that_are_to_be_evicted_in_one_look_one_goes() -> None:
    one = Resizes(small(), small("web-2"), small("web-3"), mode="Evict", podsAtOnce=5)
    await one.engine.check()
    one.pods.states |= {"u-web-1": "Infeasible", "u-web-2": "Infeasible"}
    await one.clock.advance(3_600)
    await one.engine.check()
    assert list(one.pods.documents) == ["u-web-2", "u-web-3"]
    assert one.states().count("waits") == 1


async def test_other_modes_evict_nobody() -> None:
    one = Resizes(small(), small("web-2"), mode="InPlace", podsAtOnce=5)
    await one.engine.check()
    one.pods.states["u-web-1"] = "Infeasible"
    await one.clock.advance(3_600)
    await one.engine.check()
    assert len(one.pods.documents) == 2
    assert one.why() == "kubelet cannot make the last change: Infeasible"


async def test_what_the_api_server_refuses_is_given_by_an_eviction() -> None:
    one = Resizes(small(), small("web-2"), mode="Evict")
    one.pods.refusal = NotResizedError("resize is not known here", again=False)
    one.pods.budget = NotResizedError("a PodDisruptionBudget", again=True)
    await one.engine.check()
    assert one.states()[0] == "waits"
    await one.engine.check()
    assert "a PodDisruptionBudget" in one.why()
    assert len(one.pods.documents) == 2
    # The budget is asked at each look: a refused resize is not.
    one.pods.budget = None
    await one.engine.check()
    assert len(one.pods.documents) == 1
    assert one.states()[0] == "given"


async def test_what_a_quota_refuses_evicts_nobody_because_it_refuses_the_next_pod_too() -> None:
    one = Resizes(small(), small("web-2"), mode="Evict")
    one.pods.refusal = NotResizedError("exceeded quota", again=False, for_new=True)
    for _ in range(3):
        await one.engine.check()
    assert len(one.pods.documents) == 2
    assert one.why() == "the last change was refused: exceeded quota"


async def test_a_pod_whose_node_is_too_small_goes_to_a_larger_one_if_there_is_one() -> None:
    one = Resizes(small(), small("web-2"), mode="Evict")
    one.pods.surroundings = PodSurroundings(node={"cpu": parse_quantity("120m")})
    one.pods.largest_node = {"cpu": parse_quantity("149m")}
    await one.engine.check()
    assert "its node has 120m for pods, not 150m; not evicted: no node could" in one.why()
    assert len(one.pods.documents) == 2
    one.pods.largest_node = {"cpu": parse_quantity("150m")}
    await one.engine.check()
    assert list(one.pods.documents) == ["u-web-2"]


async def test_what_its_node_has_room_for_is_given_where_it_is_while_it_cannot_move() -> None:
    wanted = firm(cpu="150m", memory="200M")
    one = Resizes(small(), mode="Evict", advice=wanted)
    one.pods.surroundings = PodSurroundings(node={"cpu": parse_quantity("120m")})
    await one.engine.check()
    assert one.pods.requests() == {"cpu": "100m", "memory": "200M"}


async def test_initial_only_shows_what_running_pods_would_get() -> None:
    one = Resizes(mode="Initial")
    await one.engine.check()
    assert one.states() == ["due"]
    assert one.pods.requests() == {"cpu": "100m", "memory": "100M"}


class OffPeak(Resizes):
    """By a policy of the off-peak season, whose pods have become smaller in it."""

    def __init__(self, **spec: Any) -> None:
        super().__init__(
            small(),
            advice=firm(cpu="50m", memory="100M"),
            **{"when": {"season": ["off-peak"]}, "settledSeconds": 86_400, **spec},
        )
        self.in_season(True)

    def in_season(self, is_it: bool) -> None:
        policies = self.engine.policies
        assert isinstance(policies, MemorySizings)
        policies.seasonal = frozenset({"p"} if is_it else ())

    async def advised(self, cpu: str) -> str:
        """What it requests after that."""
        more = firm(cpu=cpu, memory="100M")
        self.advice.containers["app"] = replace(more, last_at=self.clock.now())
        await self.engine.check()
        return str(self.pods.requests()["cpu"])


async def test_what_became_smaller_off_peak_is_as_large_as_advised_before_the_peak() -> None:
    one = OffPeak()
    assert await one.advised("50m") == "50m"
    one.in_season(False)
    # At once: it neither has to settle nor to cool down.
    assert await one.advised("90m") == "90m"
    assert one.journal.decisions[-1].edits[0].after == ("90m",)
    # And smaller again only in its season.
    one.clock.jump(3_600)
    assert await one.advised("50m") == "90m"
    assert (one.states(), one.why()) == (["waits"], "it is not the policy's season")


async def test_out_of_its_season_a_policy_leaves_what_it_has_not_given() -> None:
    one = OffPeak()
    one.in_season(False)
    assert await one.advised("200m") == "100m"
    assert one.why() == "it is not the policy's season"


async def test_out_of_its_windows_nothing_becomes_larger_either() -> None:
    windows = [{"from": "00:00", "to": "00:01"}, {"from": "12:00", "to": "12:01"}]
    one = OffPeak(when={"season": ["off-peak"], "windows": windows})
    one.clock.jump(86_400 - one.clock.now() % 86_400)
    assert await one.advised("50m") == "50m"
    one.in_season(False)
    one.clock.jump(3_600)
    assert await one.advised("90m") == "50m"
    one.clock.jump(11 * 3_600)
    assert await one.advised("90m") == "90m"
