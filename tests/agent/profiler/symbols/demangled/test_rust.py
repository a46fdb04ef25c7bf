"""The expected texts are those of rustfilt, or of c++filt without hashes of crates and types of numbers."""

import pytest
from nemutator_agent.profiler.symbols.demangled import rust
from nemutator_agent.profiler.symbols.demangled.cursor import NotMangledError

from tests.agent.profiler.symbols.demangled.mangled import RUST, free


@pytest.mark.parametrize(("mangled", "name"), RUST)
def test_a_name_is_what_rustfilt_shows(mangled: str, name: str) -> None:
    read = rust.v0 if mangled.startswith("_R") else rust.legacy
    assert read(mangled, free) == name


@pytest.mark.parametrize(
    "mangled",
    ["_R", "_RC", "_RNvC1a", "_RB_", "_RNvB5_1a", "_RIC0FG_RL1_hEuE", "_RC1a!", "_RIC1aKc110000_E",
     "_RIC1aFGzz_EuE", "_RIC1aKq1_E", "_RC1au3a_\u20ac"],
)  # fmt: skip
def test_what_is_cut_or_forged_is_refused(mangled: str) -> None:
    with pytest.raises(NotMangledError):
        rust.v0(mangled, free)


@pytest.mark.parametrize(
    "mangled", ["_ZN3foo3barE", "_ZN3foo17h1234567890abcdegE", "_ZN17h1234567890abcdefE", "_ZN3fo"]
)
def test_a_name_of_cpp_is_none_of_rust(mangled: str) -> None:
    with pytest.raises(NotMangledError):
        rust.legacy(mangled, free)


def test_no_character_comes_out_that_is_none() -> None:
    name = "_ZN12$ud800$$u41$17h1234567890abcdefE"
    assert rust.legacy(name, free) == "$ud800$A"


def test_references_that_double_are_bounded() -> None:
    # Each tuple has the one before it twice.
    text = "_RIC0Tuu" + "E"
    for _ in range(40):
        text = text[:-1] + "TB5_B5_E" + "E"
    with pytest.raises(NotMangledError):
        rust.v0(text, free)
