import pytest
from nemutator_agent.inspection.bounded_file import TooMuchError
from nemutator_agent.profiler.symbols.demangled.cursor import LONGEST_MANGLED
from nemutator_agent.profiler.symbols.demangled.names import demangled

from tests.agent.profiler.symbols.demangled.mangled import CPP, RUST, free


@pytest.mark.parametrize(("mangled", "name"), CPP + RUST)
def test_each_language_is_known_by_its_prefix(mangled: str, name: str) -> None:
    assert demangled(mangled, free) == name


@pytest.mark.parametrize(
    "name",
    ["main", "", "_start", "_Z", "_R", "_ZN", "_Zzzz", "_ZN3foo", "_Z3foo" + "P" * LONGEST_MANGLED],
)
def test_what_is_not_mangled_stays_as_it_is(name: str) -> None:
    assert demangled(name, free) == name


def test_the_effort_that_is_left_ends_it() -> None:
    def none_left(steps: int) -> None:
        raise TooMuchError

    with pytest.raises(TooMuchError):
        demangled("_ZN3foo3barEv", none_left)
