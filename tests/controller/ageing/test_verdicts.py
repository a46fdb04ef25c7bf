from dataclasses import replace
from itertools import accumulate

from nemutator_common.windows import SymbolFrame
from nemutator_controller.ageing.sentences import rate, sentence
from nemutator_controller.ageing.trends import DAY_S
from nemutator_controller.ageing.verdicts import assess, own_frame

from tests.fakes.ageing import FRAMES, REMEMBER, SHOP, kept_windows, site, window_source


def test_a_leak_has_its_line_its_rate_and_how_much_it_explains() -> None:
    windows = kept_windows(10, grows_by=5)
    found = assess(SHOP, {window_source(): windows}, FRAMES, now=600)
    assert (found.verdict, found.state, found.measure) == ("leak", "provisional", "heap")
    assert round(found.rate_per_min / 1e6, 3) == 5
    (leaky,) = found.sites
    assert (leaky.function, leaky.file, leaky.line) == ("main.remember", "/src/main.go", 84)
    assert round(leaky.explained_share, 3) == 1
    assert leaky.kept_share == 0.5
    assert leaky.stack == REMEMBER
    assert found.replicas_say.startswith("there is one process only")


def test_growth_is_compared_with_the_load_where_that_is_counted() -> None:
    leaking = kept_windows(30, grows_by=1)
    objects = accumulate(1_000 * (place + 3 * (place % 3)) for place in range(30))
    climbing = [
        replace(one, allocated_objects=total) for one, total in zip(leaking, objects, strict=True)
    ]
    found = assess(SHOP, {window_source(): climbing}, FRAMES, now=1800)
    assert (found.verdict, found.load) == ("leak", "allocations")
    assert assess(SHOP, {window_source(): leaking}, FRAMES, now=1800).load is None
    # Now memory goes up and down with what is allocated.
    levels = [20_000_000 + 1_500_000 * (place + 3 * (place % 3)) for place in range(30)]
    following = [
        replace(one, heap_bytes=level, rss_bytes=level)
        for one, level in zip(climbing, levels, strict=True)
    ]
    found = assess(SHOP, {window_source(): following}, FRAMES, now=1800)
    assert (found.verdict, found.reason) == (
        "steady",
        "it grew with its load, and follows that more closely than time",
    )


def test_a_reading_of_the_same_collection_is_no_further_point() -> None:
    windows = [replace(one, collection=1, rss_bytes=None) for one in kept_windows(10, grows_by=5)]
    found = assess(SHOP, {window_source(): windows}, FRAMES, now=600)
    assert (found.verdict, found.readings) == ("cannot tell", 1)


def test_memory_outside_of_the_heap_is_a_leak_without_a_line() -> None:
    windows = [
        replace(one, heap_bytes=None, sites=None, missing={"heap": "MemProfileRate is 0"})
        for one in kept_windows(10, grows_by=5)
    ]
    found = assess(SHOP, {window_source(): windows}, FRAMES, now=600)
    assert (found.verdict, found.measure, found.sites) == ("leak", "memory", ())


def test_memory_that_goroutines_hold_is_theirs_and_not_of_a_small_site() -> None:
    windows = [
        replace(
            one,
            heap_bytes=round((20 + 0.1 * place) * 1e6),
            goroutines=100 + 90 * place,
            sites={"leaky": site(round((1 + 0.1 * place) * 1e6))},
        )
        for place, one in enumerate(kept_windows(12, grows_by=5))
    ]
    found = assess(SHOP, {window_source(): windows}, FRAMES, now=600)
    assert (found.verdict, found.measure, found.sites) == ("leak", "memory", ())
    assert found.goroutines_per_min == 90
    assert found.reason.endswith("; so does the number of goroutines")
    assert sentence(found) == (
        "shop: leak (provisional): memory grows since its start, 5.0 MB/min,"
        " with 90 more goroutines a minute"
    )


def test_memory_that_grows_waits_for_its_line_while_the_heap_is_read() -> None:
    windows = [
        replace(one, collection=place // 3)
        for place, one in enumerate(kept_windows(10, grows_by=5))
    ]
    found = assess(SHOP, {window_source(): windows}, FRAMES, now=600)
    assert (found.verdict, found.sites) == ("cannot tell", ())
    assert found.reason == "4 of the 6 readings that it takes"


def test_why_nothing_can_be_told_is_told() -> None:
    windows = [
        replace(one, heap_bytes=None, rss_bytes=None, missing={"heap": "MemProfileRate is 0"})
        for one in kept_windows(10)
    ]
    found = assess(SHOP, {window_source(): windows}, FRAMES, now=600)
    assert found.verdict == "cannot tell"
    assert found.reason == "there is no reading yet; MemProfileRate is 0"


def test_goroutines_that_grow_are_a_drift() -> None:
    windows = [
        replace(one, goroutines=100 + 90 * place) for place, one in enumerate(kept_windows(12))
    ]
    found = assess(SHOP, {window_source(): windows}, FRAMES, now=720)
    assert (found.verdict, found.measure) == ("drift", "goroutines")
    assert round(found.rate_per_min) == 90


def test_replicas_of_different_ages_are_compared() -> None:
    old, young = window_source(1), window_source(2, started_at=300)
    leaking = kept_windows(20, grows_by=5)
    grown = {old: leaking, young: [replace(one, at=one.at + 300) for one in leaking[:15]]}
    found = assess(SHOP, grown, FRAMES, now=1200)
    assert (
        found.replicas_say
        == "it grows in all 2 processes, and the older has more: the code does it"
    )
    one_only = {old: kept_windows(20, grows_by=9), young: kept_windows(20)}
    found = assess(SHOP, one_only, FRAMES, now=1200)
    assert [round(one.rate_bytes_per_min) for one in found.replicas] == [9e6, 0]


def test_a_process_with_few_readings_is_not_compared() -> None:
    old, young = window_source(1), window_source(2, started_at=300)
    found = assess(
        SHOP, {old: kept_windows(20, grows_by=9), young: kept_windows(2)}, FRAMES, now=1200
    )
    assert found.replicas_say.startswith("there is one process only")


def test_after_three_days_a_leak_is_firm_and_a_hot_spot_is_named() -> None:
    windows = kept_windows(7 * 48, every_s=1800, grows_by=0.1)
    found = assess(SHOP, {window_source(): windows}, FRAMES, now=7 * DAY_S)
    assert (found.verdict, found.state) == ("leak", "firm")
    steady = [
        replace(one, samples=300, functions={"calm": 30 if one.at < 6 * DAY_S else 120})
        for one in kept_windows(7 * 48, every_s=1800)
    ]
    found = assess(SHOP, {window_source(): steady}, FRAMES, now=7 * DAY_S)
    assert (found.verdict, found.measure) == ("hot spot grew", "cpu")
    assert found.functions[0].function == "main.cache"
    # Its numbers are those of the function, and not of the memory.
    assert [round(one, 3) for one in (found.first_level, found.last_level)] == [10, 40]
    assert (found.rate_per_min, rate(found)) == (0, "")
    assert found.p == found.functions[0].p
    assert {round(point.value) for point in found.points} == {10, 40}


def test_the_line_is_that_of_the_innermost_call_that_people_can_change() -> None:
    assert own_frame(REMEMBER).function == "main.remember"
    assert own_frame(REMEMBER[:1]).function == "runtime.makeslice"
    assert own_frame(()) == SymbolFrame("a function without a name")
