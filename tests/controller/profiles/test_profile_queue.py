import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Literal

import pytest
from nemutator_common import names
from nemutator_common.wire import ProfileOutcome
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.profiles.profile_queue import (
    EVERY_S,
    LATE_S,
    MOST_OPEN,
    MOST_PER_NODE,
    OFFER_AGAIN_S,
    ForeignProfileError,
    ProfileQueue,
    TooManyProfilesError,
    UnknownProfileError,
)
from nemutator_controller.profiles.records import NOT_ENDED_S, NOT_TAKEN_S, EndReason, ProfileRecord

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.profiles import NOW, MemoryProfiles, profile


def outcome(
    of: ProfileRecord, state: Literal["running", "done", "refused"], *, node: str = "n1"
) -> ProfileOutcome:
    content = b"x" if state == "done" else b""
    return ProfileOutcome(id=of.id, node=node, state=state, pprof=content)


class Bench:
    def __init__(self, store: MemoryProfiles | None = None, *, most: int = 100) -> None:
        self.clock, self.meter = ManualClock(NOW), MemoryMeter()
        self.store = store or MemoryProfiles()
        self.desk = ProfileQueue(
            self.store,
            most=most,
            most_bytes=1 << 20,
            process=fake_process(meter=self.meter, clock=self.clock),
        )
        self.heard: list[tuple[str, str]] = []
        self.desk.subscribe(lambda one: self.heard.append((one.id[-1], one.state)))

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.desk.run())
            await self.clock.until_sleeping()
            yield
            task.cancel()


async def test_an_agent_gets_what_is_asked_of_its_node_and_tells_how_it_went() -> None:
    bench = Bench()
    await bench.desk.ask(profile(1))
    await bench.desk.ask(profile(2, node="n2"))
    [request] = await bench.desk.take("n1", 0.0)
    assert request == profile(1).request
    await bench.desk.report(outcome(profile(1), "running"))
    await bench.desk.report(outcome(profile(1), "done"))
    assert bench.heard == [("1", "asked"), ("2", "asked"), ("1", "running"), ("1", "done")]
    assert bench.store.contents == {profile(1).id: b"x"}
    assert bench.meter.value(names.PROFILES_ENDED, state="done") == 1


async def test_a_waiting_agent_is_answered_at_once() -> None:
    bench = Bench()
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        waiting = group.create_task(bench.desk.take("n1", 20.0))
        await asyncio.sleep(0)
        await bench.desk.ask(profile(1))
        assert [one.id for one in await waiting] == [profile(1).id]


async def test_work_for_a_node_wakes_nobody_who_waits_for_another() -> None:
    bench = Bench()
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        other = group.create_task(bench.desk.take("n2", 20.0))
        gone = group.create_task(bench.desk.take("n1", 20.0))
        stays = group.create_task(bench.desk.take("n1", 20.0))
        await asyncio.sleep(0)
        gone.cancel()
        await bench.desk.ask(profile(1))
        assert await stays == (profile(1).request,)
        assert not other.done()
        await bench.desk.ask(profile(2, node="n2"))
        assert await other == (profile(2, node="n2").request,)


async def test_without_work_the_answer_is_empty_after_the_wait() -> None:
    bench = Bench()
    await bench.desk.ask(profile(1, node="n2"))
    assert await bench.desk.take("n1", 0.01) == ()


async def test_who_waits_is_let_go_when_the_brain_stops() -> None:
    bench = Bench()
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        async with bench.running():
            waiting = group.create_task(bench.desk.take("n1", 20.0))
            await asyncio.sleep(0)
        assert await waiting == ()


async def test_what_was_taken_and_not_begun_is_offered_again_after_a_while() -> None:
    bench = Bench()
    async with bench.running():
        await bench.desk.ask(profile(1))
        assert len(await bench.desk.take("n1", 0.0)) == 1
        assert await bench.desk.take("n1", 0.0) == ()
        await bench.clock.advance(OFFER_AGAIN_S)
        assert len(await bench.desk.take("n1", 0.0)) == 1
        await bench.desk.report(outcome(profile(1), "running"))
        await bench.clock.advance(OFFER_AGAIN_S)
        assert await bench.desk.take("n1", 0.0) == ()


async def begun(bench: Bench) -> ProfileRecord:
    one = profile(1)
    await bench.desk.ask(one)
    await bench.desk.take("n1", 0.0)
    await bench.desk.report(outcome(one, "running"))
    return one


