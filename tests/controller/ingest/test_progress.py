from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.wire import StreamBatch
from nemutator_controller.ingest.progress import Stored, new_records, new_reports

from tests.fakes.batches import batch, sequences


@given(sequences, st.integers(0, 50))
def test_new_and_repeated_reports_together_are_the_batch(seqs: list[int], before: int) -> None:
    fresh = new_reports(batch(seqs), before=before).fresh
    assert [envelope.seq for envelope in fresh] == [seq for seq in seqs if seq > before]


@given(sequences, st.integers(0, 50))
def test_every_number_up_to_the_last_is_stored_before_new_or_lost(
    seqs: list[int], before: int
) -> None:
    stored = new_reports(batch(seqs), before=before)
    assert stored.seq == max(before, *seqs)
    assert stored.lost >= 0
    assert before + len(stored.fresh) + stored.lost == stored.seq


@given(st.integers(1, 50), st.integers(1, 20), st.integers(0, 80))
def test_new_records_are_those_with_a_higher_number(first: int, count: int, before: int) -> None:
    numbers = range(first, first + count)
    given_ = StreamBatch("n1", "e", first, tuple({"n": number} for number in numbers))
    stored = new_records(given_, before=before)
    assert [one["n"] for one in stored.fresh] == [number for number in numbers if number > before]
    assert (stored.before, stored.seq) == (before, max(before, numbers[-1]))
    assert stored.lost == max(0, first - 1 - before)


def test_a_batch_that_adds_nothing_loses_nothing() -> None:
    assert new_reports(batch((1, 2)), before=2) == Stored(2, 2, [])
