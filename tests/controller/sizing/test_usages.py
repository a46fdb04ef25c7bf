from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.wire import Summary
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.known_usage import KnownUsage
from nemutator_controller.sizing.margins import MARGINS
from nemutator_controller.sizing.usages import SPARED_S, Learned, Usages

from tests.fakes.sizing import learn

NOW = 1_700_000_000.0
DAY_S = 86_400.0


def key(owner: str = "a") -> ContainerKey:
    return ContainerKey("shop", "Deployment", owner, "app")


def summary(at: float = NOW, cpu_cores: float = 0.5, memory_bytes: int = 50_000_000) -> Summary:
    return Summary(
        path="/x",
        pod_uid=None,
        container_id=None,
        from_at=at - 15,
        to_at=at,
        cpu_cores=cpu_cores,
        memory_bytes=memory_bytes,
    )


def seen(usages: Usages, owner: str = "a", *, now: float = NOW) -> KnownUsage:
    [found] = usages.seen([key(owner)], now=now)
    return found


def test_points_their_span_and_their_percentiles_are_known() -> None:
    usages = Usages(most=4)
    learn(usages, [(key(), summary(NOW + 15 * n, cpu_cores=n / 10)) for n in range(20)], now=NOW)
    found = seen(usages)
    assert (found.points, found.span_s, found.step_s) == (20, 20 * 15, 15)
    assert found.cpu_p50 == pytest.approx(0.95, rel=0.1)
    assert found.cpu_p95 == pytest.approx(1.9, rel=0.06)


def test_the_largest_peak_is_exact_and_forgotten_after_two_weeks() -> None:
    usages = Usages(most=4)
    learn(usages, [(key(), summary(NOW, memory_bytes=777_777_777))], now=NOW)
    learn(usages, [(key(), summary(NOW + DAY_S, memory_bytes=5_000_000))], now=NOW)
    assert seen(usages, now=NOW + 13 * DAY_S).memory_max == 777_777_777
    assert seen(usages, now=NOW + 14 * DAY_S).memory_max == 5_000_000


def test_a_day_counts_as_one_memory_sample_the_largest() -> None:
    usages = Usages(most=4)
    for n, used in enumerate((100, 300, 200)):
        learn(usages, [(key(), summary(NOW + n, memory_bytes=used * 1_000_000))], now=NOW)
    assert (seen(usages).memory_p95, seen(usages).memory_max) == (300_000_000, 300_000_000)
    assert (usages.kept([key()])[key()].peaks.days > 0).sum() == 1


@given(st.lists(st.tuples(st.integers(0, 13), st.integers(0, 10**12)), min_size=1, max_size=30))
def test_no_percentile_of_peaks_is_above_the_largest(spoken: list[tuple[int, int]]) -> None:
    usages = Usages(most=1)
    for day, used in spoken:
        learn(usages, [(key(), summary(NOW + day * DAY_S, memory_bytes=used))], now=NOW)
    found = seen(usages, now=NOW + 13 * DAY_S)
    assert found.memory_p95 <= found.memory_max == max(used for _, used in spoken)


def test_the_busiest_of_thirty_replicas_decides() -> None:
    """KRR takes the largest of the pods' percentiles; one of 30 is beyond that of all together."""
    usages = Usages(most=4)
    for n in range(120):
        at = NOW + 15 * n
        pods = [
            (key(), replace(summary(at, 1.09 if pod == 17 else 0.1), pod_uid=f"pod-{pod}"))
            for pod in range(30)
        ]
        learn(usages, pods, now=at)
    assert 1.09 <= seen(usages, now=NOW + 1800).cpu_p95 <= 1.09 * 1.05
    restarted = Usages(most=4)
    restarted.restore(usages.kept([key()]))
    assert seen(restarted, now=NOW + 1800) == seen(usages, now=NOW + 1800)


def test_small_amounts_are_known_to_a_thousandth_of_a_core() -> None:
    usages = Usages(most=4)
    learn(usages, [(key(), summary(NOW + 15 * n, cpu_cores=0.0107)) for n in range(20)], now=NOW)
    assert seen(usages).cpu_p95 == pytest.approx(0.011)


def test_a_kill_for_memory_says_what_was_needed_by_what_it_had() -> None:
    usages = Usages(most=4)
    killed = replace(summary(memory_bytes=700 * 2**20), oom_kills=1)
    learn(usages, [(key(), killed)], now=NOW, requested=2**30)
    found = seen(usages)
    assert (found.kills, found.memory_needed) == (1, int(2**30 * 1.2))
    assert seen(usages, now=NOW + 14 * DAY_S).memory_needed == 0


def test_a_small_container_that_was_killed_needed_100_mib_more() -> None:
    usages = Usages(most=4)
    learn(usages, [(key(), replace(summary(memory_bytes=64 * 2**20), oom_kills=1))], now=NOW)
    assert seen(usages).memory_needed == 164 * 2**20


