"""The page of a soak tells what held and what did not, whatever names and errors are in it."""

from dataclasses import replace

from tests.drill.soak_report import (
    MOST_COMPLAINTS,
    Latencies,
    Memory,
    Round,
    Soak,
    grows,
    latencies_of,
    memory_of,
    page,
)

SOAK = Soak(
    began="2026-11-27 03:00 UTC",
    machine="2 CPUs",
    minutes=30.0,
    load=(3.0, 9.5),
    pods_per_s=21.04,
    rounds=(
        Round(1.0, ("brain",), 10.0, 1.0, 2.0),
        Round(60.0, ("brain", "Vault"), 30.0, 5.0, 0.5),
    ),
    counts={"pods that were changed": 12, "secrets written": 2},
    latencies=Latencies(12, 20.4, 99.6, 1500),
    memory=(Memory("brain", 3, 100.0, 101.0, 120.0),),
)


def test_a_soak_that_held_says_so_first_and_has_no_list_of_complaints() -> None:
    shown = page(SOAK)
    assert shown.startswith("# Soak of 2026-11-27 03:00 UTC: every promise held\n")
    assert "did not hold" not in shown
    assert (
        "21.0 pods were made and ended each second, and 3 processes were killed in 2 rounds"
        in shown
    )
    assert "| brain | 2 | 20.0 | 30.0 | 5.0 | 2.0 |" in shown
    assert "| Vault | 1 | 30.0 | 30.0 | 5.0 | 0.5 |" in shown
    assert "| 12 | 20 | 100 | 1500 |" in shown


def test_what_did_not_hold_comes_before_all_figures_and_is_only_text() -> None:
    shown = page(replace(SOAK, complaints=("pod <b>a|b</b>\n# lost `it`",)))
    assert shown.startswith("# Soak of 2026-11-27 03:00 UTC: NOT every promise held\n")
    assert r"- pod \<b\>a\|b\</b\> \# lost \`it\`" in shown
    assert shown.index("did not hold") < shown.index("## Counted")


def test_of_very_many_complaints_the_number_is_told() -> None:
    shown = page(replace(SOAK, complaints=("same",) * (MOST_COMPLAINTS + 7)))
    assert shown.count("- same\n") == MOST_COMPLAINTS
    assert "- and 7 more\n" in shown


def test_memory_is_compared_between_the_first_and_the_last_third() -> None:
    found = memory_of("brain", [(0, 10), (500, 12), (900, 90), (1300, 40), (1800, 44)], minutes=30)
    assert found == Memory("brain", 5, 11, 42, 90)
    assert grows(found)
    assert not grows(replace(found, late_mib=22))
    assert memory_of("brain", [(0, 10), (900, 10)], minutes=30) is None


def test_latencies_are_those_that_were_measured() -> None:
    assert latencies_of([float(one) for one in range(101)]) == Latencies(101, 50, 99, 100)
    assert latencies_of([]) == Latencies(0, 0, 0, 0)
