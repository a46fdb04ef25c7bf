from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.symbols.nearest import Nearest

ADDRESSES = st.integers(0, 200)


@given(st.sets(ADDRESSES, max_size=20), st.lists(ADDRESSES, max_size=50))
def test_it_is_the_last_symbol_at_or_before_each_address(
    wanted: set[int], symbols: list[int]
) -> None:
    nearest: Nearest[int, int] = Nearest(sorted(wanted))
    for number, symbol in enumerate(symbols):
        nearest.offer(symbol, number)
    for address, found in zip(sorted(wanted), nearest.found(), strict=True):
        before = [symbol for symbol in symbols if symbol <= address]
        assert (found[0] if found else None) == max(before, default=None)
        assert found is None or symbols[found[1]] == found[0]
