from dataclasses import replace
from typing import Any

import pytest
from nemutator_controller.daily_changes import MOST_WITH_RISES
from nemutator_controller.updating.decisions import SizingSituation, changed_fields, decide
from nemutator_controller.updating.evicting import SizingEvictions
from nemutator_controller.updating.hourly_advice import (
    DAY_S,
    LIMITED,
    ChangesOfDay,
    hourly_containers,
    with_hourly,
)
from nemutator_controller.updating.model import SoundSizing, sizing_of
from nemutator_controller.updating.records import (
    GivenAmount,
    LeaveAlone,
    PodSurroundings,
    ResizeInPlace,
    SizedPod,
    SizingDecision,
)
from nemutator_controller.updating.resize_writing import ResizeWriter
from nemutator_controller.updating.resizing import RunningResizes

from tests.fakes.clocks import ManualClock
from tests.fakes.hourly import STRATEGY, MemoryHourly
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.sized_pods import (
    WEB,
    Json,
    MemoryAdvice,
    MemorySizedPods,
    MemorySizingJournal,
    MemorySizings,
    Replicas,
    firm,
    pod_document,
    pod_of,
)

HOURLY: Json = {"cpu": {"strategy": "Hourly"}}
ADVICE = firm(cpu="300m", memory="100M")
NOW = 1e9


def policy(**spec: Any) -> SoundSizing:
    return sizing_of("p", {"mode": "InPlace", "resources": HOURLY, **spec})


def small(name: str = "web-1") -> Json:
    return pod_document(name, requests={"cpu": "100m", "memory": "100M"})


def decided(
    pod: SizedPod, hourly: MemoryHourly, advice: Any = ADVICE, **situation: Any
) -> SizingDecision:
    followed = with_hourly(pod, policy(), {"app": advice}, hourly)
    return decide(pod, policy(), followed, SizingSituation(now=NOW, running=3, **situation))


def fields(decision: SizingDecision) -> list[str]:
    assert isinstance(decision, ResizeInPlace), decision
    return list(changed_fields(decision.changes))


def test_the_hours_of_containers_are_wanted_that_a_policy_follows_hourly() -> None:
    pod = pod_of(small())
    assert list(hourly_containers(pod, policy())) == [(WEB, "app")]
    assert list(hourly_containers(pod, policy(resources={}))) == []
    off = policy(resources={"cpu": {"strategy": "Hourly", "enabled": False}})
    assert list(hourly_containers(pod, off)) == []
    other = policy(resources={**HOURLY, "containers": ["side*"]})
    assert list(hourly_containers(pod, other)) == []


def test_what_the_hour_asks_for_takes_the_place_of_advice_on_cpu_and_memory_stays() -> None:
    hourly = MemoryHourly()
    hourly.say("120m", "from 14:00 UTC on")
    known = with_hourly(pod_of(small()), policy(), {"app": ADVICE}, hourly)["app"]
    assert (known.amounts["cpu"].hourly, str(known.amounts["cpu"].target)) == (STRATEGY, "120m")
    assert known.amounts["memory"] == ADVICE.amounts["memory"]
    assert with_hourly(pod_of(small()), policy(resources={}), {"app": ADVICE}, hourly) == {
        "app": ADVICE
    }


@pytest.mark.parametrize("cpu", ["99m", "101m", "900m", "12m"])
def test_an_hourly_request_is_given_however_little_it_differs_and_however_young_the_pod_is(
    cpu: str,
) -> None:
    hourly = MemoryHourly()
    hourly.say(cpu)
    young = replace(pod_of(small()), created_at=NOW - 1)
    found = decided(young, hourly)
    assert fields(found) == [f"app requests.cpu 100m → {cpu}"]
    assert isinstance(found, ResizeInPlace)
    assert found.changes[0].reason == f"{STRATEGY} says {cpu}"


