from hypothesis import given
from hypothesis import strategies as st
from nemutator_ctl.explain.histogram import Drawing, Mark, histogram, of_peaks

NARROW = Drawing(columns=20)


def test_the_most_frequent_amount_is_the_tallest_and_a_seldom_one_is_still_seen() -> None:
    lines = histogram([(0.0, 0.0, 0.999), (10.0, 10.0, 0.001)], [], NARROW)
    assert lines == ["█", "█", "█", "█" + " " * 18 + "▁", "─" * 20]


def test_marks_stand_at_their_amounts_and_turn_round_at_the_edge() -> None:
    lines = histogram([(5.0, 5.0, 1.0)], [Mark("p50 5", 5.0), Mark("limit 10", 10.0)], NARROW)
    assert lines[-3:] == ["──────────┴────────┴", "          ▲ p50 5", "          limit 10 ▲"]


def test_what_is_far_beyond_stands_at_the_edge_and_leaves_room() -> None:
    lines = histogram([(1.0, 1.0, 1.0)], [Mark("asked 1000", 1000.0)], NARROW)
    assert lines[0].index("█") == 4
    assert lines[-1] == "        asked 1000 ▶"


def test_a_bucket_that_is_wider_than_a_column_fills_all_of_it() -> None:
    assert histogram([(0.0, 10.0, 1.0)], [], NARROW)[0] == "█" * 20


def test_marks_without_an_amount_are_left_out_and_without_use_there_is_no_picture() -> None:
    assert histogram([(1.0, 1.0, 1.0)], [Mark("none", None)], NARROW)[-1] == "─" * 20
    assert histogram([], [Mark("p50", 1.0)], NARROW) == []
    assert histogram(of_peaks([]), [], NARROW) == []
    assert histogram([(0.0, 0.0, 1.0)], [], NARROW) == []


amounts = st.floats(0, 1e18)


@given(
    st.lists(st.tuples(amounts, amounts, st.floats(0, 1)).map(lambda one: (*sorted(one[:2]), one[2])), max_size=6),
    st.lists(st.one_of(st.none(), amounts), max_size=4),
    st.integers(-5, 300),
    st.booleans(),
)  # fmt: skip
def test_no_picture_is_wider_than_its_room_and_in_ascii_it_is_ascii(
    buckets: list[tuple[float, float, float]],
    marked: list[float | None],
    columns: int,
    unicode: bool,
) -> None:
    marks = [Mark("m", amount) for amount in marked]
    lines = histogram(buckets, marks, Drawing(columns, unicode))
    assert all(len(line) <= max(20, min(columns, 100)) for line in lines)
    assert unicode or all(line.isascii() for line in lines)
