from nemutator_common.profiles.model import Share
from nemutator_ctl.function_table import MOST_FUNCTIONS, amounts_of, function_table, mebibytes

WORK = Share("main.work", "go", flat=60, cumulative=90)


def test_amounts_have_their_shares() -> None:
    head, row = function_table([WORK], 100).splitlines()
    assert head.split() == ["OWN", "OWN%", "TOTAL", "TOTAL%", "FUNCTION"]
    assert row.split() == ["60", "60.0%", "90", "90.0%", "main.work"]


def test_a_heap_says_where_each_has_allocated() -> None:
    big = Share("main.keep", "go", flat=3 << 20, cumulative=3 << 20)
    places = {"main.keep": "main.go:27"}
    head, first, second = function_table(
        [big, WORK], 4 << 20, amount=mebibytes, places=places
    ).splitlines()
    assert head.endswith("FUNCTION    ALLOCATED AT")
    assert first.split() == [
        "3.00",
        "MiB",
        "75.0%",
        "3.00",
        "MiB",
        "75.0%",
        "main.keep",
        "main.go:27",
    ]
    assert second.split()[-1] == "main.work"


def test_those_that_are_not_shown_are_counted() -> None:
    assert function_table([WORK] * (MOST_FUNCTIONS + 3), 9).endswith("\nand 3 more\n")


def test_amounts_are_read_in_units_of_people() -> None:
    assert amounts_of("bytes")(3 << 20) == "3.00 MiB"
    assert amounts_of("nanoseconds")(1_234_567_890) == "1.235 s"
    assert amounts_of("samples")(7) == "7"
