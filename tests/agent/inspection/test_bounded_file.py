import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.inspection.bounded_file import BoundedFile, TooMuchError


@given(st.integers(-(2**70), 2**70), st.integers(-5, 100))
def test_a_place_that_is_none_holds_nothing(offset: int, size: int) -> None:
    content = bytes(50)

    def read_at(offset: int, size: int) -> bytes:
        assert 0 <= offset < 2**63
        assert size > 0
        return content[offset : offset + size]

    assert len(BoundedFile(read_at, budget_bytes=100, budget_reads=1).read(offset, size)) <= 50


def test_the_budget_ends_it() -> None:
    reads = BoundedFile(lambda _, size: b"", budget_bytes=100, budget_reads=2)
    reads.read(0, 1)
    reads.read(0, 1)
    with pytest.raises(TooMuchError):
        reads.read(0, 1)
    with pytest.raises(TooMuchError):
        BoundedFile(lambda _, size: b"", budget_bytes=100, budget_reads=2).read(0, 101)