def test_memory_is_not_changed_for_an_hour_alone_and_goes_with_it_when_it_is_due() -> None:
    hourly = MemoryHourly()
    hourly.say("120m")
    close = firm(cpu="300m", memory="104M")
    assert fields(decided(pod_of(small()), hourly, close)) == ["app requests.cpu 100m → 120m"]
    far = firm(cpu="300m", memory="150M")
    assert fields(decided(pod_of(small()), hourly, far)) == [
        "app requests.cpu 100m → 120m",
        "app requests.memory 100M → 150M",
    ]
    hourly.say("100m")
    assert fields(decided(pod_of(small()), hourly, far)) == ["app requests.memory 100M → 150M"]


def test_where_there_is_no_request_for_the_hour_advice_holds_and_why_is_said() -> None:
    hourly = MemoryHourly()
    assert fields(decided(pod_of(small()), hourly)) == ["app requests.cpu 100m → 200m"]
    hourly.say(None, "the last hour is not known")
    known = with_hourly(pod_of(small()), policy(), {"app": ADVICE}, hourly)["app"]
    assert (known.amounts, known.not_hourly) == (ADVICE.amounts, "the last hour is not known")
    hourly.say("120m")
    unsure = replace(ADVICE, is_firm=False, reason="12 of 100 points")
    waits = with_hourly(pod_of(small()), policy(), {"app": unsure}, hourly)["app"]
    assert (waits.amounts, waits.not_hourly) == (ADVICE.amounts, "its advice is not firm")


def test_a_limit_that_would_follow_the_request_is_left_to_advice() -> None:
    hourly = MemoryHourly()
    hourly.say("20m")
    both = {"cpu": "100m", "memory": "100M"}
    pod = pod_of(pod_document(requests=both, limits=both))
    known = with_hourly(pod, policy(), {"app": ADVICE}, hourly)["app"]
    assert (known.amounts, known.not_hourly) == (ADVICE.amounts, LIMITED)


def test_what_others_say_of_the_pod_holds_for_hours_as_well() -> None:
    hourly = MemoryHourly()
    hourly.say("120m")
    pod = pod_of(small())
    same = firm(cpu="300m", memory="100M")
    for situation, why in (
        ({"autoscaled": frozenset({"cpu"})}, "a HorizontalPodAutoscaler follows it"),
        ({"vertical_autoscaler": "v"}, "the VerticalPodAutoscaler v sizes it"),
        ({"changes_of_day": {"app": 6}}, "its changes of 24 hours are used up: 120m"),
        (
            {"taken_back": frozenset({"containers[name=app].resources.requests.cpu"})},
            "it was taken back",
        ),
    ):
        found = decided(pod, hourly, same, **situation)
        assert isinstance(found, LeaveAlone), situation
        assert why in found.reason


def test_changes_are_counted_by_container_for_24_hours() -> None:
    changes = ChangesOfDay()

    def change(container: str, resource: Any = "cpu") -> GivenAmount:
        amount = ADVICE.amounts["cpu"].target
        return GivenAmount(
            container=container,
            side="requests",
            resource=resource,
            before=amount,
            after=amount,
            reason="",
        )

    for hour in range(MOST_WITH_RISES + 1):
        changes.note("u1", [change("app"), change("side", "memory")], NOW + hour)
    assert changes.of("u1", NOW + 10) == {"app": MOST_WITH_RISES}
    assert changes.of("u2", NOW + 10) == {}
    assert changes.of("u1", NOW + DAY_S + 2.5) == {"app": MOST_WITH_RISES - 2}
    changes.forget(["u2"])
    assert changes.of("u1", NOW + 10) == {}


