from nemutator_agent.windows.sent_symbols import AGAIN_S, SentSymbols
from nemutator_common.windows import MOST_SYMBOLS, FunctionSymbol, SymbolFrame, WindowSymbols

SITES = {f"{number:x}": (SymbolFrame(f"f{number}"),) for number in range(MOST_SYMBOLS + 5)}


def sent(symbols: SentSymbols, *, now: float = 1.0, dropped: int = 0) -> list[WindowSymbols]:
    return list(symbols.missing(SITES, {}, now=now, dropped=dropped))


def test_each_symbol_is_sent_once() -> None:
    symbols = SentSymbols("n")
    first = sent(symbols)
    assert [len(one.sites) for one in first] == [MOST_SYMBOLS, 5]
    assert {one.id for record in first for one in record.sites} == SITES.keys()
    assert sent(symbols) == []


def test_after_a_loss_all_are_sent_again() -> None:
    symbols = SentSymbols("n")
    sent(symbols)
    assert len(sent(symbols, dropped=1)) == 2
    assert sent(symbols, dropped=1) == []


def test_after_hours_all_are_sent_again() -> None:
    symbols = SentSymbols("n")
    sent(symbols)
    assert sent(symbols, now=AGAIN_S - 1) == []
    assert len(sent(symbols, now=AGAIN_S)) == 2
    assert sent(symbols, now=AGAIN_S + 1) == []


def test_functions_are_sent_in_records_of_their_own() -> None:
    symbols = SentSymbols("n")
    function = FunctionSymbol("ff", "main.f", "m.go", 3)
    (record,) = symbols.missing({}, {"ff": function}, now=1.0, dropped=0)
    assert record == WindowSymbols(node="n", functions=(function,))


def test_what_is_remembered_is_bounded() -> None:
    symbols = SentSymbols("n", most=3)
    sent(symbols)
    assert len(sent(symbols)) == 2
