"""The expected texts are what `__cxa_demangle` of GNU's libstdc++ gives for these names."""

import pytest
from nemutator_agent.profiler.symbols.demangled.cursor import NotMangledError
from nemutator_agent.profiler.symbols.demangled.itanium import demangled

from tests.agent.profiler.symbols.demangled.mangled import CPP, free


@pytest.mark.parametrize(("mangled", "name"), CPP)
def test_a_name_is_what_cpp_filt_shows(mangled: str, name: str) -> None:
    assert demangled(mangled, free) == name


@pytest.mark.parametrize(
    "mangled",
    ["_Z", "_Zx", "_ZN", "_ZN3fooE3", "_Z3fo", "_Z99999999999foo", "_ZN3fooS9_E", "_Z3fooT_", "_Z3fooI",
     "_ZN3foocvT_IiEEv", "_Z1fDy", "_Z3foov!", "_Z3fooS", "_ZNSt", "_Z1fIJ"],
)  # fmt: skip
def test_what_is_cut_or_not_known_is_refused(mangled: str) -> None:
    with pytest.raises(NotMangledError):
        demangled(mangled, free)


def test_parts_that_stand_for_each_other_again_and_again_are_bounded() -> None:
    # Each parameter has the one before it twice.
    pairs = "".join(f"1AIS{number}_S{number}_E" for number in "02468ACEGIK")
    with pytest.raises(NotMangledError):
        demangled(f"_Z1f1AIiE{pairs}", free)
    with pytest.raises(NotMangledError):
        demangled("_Z1f" + "P" * 1000 + "i", free)
