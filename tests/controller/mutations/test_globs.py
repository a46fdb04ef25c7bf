"""Globs fit what Python's own fnmatch says."""

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.mutations.globs import fits, fits_any

letters = st.text("ab*?[]!-.\n", max_size=6)


@given(letters, letters)
def test_a_glob_fits_as_python_says(text: str, glob: str) -> None:
    assert fits(text, glob) == fits_any(text, [glob]) == fnmatchcase(text, glob)


@pytest.mark.parametrize(
    ("globs", "expected"),
    [(["*"], True), (["x", "shop-?"], True), (["shop"], False), (["Shop-*"], False), ([], False)],
)
def test_one_of_several_is_enough(globs: list[str], expected: bool) -> None:
    assert fits_any("shop-a", globs) is expected