def test_that_it_was_stopped_at_its_limit_is_known_and_fades() -> None:
    usages = Usages(most=4)
    learn(usages, [(key(), replace(summary(), throttled=0.4))], now=NOW)
    assert seen(usages).throttled == 0.4
    learn(usages, [(key(), replace(summary(NOW + 21_600), throttled=0.0))], now=NOW)
    assert seen(usages).throttled == pytest.approx(0.2)
    learn(usages, [(key(), summary(NOW + 30_000))], now=NOW)
    assert seen(usages).throttled == pytest.approx(0.2)


def test_that_it_waited_is_known_for_itself_and_fades() -> None:
    usages = Usages(most=4)
    learn(usages, [(key(), replace(summary(), cpu_waiting=40.0, memory_waiting=10.0))], now=NOW)
    assert (seen(usages).cpu_waiting, seen(usages).memory_waiting) == (0.4, 0.1)
    learn(usages, [(key(), replace(summary(NOW + 21_600), cpu_waiting=0.0))], now=NOW)
    assert seen(usages).cpu_waiting == pytest.approx(0.2)
    assert seen(usages).memory_waiting == 0.1
    assert seen(usages).throttled == 0.0


def test_no_share_of_time_is_more_than_all_of_it() -> None:
    usages = Usages(most=4)
    learn(usages, [(key(), replace(summary(), cpu_waiting=9e9))], now=NOW)
    assert seen(usages).cpu_waiting == 1.0


def test_what_was_really_observed_is_not_the_time_between_two_points() -> None:
    usages = Usages(most=4)
    for late_s in (0.0, 7 * DAY_S):
        learn(usages, [(key(), summary(NOW + late_s))], now=NOW + late_s)
    found = seen(usages, now=NOW + 7 * DAY_S)
    assert found.span_s > 7 * DAY_S
    assert found.observed_s == 30


def test_margins_are_those_of_the_fleet_once_it_is_known() -> None:
    usages = Usages(most=60)
    assert usages.margins(NOW) == MARGINS
    begun = NOW // DAY_S * DAY_S - 12 * DAY_S
    spoken = [
        (
            msgspec.structs.replace(key(), owner=f"o{number}"),
            replace(summary(begun + day * DAY_S + DAY_S / 2), from_at=begun + day * DAY_S),
        )
        for number in range(60)
        for day in range(-1, 13)
    ]
    last = [
        (msgspec.structs.replace(one, owner=f"o{number}"), summary(NOW))
        for number in range(60)
        for one in [key()]
    ]
    learn(usages, [*spoken, *last], now=NOW)
    # Not before the next hour: it is looked at once in each.
    assert usages.margins(NOW) == MARGINS
    steady = usages.margins(NOW + 3_600)
    assert dict(steady)[86_400] < dict(MARGINS)[86_400]
    # An hour later with the same days it is the same.
    assert usages.margins(NOW + 7_200) == steady
    [found] = usages.seen([msgspec.structs.replace(key(), owner="o7")], now=NOW + 7_200)
    assert found.margins == steady


samples = st.tuples(
    st.sampled_from("abc"), st.integers(0, 10), st.integers(0, 8), st.floats(0.0, 4.0)
)


@given(st.lists(samples, max_size=30))
def test_it_makes_no_difference_how_many_come_at_once(
    spoken: list[tuple[str, int, int, float]],
) -> None:
    """*spoken* in thirds of days, so that windows end in between, and in hundreds of MB."""
    learned = [
        (key(owner), summary(NOW + third * DAY_S / 3, cores, used * 100_000_000))
        for owner, third, used, cores in spoken
    ]
    together, one_by_one = Usages(most=8), Usages(most=8)
    learn(together, learned, now=NOW)
    for one in learned:
        learn(one_by_one, [one], now=NOW)
    assert together.keys() == one_by_one.keys()
    for owner in together.keys():  # noqa: SIM118 - it is no mapping
        [ours], [theirs] = (
            usages.seen([owner], now=NOW + 4 * DAY_S) for usages in (together, one_by_one)
        )
        assert ours.steps == pytest.approx(theirs.steps) or ours.steps < theirs.steps
        # The most that it has ever been, and together they come in one moment.
        assert msgspec.structs.replace(ours, steps=theirs.steps) == theirs
        kept, known = together.kept([owner])[owner], one_by_one.kept([owner])[owner]
        # The same weights, counted from another day.
        cpu_days = (kept.cpu_reference_at - known.cpu_reference_at) / DAY_S
        assert kept.cpu * 2.0**cpu_days == pytest.approx(known.cpu, rel=1e-5, abs=1e-5)
        assert list(kept.peaks.largest) == list(known.peaks.largest)