class Hours:
    """A policy that follows the CPU of one pod hourly."""

    def __init__(self, **spec: Any) -> None:
        self.clock, self.hourly = ManualClock(), MemoryHourly()
        self.pods, self.journal = MemorySizedPods(small()), MemorySizingJournal()
        self.pods.created_at = self.clock.now() - 86_400
        process = fake_process(clock=self.clock, meter=MemoryMeter())
        ids = iter(range(1_000))
        same = firm(last_at=self.clock.now() + 30 * DAY_S, cpu="300m", memory="100M")
        self.engine = RunningResizes(
            self.pods,
            MemorySizings(p={"mode": "InPlace", "resources": HOURLY, **spec}),
            MemoryAdvice(app=same),
            self.journal,
            Replicas(),
            SizingEvictions(self.pods, process),
            ResizeWriter(self.pods, self.journal, process, lambda: f"d{next(ids)}"),
            process,
            self.hourly,
            per_minute=600,
        )
        self.engine._room = 600

    async def hour(self, cpu: str | None, *, hours: float = 1) -> str:
        """What it requests after an hour for which *cpu* is asked."""
        self.hourly.say(cpu)
        self.clock.jump(hours * 3_600)
        await self.engine.check()
        return str(self.pods.requests()["cpu"])

    def why(self) -> str:
        return self.engine.progress["p"].pods[0].why


async def test_a_pod_follows_the_hours_up_and_down_with_each_step_in_the_journal() -> None:
    one = Hours()
    assert [await one.hour(cpu) for cpu in ("400m", "400m", "90m")] == ["400m", "400m", "90m"]
    assert one.hourly.wanted == {(WEB, "app")}
    assert [each.edits[0].after for each in one.journal.decisions] == [("400m",), ("90m",)]
    assert one.journal.decisions[0].edits[0].reason == f"{STRATEGY} says 400m"
    # What it was before the first step is what a rollback brings back.
    assert one.journal.decisions[1].edits[0].before == ("100m",)


async def test_after_four_changes_in_24_hours_it_is_not_lowered_and_after_six_it_stays() -> None:
    one = Hours()
    for cpu in ("200m", "300m", "400m", "500m"):
        assert await one.hour(cpu) == cpu
    assert await one.hour("90m") == "500m"
    assert "its changes of 24 hours are used up: 90m would fit better" in one.why()
    assert await one.hour("600m") == "600m"
    assert await one.hour("700m") == "700m"
    assert await one.hour("800m") == "700m"
    assert "its changes of 24 hours are used up" in one.why()
    # Advice does not step in: that would be the fifth change.
    assert one.engine.progress["p"].workloads[WEB].containers[0].strategy.cpu == STRATEGY
    assert await one.hour("90m", hours=20) == "90m"


async def test_a_change_rests_for_the_cool_down_of_the_policy() -> None:
    one = Hours(coolDownSeconds=7_200)
    assert await one.hour("200m") == "200m"
    assert await one.hour("300m") == "200m"
    assert await one.hour("300m") == "300m"


async def test_bounds_and_steps_of_the_policy_hold() -> None:
    one = Hours(resources={"cpu": {**HOURLY["cpu"], "min": "50m", "max": "250m"}})
    assert [await one.hour(cpu) for cpu in ("2", "5m")] == ["250m", "50m"]
    one = Hours(resources={"cpu": {**HOURLY["cpu"], "largestStepPercent": 50}})
    assert await one.hour("2") == "150m"


async def test_what_somebody_else_sets_back_is_left_to_them() -> None:
    one = Hours()
    assert await one.hour("200m") == "200m"
    one.pods.documents["u-web-1"]["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "100m"
    assert await one.hour("300m") == "100m"
    assert "somebody else has changed" in one.why()


async def test_an_autoscaler_that_appears_ends_it() -> None:
    one = Hours()
    assert await one.hour("200m") == "200m"
    one.pods.surroundings = PodSurroundings(autoscaled=frozenset({"cpu"}))
    assert await one.hour("300m") == "200m"


async def test_off_shows_what_an_hour_would_change() -> None:
    one = Hours(mode="Off")
    assert await one.hour("200m") == "100m"
    assert one.why() == "app requests.cpu 100m → 200m"
    assert one.journal.decisions == []


async def test_when_the_hours_are_not_known_any_more_advice_holds() -> None:
    one = Hours()
    assert await one.hour("90m") == "90m"
    assert await one.hour(None) == "180m"
    assert await one.hour("95m") == "95m"
