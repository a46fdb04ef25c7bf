from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.ingest.progress import Stored, fresh_of

from tests.fakes.batches import batch, sequences


@given(sequences, st.integers(0, 50))
def test_fresh_and_repeated_together_are_the_batch(seqs: list[int], before: int) -> None:
    fresh = fresh_of(batch(seqs).envelopes, after=before)
    assert [envelope.seq for envelope in fresh] == [seq for seq in seqs if seq > before]


@given(sequences, st.integers(0, 50))
def test_every_number_up_to_the_new_one_is_stored_before_fresh_or_lost(
    seqs: list[int], before: int
) -> None:
    stored = Stored(before, fresh_of(batch(seqs).envelopes, after=before))
    assert stored.seq == max(before, *seqs)
    assert stored.lost >= 0
    assert before + len(stored.fresh) + stored.lost == stored.seq