def test_who_was_not_heard_of_for_longest_makes_room() -> None:
    usages = Usages(most=2)
    for n, owner in enumerate("ab"):
        learn(usages, [(key(owner), summary())], now=NOW + n)
    learn(usages, [(key("a"), summary())], now=NOW + 2)
    later = NOW + 1 + SPARED_S
    assert learn(usages, [(key("c"), summary())], now=later) == Learned(1, evicted=1, refused=0)
    assert usages.keys() == [key("a"), key("c")]
    assert seen(usages, "c").points == 1
    assert usages.changes()[1] == {key("b")}


def test_one_container_too_many_takes_nobodys_place_while_all_are_heard_of() -> None:
    """The oldest would always be the next to speak: nobody would ever have a second point."""
    usages = Usages(most=3)
    for n in range(40):
        at = NOW + 15 * n
        done = learn(usages, [(key(owner), summary(at)) for owner in "abcd"], now=at)
        assert done == Learned(3, evicted=0, refused=1)
    assert [one.points for one in usages.seen(usages.keys(), now=NOW)] == [40, 40, 40]


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 3)), max_size=30))
def test_rows_stay_in_the_order_in_which_they_were_heard_of(spoken: list[tuple[str, int]]) -> None:
    usages, heard, now = Usages(most=3), dict[str, float](), NOW
    for owner, hours in spoken:
        now += hours * SPARED_S / 2
        if owner not in heard and len(heard) == 3:
            oldest = min(heard, key=lambda one: (heard[one], list(heard).index(one)))
            if heard[oldest] > now - SPARED_S:
                assert learn(usages, [(key(owner), summary())], now=now).refused == 1
                continue
            del heard[oldest]
        learn(usages, [(key(owner), summary())], now=now)
        heard.pop(owner, None)
        heard[owner] = now
        assert {one.owner for one in usages.keys()} == set(heard)  # noqa: SIM118


def test_rows_grow_without_a_change_to_those_that_are_there() -> None:
    usages = Usages(most=600)
    learn(usages, [(key("first"), summary(cpu_cores=3.0))], now=NOW)
    before = seen(usages, "first")
    samples = [(key(f"o{n}"), summary(cpu_cores=0.1)) for n in range(599)]
    assert learn(usages, samples, now=NOW) == Learned(599, evicted=0, refused=0)
    assert seen(usages, "first") == before
    assert len(usages) == 600


def test_what_nobody_speaks_of_is_forgotten_and_its_row_begins_empty() -> None:
    usages = Usages(most=1)
    learn(usages, [(key(), summary(cpu_cores=9.0))], now=NOW)
    assert usages.forget(silent_since=NOW) == 0
    assert usages.forget(silent_since=NOW + 1) == 1
    learn(usages, [(key("b"), summary(cpu_cores=0.5, memory_bytes=1))], now=NOW)
    assert seen(usages, "b").cpu_p95 < 1
    assert seen(usages, "b").memory_max == 1


def test_only_what_changed_is_kept_and_what_came_meanwhile_next_time() -> None:
    usages = Usages(most=4)
    learn(usages, [(key("a"), summary()), (key("b"), summary())], now=NOW)
    changed, gone = usages.changes()
    assert (set(changed), gone) == ({key("a"), key("b")}, frozenset())
    kept = usages.kept([*changed, key("dropped since")])
    learn(usages, [(key("b"), summary())], now=NOW)
    usages.saved(kept, gone)
    assert usages.changes()[0] == [key("b")]


learned = st.lists(
    st.tuples(
        st.sampled_from("abc"), st.floats(0, 900), st.integers(0, 10**12), st.floats(0, 10 * DAY_S)
    ),
    max_size=30,
)


@given(learned, learned)
def test_a_restart_changes_nothing(
    before: list[tuple[str, float, int, float]], after: list[tuple[str, float, int, float]]
) -> None:
    def learn_all(usages: Usages, some: list[tuple[str, float, int, float]]) -> None:
        for owner, cores, memory, late_s in some:
            one = summary(NOW + late_s, cores, memory)
            learn(usages, [(key(owner), one)], now=NOW + late_s)

    straight, stopped, restarted = (Usages(most=8) for _ in range(3))
    learn_all(straight, before)
    learn_all(stopped, before)
    restarted.restore(stopped.kept(stopped.keys()))
    assert restarted.changes()[0] == []
    learn_all(straight, after)
    learn_all(restarted, after)
    end = NOW + 10 * DAY_S
    assert restarted.seen(restarted.keys(), now=end) == straight.seen(straight.keys(), now=end)


def test_a_restart_with_less_room_keeps_those_last_heard_of() -> None:
    usages = Usages(most=3)
    for n, owner in enumerate("abc"):
        learn(usages, [(key(owner), summary())], now=NOW + n)
    smaller = Usages(most=2)
    smaller.restore(usages.kept(usages.keys()))
    assert smaller.keys() == [key("b"), key("c")]