async def test_what_was_begun_and_is_late_is_offered_once_to_an_agent_that_started_anew() -> None:
    bench = Bench()
    async with bench.running():
        one = await begun(bench)
        await bench.clock.advance(one.seconds + LATE_S - 1.0)
        assert await bench.desk.take("n1", 0.0) == ()
        await bench.clock.advance(1.0)
        assert await bench.desk.take("n1", 0.0) == (one.request,)
        await bench.desk.report(outcome(one, "running"))
        await bench.clock.advance(2 * (one.seconds + LATE_S))
        assert await bench.desk.take("n1", 0.0) == ()
        assert (await bench.desk.report(outcome(one, "done"))).state == "done"


async def test_an_agent_that_waits_for_work_hears_of_what_is_late() -> None:
    bench = Bench()
    async with asyncio.timeout(60), bench.running(), asyncio.TaskGroup() as group:
        one = await begun(bench)
        waiting = group.create_task(bench.desk.take("n1", 20.0))
        await asyncio.sleep(0)
        await bench.clock.advance(one.seconds + LATE_S + EVERY_S)
        assert await waiting == (one.request,)


async def test_what_an_agent_began_and_nobody_makes_is_lost() -> None:
    bench = Bench()
    async with bench.running():
        one = await begun(bench)
        given_up_at = bench.clock.monotonic() + 2 * (one.seconds + LATE_S) + NOT_ENDED_S
        while bench.clock.monotonic() < given_up_at:
            await bench.clock.advance(20.0)
            await bench.desk.take("n1", 0.0)
        found = await bench.desk.find(one.id)
        assert found is not None
        assert (found.state, found.remedy) == ("lost", "ask once more")


async def test_what_an_agent_began_that_is_gone_is_lost_within_a_minute_or_so() -> None:
    bench = Bench()
    async with asyncio.timeout(60), bench.running():
        one = await begun(bench)
        await bench.clock.advance(NOT_TAKEN_S)
        assert bench.heard[-1] == ("1", "running")
        await bench.clock.advance(EVERY_S)
        found = await bench.desk.find(one.id)
        assert found is not None
        assert (found.state, "asked for work" in found.reason) == ("lost", True)


async def test_what_was_begun_before_the_brain_restarted_is_late_only_after_its_time() -> None:
    before = Bench()
    one = await begun(before)
    bench = Bench(before.store)
    await bench.desk.restore()
    assert await bench.desk.take("n1", 0.0) == ()
    await bench.clock.advance(one.seconds + LATE_S)
    assert await bench.desk.take("n1", 0.0) == (one.request,)


async def test_what_no_agent_takes_is_lost_and_may_still_come() -> None:
    bench = Bench()
    async with bench.running():
        await bench.desk.ask(profile(1))
        await bench.clock.advance(NOT_TAKEN_S + EVERY_S)
        found = await bench.desk.find(profile(1).id)
        assert found is not None
        assert found.state == "lost"
        assert "nemutator-agent observe" in found.remedy
        assert (await bench.desk.report(outcome(profile(1), "done"))).state == "done"


async def test_a_finished_one_never_goes_back() -> None:
    bench = Bench()
    await bench.desk.ask(profile(1))
    for state in ("done", "running", "refused", "done"):
        found = await bench.desk.report(outcome(profile(1), state))
        assert found.state == "done"
    assert bench.heard == [("1", "asked"), ("1", "done")]


async def test_an_outcome_must_be_of_a_known_profile_of_the_same_node() -> None:
    bench = Bench()
    await bench.desk.ask(profile(1))
    with pytest.raises(UnknownProfileError):
        await bench.desk.report(outcome(profile(9), "done"))
    with pytest.raises(ForeignProfileError):
        await bench.desk.report(outcome(profile(1), "done", node="n2"))
    assert bench.heard == [("1", "asked")]


async def test_a_node_and_the_brain_have_only_so_much_to_do() -> None:
    bench = Bench()
    for number in range(MOST_PER_NODE):
        await bench.desk.ask(profile(number))
    with pytest.raises(TooManyProfilesError):
        await bench.desk.ask(profile(100))
    for number in range(MOST_PER_NODE, MOST_OPEN):
        await bench.desk.ask(profile(number, node=f"m{number}"))
    with pytest.raises(TooManyProfilesError):
        await bench.desk.ask(profile(5000, node="free"))
    assert bench.meter.total(names.PROFILES_ASKED, result="refused") == 2


