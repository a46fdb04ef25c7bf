import csv
import gzip
import io
import json

from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_controller.exports.compressed_lines import CompressedLines

cells = st.one_of(st.none(), st.text(st.characters(exclude_categories=["Cs"]), max_size=8))


@settings(deadline=None, max_examples=50)
@given(st.lists(st.lists(cells, min_size=2, max_size=2), max_size=6), st.integers(0, 6))
def test_rows_come_back_from_csv_however_they_were_added(
    rows: list[list[str | None]], first: int
) -> None:
    lines = CompressedLines()
    lines.add_rows(rows[:first])
    lines.add_rows(rows[first:])
    assert lines.lines == len(rows)
    text = gzip.decompress(lines.content()).decode()
    found = list(csv.reader(io.StringIO(text, newline="")))
    assert found == [[cell or "" for cell in row] for row in rows]


def test_documents_are_a_line_each() -> None:
    lines = CompressedLines()
    documents = [{"name": "a\nb"}, {"name": "c"}]
    lines.add_documents(documents)
    text = gzip.decompress(lines.content()).decode()
    assert [json.loads(line) for line in text.splitlines()] == documents
