from hypothesis import given
from hypothesis import strategies as st
from nemutator_ctl.tables import Column, table
from nemutator_ctl.terminal_text import columns

LAYOUT = (Column("NAME", limit=12), Column("CPU", right=True), Column("LAST"))


@given(st.lists(st.tuples(st.text(), st.text(), st.just("end"))))
def test_the_last_column_begins_at_the_same_place_in_each_line(
    rows: list[tuple[str, str, str]],
) -> None:
    lines = table(LAYOUT, rows).splitlines()
    assert len(lines) == len(rows) + 1
    assert {
        columns(line) - columns(word)
        for line, word in zip(lines, ["LAST"] + ["end"] * len(rows), strict=True)
    } == {columns(lines[0]) - 4}