async def test_what_could_not_be_stored_was_not_asked() -> None:
    bench = Bench()
    bench.store.broken = "full"
    with pytest.raises(StoreUnavailableError):
        await bench.desk.ask(profile(1))
    bench.store.broken = None
    assert await bench.desk.take("n1", 0.0) == ()
    assert bench.heard == []


async def test_what_was_stored_after_its_deadline_is_made_nevertheless() -> None:
    bench = Bench()
    async with bench.running():
        bench.store.late = True
        with pytest.raises(StoreUnavailableError):
            await bench.desk.ask(profile(1))
        bench.store.late = False
        assert await bench.desk.take("n1", 0.0) == ()
        # Who asks again finds it, and has nothing more to ask for.
        assert await bench.desk.find(profile(1).id) == profile(1)
        await bench.clock.advance(EVERY_S)
        assert await bench.desk.take("n1", 0.0) == (profile(1).request,)
        assert bench.heard == [("1", "asked")]


async def test_another_life_of_the_brain_goes_on_with_what_was_open() -> None:
    before = Bench()
    await before.desk.ask(profile(1))
    await before.desk.ask(profile(2))
    await before.desk.report(outcome(profile(2), "done"))
    after = Bench(before.store)
    await after.desk.restore()
    assert [one.id for one in await after.desk.take("n1", 0.0)] == [profile(1).id]


async def test_a_refusal_is_kept_and_told() -> None:
    bench = Bench()
    refused = await bench.desk.refuse(profile(1), EndReason("nonsense", "write it like this"))
    assert (refused.state, refused.reason) == ("refused", "nonsense")
    assert refused.remedy == "write it like this"
    assert await bench.desk.find(profile(1).id) == refused
    assert bench.heard == [("1", "refused")]


async def test_the_oldest_make_room_and_are_counted() -> None:
    bench = Bench(most=2)
    for number in range(4):
        await bench.desk.refuse(replace(profile(number), asked_at=NOW + number), EndReason("x", ""))
    await bench.desk.tidy()
    assert sorted(one[-1] for one in bench.store.kept) == ["2", "3"]
    assert bench.meter.value(names.PROFILES_DROPPED, reason="count") == 2


async def test_a_store_that_fails_does_not_end_the_tidying() -> None:
    bench = Bench()
    async with bench.running():
        await bench.desk.ask(profile(1))
        bench.store.broken = "busy"
        await bench.clock.advance(NOT_TAKEN_S + EVERY_S)
        bench.store.broken = None
        await bench.clock.advance(EVERY_S)
    assert bench.heard[-1] == ("1", "lost")


def two_of_one_store() -> tuple[Bench, Bench]:
    store = MemoryProfiles()
    both = Bench(store), Bench(store)
    for bench in both:
        bench.desk.shared = True
    return both


async def test_what_is_asked_of_one_brain_is_taken_from_another_and_ends_at_both() -> None:
    first, second = two_of_one_store()
    await first.desk.ask(profile(1))
    await second.desk.tidy()
    [request] = await second.desk.take("n1", 0.0)
    assert request == profile(1).request
    await second.desk.tidy()
    # Nobody has asked the first one for work, and it does not give the profile up.
    await first.clock.advance(NOT_TAKEN_S + 1)
    await first.desk.tidy()
    await second.desk.report(outcome(profile(1), "running"))
    await first.desk.tidy()
    await second.desk.report(outcome(profile(1), "done"))
    await first.clock.advance(NOT_ENDED_S + NOT_TAKEN_S + 100)
    await first.desk.tidy()
    found = await first.desk.find(profile(1).id)
    assert found is not None
    assert found.state == "done"
    assert first.heard == [("1", "asked")]
    assert second.heard == [("1", "asked"), ("1", "running"), ("1", "done")]


async def test_one_of_two_that_hears_of_the_end_first_is_believed_by_the_other() -> None:
    first, second = two_of_one_store()
    await first.desk.ask(profile(1))
    await second.desk.tidy()
    await second.desk.report(outcome(profile(1), "done"))
    assert await first.desk.take("n2", 0.0) == ()
    await first.desk.tidy()
    assert await first.desk.take("n1", 0.0) == ()
