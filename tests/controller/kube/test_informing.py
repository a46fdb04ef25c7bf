"""The informer against scripts: each pitfall of lists and watches, by its name."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass

import pytest
from nemutator_common import names
from nemutator_controller.kube.failures import (
    ForbiddenError,
    GoneError,
    InvalidError,
    TooManyRequestsError,
    UnauthorizedError,
    UnavailableError,
    UnknownResourceError,
    UntrustedError,
)
from nemutator_controller.kube.informing import Informer, InformerPace, NotSyncedError
from nemutator_controller.kube.objects import Pod
from nemutator_controller.kube.resources import PODS
from nemutator_controller.kube.subscribing import Resync

from tests.controller.kube.pods import bookmark, event, expired, pod, pods
from tests.fakes.kube.indexes import by_node
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.scripted_kube import EagerClock, Said, ScriptedTransport

NO_WATCH_LIST = InvalidError("watch pods", "sendInitialEvents is forbidden")
CUT = UnavailableError("watch pods", "cut")
GONE = GoneError("watch pods", "410")


@dataclass
class Played:
    informer: Informer[Pod]
    transport: ScriptedTransport
    clock: EagerClock
    meter: MemoryMeter

    @property
    def names(self) -> set[str]:
        return {key.removeprefix("team/") for key in self.informer.snapshot().objects}

    def versions(self) -> list[str]:
        return [call.query.get("resourceVersion", "") for call in self.transport.calls]


@contextlib.asynccontextmanager
async def played(
    *script: Said | Iterable[Said],
    pace: InformerPace | None = None,
    may_be_absent: bool = False,
) -> AsyncIterator[Played]:
    """The informer after the whole *script*, waiting for more."""
    transport, clock, meter = ScriptedTransport(*script), EagerClock(), MemoryMeter()
    informer = Informer(
        PODS,
        transport=transport,
        process=fake_process(clock=clock, meter=meter),
        indexes={"node": by_node},
        pace=pace,
        may_be_absent=may_be_absent,
    )
    async with asyncio.TaskGroup() as group:
        task = group.create_task(informer.run())
        async with asyncio.timeout(60):
            await transport.over.wait()
        yield Played(informer, transport, clock, meter)
        task.cancel()


def synced(*more: bytes) -> list[Said]:
    """A WatchList with pods a and b, at version 10."""
    return [event("ADDED", pod("a", 3)), event("ADDED", pod("b", 9)), bookmark(10, end=True), *more]


def stream(*said: Said) -> list[Said]:
    """What one call gets, bit by bit."""
    return [*said]


async def test_watch_list_syncs_without_any_list() -> None:
    async with played([*synced(event("ADDED", pod("c", 11))), CUT]) as it:
        assert it.names == {"a", "b", "c"}
        first, second = it.transport.calls
        assert first.query["sendInitialEvents"] == "true"
        assert first.query["resourceVersionMatch"] == "NotOlderThan"
        assert second.query["resourceVersion"] == "11"


async def test_without_watch_list_pages_are_listed() -> None:
    script = NO_WATCH_LIST, pods(pod("a"), version=5, after="x"), pods(pod("b"), version=5)
    async with played(*script, [event("ADDED", pod("c", 6)), CUT]) as it:
        assert it.names == {"a", "b", "c"}
        assert [call.verb for call in it.transport.calls] == [
            "watch",
            "list",
            "list",
            "watch",
            "watch",
        ]
        assert it.transport.calls[2].query["continue"] == "x"
        assert it.versions()[3:] == ["5", "6"]


async def test_before_the_first_list_is_complete_there_is_no_snapshot() -> None:
    async with played([event("ADDED", pod("a")), CUT]) as it:
        with pytest.raises(NotSyncedError, match="cut"):
            it.informer.snapshot()


async def test_410_as_status_relists() -> None:
    async with played([*synced(), CUT], GONE, [*synced(), event("ADDED", pod("c", 12))], CUT) as it:
        assert it.names == {"a", "b", "c"}
        assert it.versions()[:3] == ["", "10", ""]
        assert it.meter.value(names.KUBE_LISTS, resource="pods", reason="gone") == 1


async def test_410_as_error_event_relists() -> None:
    async with played(synced(expired()), [*synced(), CUT]) as it:
        assert it.names == {"a", "b"}
        assert it.versions() == ["", "", "10"]


async def test_an_error_event_that_is_not_410_goes_on_from_the_same_version() -> None:
    async with played(synced(expired(500, "InternalError"))) as it:
        assert it.versions() == ["", "10"]


async def test_deletes_are_synthesised_after_a_relist() -> None:
    again = stream(event("ADDED", pod("b", 9)), bookmark(20, end=True), CUT)
    async with played([*synced(), CUT], GONE, again) as it:
        assert it.names == {"b"}


async def test_resume_is_from_the_last_event_or_bookmark() -> None:
    more = event("MODIFIED", pod("a", 15)), bookmark(40)
    async with played([*synced(*more), CUT], stream(event("ADDED", pod("c", 41)), CUT)) as it:
        assert it.versions() == ["", "40", "41"]


async def test_resume_never_uses_a_version_from_initial_events() -> None:
    async with played([event("ADDED", pod("a", 99)), CUT], pods(pod("a", 99), version=100)) as it:
        assert it.versions() == ["", "", "100"]


async def test_a_broken_watch_list_is_paged_once() -> None:
    script = stream(event("ADDED", pod("a")), CUT), pods(pod("a"), version=9), GONE
    async with played(*script) as it:
        assert [call.verb for call in it.transport.calls] == ["watch", "list", "watch", "watch"]
        assert "sendInitialEvents" in it.transport.calls[3].query


async def test_changes_before_the_end_of_the_initial_events_count() -> None:
    early = event("ADDED", pod("a", 1)), event("ADDED", pod("b", 2))
    late = event("DELETED", pod("a", 3)), event("MODIFIED", pod("b", 4, nodeName="n"))
    async with played([*early, *late, bookmark(5, end=True), CUT]) as it:
        assert it.names == {"b"}
        assert [found.metadata.name for found in it.informer.snapshot().by("node", "n")] == ["b"]


async def test_a_half_open_connection_times_out_after_the_bookmark_period() -> None:
    async with played([*synced(), CUT]) as it:
        assert min(it.transport.idle_s) > 60


async def test_a_line_of_3_mb_cut_into_chunks_is_one_event() -> None:
    big = pod("big", 11)
    big["metadata"]["managedFields"] = [{"fieldsV1": "x" * 3_000_000}]
    line = event("ADDED", big)
    chunks = [line[start : start + 65_536] for start in range(0, len(line), 65_536)]
    async with played([*synced(), *chunks, CUT]) as it:
        assert it.names == {"a", "b", "big"}


async def test_one_undecodable_object_is_skipped_counted_and_named() -> None:
    bad = event("MODIFIED", {**pod("a", 11), "spec": 5})
    async with played([*synced(bad, event("ADDED", pod("c", 12))), CUT]) as it:
        assert it.names == {"a", "b", "c"}
        assert "team/a" in it.informer.undecodable
        assert it.meter.value(names.KUBE_UNDECODABLE, resource="pods") == 1


async def test_an_object_that_is_readable_again_is_not_named_any_more() -> None:
    bad = event("MODIFIED", {**pod("a", 11), "spec": 5})
    async with played([*synced(bad, event("MODIFIED", pod("a", 12))), CUT]) as it:
        assert it.informer.undecodable == {}


async def test_an_undecodable_item_of_a_relist_is_old_and_not_gone() -> None:
    again = stream(event("ADDED", {**pod("a", 11), "spec": 5}), bookmark(20, end=True), CUT)
    async with played([*synced(), CUT], GONE, again) as it:
        assert it.names == {"a"}


async def test_a_garbage_line_does_not_end_the_watch() -> None:
    async with played([*synced(b"}{ not json\n", event("ADDED", pod("c", 12))), CUT]) as it:
        assert it.names == {"a", "b", "c"}


async def test_429_with_retry_after_waits_so_long() -> None:
    busy = TooManyRequestsError("list pods", "429", retry_after_s=77)
    async with played(NO_WATCH_LIST, pods(pod("a"), version=5, after="x"), busy,
                      pods(pod("b"), version=5)) as it:  # fmt: skip
        assert 77 in it.clock.slept
        # The page is asked for again; the list does not begin again.
        assert [call.query.get("continue") for call in it.transport.calls[1:4]] == [None, "x", "x"]
        assert it.names == {"a", "b"}


async def test_back_off_grows_from_0_8_to_30_seconds_with_jitter() -> None:
    async with played(*[CUT] * 40) as it:
        assert it.clock.slept[0] == pytest.approx(1.2)
        assert all(0.8 <= delay <= 30 for delay in it.clock.slept)
        assert max(it.clock.slept) == pytest.approx(22.5)


async def test_relists_in_a_row_back_off_too() -> None:
    """A server whose lists work and whose watches never do is not listed every second."""
    async with played(NO_WATCH_LIST, *stream(pods(pod("a"), version=5), GONE) * 6) as it:
        assert it.clock.slept == sorted(it.clock.slept)
        assert it.clock.slept[-1] > 20


async def test_a_watch_that_ends_at_once_is_no_dead_loop() -> None:
    async with played([*synced(), CUT], [], [], []) as it:
        assert len(it.clock.slept) == 4
        assert it.informer.problem is not None


async def test_a_watch_that_ends_in_order_goes_on_without_waiting() -> None:
    async with played(synced(), [event("ADDED", pod("c", 11))], [bookmark(12)]) as it:
        assert it.clock.slept == []
        assert it.versions() == ["", "10", "11", "12"]


async def test_a_restored_server_that_knows_no_newer_version_is_listed_again() -> None:
    async with played([*synced(), CUT], *[CUT] * 4, [event("ADDED", pod("z", 2)),
                      bookmark(3, end=True), CUT]) as it:  # fmt: skip
        assert it.names == {"z"}
        assert it.meter.value(names.KUBE_LISTS, resource="pods", reason="stuck") == 1


async def test_a_restored_server_that_is_silent_is_listed_again_in_time() -> None:
    """Its versions are older than ours, so no watch of ours hears anything."""
    restored = stream(event("ADDED", pod("z", 2)), bookmark(3, end=True))
    async with played([*synced(), CUT], restored, pace=InformerPace(relist_s=0.7)) as it:
        assert it.names == {"z"}
        assert it.versions() == ["", "", "3"]
        assert it.meter.value(names.KUBE_LISTS, resource="pods", reason="periodic") == 1


async def test_a_server_restart_loses_nothing() -> None:
    script = synced(), CUT, CUT, stream(event("DELETED", pod("a", 11)), CUT)
    async with played(*script) as it:
        assert it.names == {"b"}
        assert it.informer.problem is not None


async def test_an_event_clears_the_problem() -> None:
    async with played([*synced(), CUT], [bookmark(11)]) as it:
        assert it.informer.problem is None


async def test_a_clock_jump_is_harmless() -> None:
    async with played([*synced(), CUT]) as it:
        it.clock.wall -= 1e9
        assert it.names == {"a", "b"}
        assert all(delay < 31 for delay in it.clock.slept)


async def test_initial_events_without_end_fall_back_to_pages() -> None:
    pace = InformerPace(first_list_s=-1)
    async with played([event("ADDED", pod("a"))], pods(pod("a"), version=4), pace=pace) as it:
        assert it.names == {"a"}
        assert [call.verb for call in it.transport.calls] == ["watch", "list", "watch"]


@pytest.mark.parametrize(
    "error",
    [ForbiddenError, UnauthorizedError, UntrustedError, UnknownResourceError, UnavailableError],
)
async def test_what_cannot_be_listed_is_a_named_problem_and_never_empty(
    error: type[UnavailableError],
) -> None:
    async with played(*[error("list pods in all namespaces", "no")] * 20) as it:
        with pytest.raises(NotSyncedError, match="list pods in all namespaces: no"):
            it.informer.snapshot()
        assert sum(it.clock.slept) > 100


NOT_SERVED = UnknownResourceError("watch pods", "the server does not serve this API")


async def test_a_resource_that_may_be_absent_is_empty_until_it_is_served() -> None:
    async with played(NOT_SERVED, NOT_SERVED, synced(), CUT, may_be_absent=True) as it:
        assert it.names == {"a", "b"}
        # It is looked for seldom, and nobody is told of a failure.
        assert [each >= 300 for each in it.clock.slept[:2]] == [True, True]
        assert it.informer.problem is not None
    async with played(NOT_SERVED, may_be_absent=True) as it:
        assert it.names == set()
        assert it.informer.problem is None


async def test_a_resource_that_is_not_served_any_more_is_gone() -> None:
    async with played(synced(), GONE, NOT_SERVED, may_be_absent=True) as it:
        assert it.names == set()


async def test_an_answer_that_is_no_list_is_a_problem() -> None:
    async with played(NO_WATCH_LIST, *[b"<html>hello</html>"] * 6) as it:
        with pytest.raises(NotSyncedError):
            it.informer.snapshot()


async def test_a_subscriber_folds_to_the_same_picture() -> None:
    """With the deletion that no event told, and with a name that came back as another object."""
    again = stream(event("ADDED", pod("b", 12, uid="other")), bookmark(20, end=True), CUT)
    transport = ScriptedTransport([*synced(), CUT], GONE, again)
    process = fake_process(clock=EagerClock(), roll=0.0)
    informer = Informer(PODS, transport=transport, process=process)
    seen: list[tuple[str, bool, bool]] = []
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        with informer.subscribe("test") as subscription:
            task = group.create_task(informer.run())
            first = await subscription.next()
            assert isinstance(first, Resync)
            while len(seen) < 3:
                change = await subscription.next()
                assert not isinstance(change, Resync)
                seen.append((change.key, change.before is not None, change.after is not None))
            task.cancel()
    assert seen == [("team/a", True, False), ("team/b", True, False), ("team/b", False, True)]
