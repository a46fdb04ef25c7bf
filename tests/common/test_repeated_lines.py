"""How they come out of the real handler is in `tests/contract/core/test_logs.py`."""

import logging
from collections.abc import Iterator, Mapping

import pytest
from nemutator_common import names
from nemutator_common.repeated_lines import (
    NOTHING_MORE,
    RepeatedLine,
    RepeatingFormatter,
    RepeatsLines,
)

LOG = logging.getLogger("x")
LINE = RepeatedLine(LOG, logging.INFO, "grant", {names.CACHED: True})


class Handler(RepeatsLines):
    def __init__(self, *, repeats: bool) -> None:
        super().__init__()
        self.repeats = repeats
        self.repeated: list[RepeatedLine] = []
        self.records: list[logging.LogRecord] = []

    def repeat(self, line: RepeatedLine, more: Mapping[names.Key, object] = NOTHING_MORE) -> bool:
        self.repeated.append(line)
        return self.repeats

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.setLevel(logging.INFO)
    yield root
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.mark.parametrize("repeats", [True, False])
def test_a_line_comes_out_once_whoever_writes_it(root: logging.Logger, repeats: bool) -> None:
    handler = Handler(repeats=repeats)
    root.handlers[:] = [handler]
    LINE.log_again()
    assert handler.repeated == [LINE]
    assert [record.getMessage() for record in handler.records] == ["grant"] * (not repeats)


def test_several_handlers_get_it_in_the_usual_way(root: logging.Logger) -> None:
    handlers = Handler(repeats=True), Handler(repeats=True)
    root.handlers[:] = handlers
    LINE.log_again()
    for handler in handlers:
        assert not handler.repeated
        assert [record.args for record in handler.records] == [{names.CACHED: True}]


def test_by_default_nothing_is_repeated() -> None:
    assert not RepeatsLines().repeat(LINE)
    assert RepeatingFormatter().format_again(LINE) is None


def test_a_line_below_the_level_is_left_out(root: logging.Logger) -> None:
    handler = Handler(repeats=True)
    root.handlers[:] = [handler]
    root.setLevel(logging.ERROR)
    LINE.log_again()
    assert not handler.repeated
