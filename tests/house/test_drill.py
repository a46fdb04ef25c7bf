"""The faults of `make drill` are real ones: each changes what the module does, and parses."""

import ast

import pytest

from tests.drill.faults import faults, faulty

SOURCE = '''
MOST = 64

class Queue:
    """Of at most MOST."""
    size: int = 7

    def put(self, item: object, deadline_s: float = 2.0) -> bool:
        log.info("put", {names.COUNT: 1})
        if self.closed or len(self.items) >= MOST:
            raise FullError("it is full" + str(item))
        self.items.append(item)
        self.wait(timeout=33)
        self.last = str(item)[:200]
        self.total += 1
        return True

    def size(self) -> int:
        return self.total
'''


def every_fault(source: str) -> list[str]:
    return [fault.what for fault in faults(ast.parse(source))]


def test_each_fault_is_another_program_that_parses() -> None:
    whole = ast.unparse(ast.parse(SOURCE))
    broken = [faulty(SOURCE, number) for number in range(len(every_fault(SOURCE)))]
    assert len({whole, *broken}) == len(broken) + 1
    for source in broken:
        ast.parse(source)


@pytest.mark.parametrize(
    "what",
    [
        "1 → 2 in 1",
        "the other way round in if self.closed or len(self.items) >= MOST:…",
        "Or → And in self.closed or len(self.items) >= MOST",
        "GtE → Gt in len(self.items) >= MOST",
        "left out: raise FullError('it is full' + str(item))",
        "left out: self.items.append(item)",
        "left out: self.total += 1",
        "Add → Sub in self.total += 1",
        "True → False in True",
        "returns None in return self.total",
    ],
)
def test_a_fault_of_each_sort_is_found(what: str) -> None:
    assert what in every_fault(SOURCE)


def test_what_no_test_should_repeat_is_left_alone() -> None:
    found = " ".join(every_fault(SOURCE))
    assert "64" not in found
    assert "7" not in found
    assert "2.0" not in found
    assert "33 →" not in found
    assert "200 →" not in found
    assert "log" not in found
    assert "returns None in return True" not in found
    assert "Add → Sub in 'it" not in found
