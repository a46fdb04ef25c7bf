"""Which mutations a command line means."""

import argparse

import pytest
from nemutator_ctl.rollback.selection import add_selection, is_bulk, moment_of, query_of

NOW = 1_760_000_000.0


def given(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_selection(parser)
    return parser.parse_args(words)


def test_nothing_is_chosen_unless_it_is_said() -> None:
    assert not is_bulk(given())
    assert is_bulk(given("--all"))
    assert query_of(given("--all"), NOW) == {}
    assert is_bulk(given("-n", "team"))


def test_each_word_narrows() -> None:
    words = given("-n", "team", "--workload", "Deployment/web", "--policy", "p", "--since", "2h")
    assert query_of(words, NOW) == {
        "namespace": "team",
        "workload": "Deployment/web",
        "policy": "p",
        "since": repr(NOW - 7_200),
    }


def test_times_are_ago_or_dates() -> None:
    assert moment_of("3d", NOW) == NOW - 259_200
    assert moment_of("2025-10-09T08:53:20", 0) == NOW
    assert moment_of("2025-10-09T10:53:20+02:00", 0) == NOW


@pytest.mark.parametrize("words", [("--workload", "web"), ("--since", "soon"), ("--until", "-1h")])
def test_what_is_not_understood_is_named(words: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="write"):
        query_of(given(words[0] + "=" + words[1]), NOW)


@pytest.mark.parametrize(
    ("since", "until"),
    [
        ("1h", "2h"),
        ("2026-01-31", "2026-01-31"),
        # In India it is later already.
        ("2026-01-31T12:00Z", "2026-01-31T12:00+05:30"),
    ],
)
def test_a_time_that_ends_before_it_begins_is_named(since: str, until: str) -> None:
    with pytest.raises(ValueError, match="earlier"):
        query_of(given(f"--since={since}", f"--until={until}"), NOW)
    assert query_of(given("--since=2026-01-31T12:00+05:30", "--until=2026-01-31T12:00Z"), NOW)


def test_the_hour_that_comes_twice_is_told_apart_by_its_offset() -> None:
    # Where clocks are set back, as in Berlin on 25 October 2026, 02:30 is there twice.
    first, second = (moment_of(f"2026-10-25T02:30+0{hours}:00", 0) for hours in (2, 1))
    assert (second - first, moment_of("2026-10-25T01:30", 0)) == (3_600, second)
