"""A path is read as it is written, and what is none says where."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.mutations.path_texts import LONGEST, parse_path, read_path
from nemutator_controller.mutations.paths import (
    DEEPEST,
    FieldStep,
    ItemStep,
    KeyStep,
    Path,
    PathError,
    field_path,
    whole,
)

from tests.controller.mutations.pods import texts

words = st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,8}", fullmatch=True)
items = st.dictionaries(texts, st.none() | st.booleans() | st.integers() | texts, max_size=3)
steps = st.one_of(
    words.map(FieldStep),
    texts.map(KeyStep),
    st.builds(ItemStep, words, texts),
    items.map(lambda item: whole(field_path("a"), item).steps[-1]),
)
paths = st.builds(
    lambda first, others: Path((FieldStep(first), *others)), words, st.lists(steps, max_size=8)
)


@given(paths)
def test_a_path_is_read_as_it_is_written(path: Path) -> None:
    assert read_path(str(path)) == path
    assert parse_path(str(path)) == path


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the name of a field at its begin"),
        ("[a]", "the name of a field at its begin"),
        ("a.", "the name of a field at character 3"),
        ("a b", "'.' or '[' at character 2"),
        ("a[b", "']' at character 4"),
        ("a[]", "a name at character 3"),
        ('a["b]', "a string in quotes at character 3"),
        ("a[b=]", "a name at character 5"),
        ("a[b=c=d]", "']' at character 6"),
        ("a[=]", "an item as JSON at character 4"),
        ("a[={]", "an item as JSON at character 4"),
        ("a[={}", "']' at character 6"),
        ("a" * (LONGEST + 1), "longer than"),
        ("a" + ".a" * DEEPEST, "deeper than"),
        ("a[=" + "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1) + "]", "an item deeper than"),
        ("a[=" + "[" * 900 + "]" * 900 + "]", "an item deeper than"),
    ],
)
def test_what_is_no_path_says_where(text: str, why: str) -> None:
    with pytest.raises(PathError) as error:
        parse_path(text)
    assert why in str(error.value)
