import contextlib
import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.yaml_documents import (
    LARGEST,
    MOST,
    DocumentError,
    escaped,
    line_of,
    parsed,
    written,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_what_was_written_is_read_back(document: object) -> None:
    for text in (written(document), escaped(document), json.dumps(document)):
        assert parsed(text.encode()) == (() if document is None else (document,))


@given(JSON)
def test_what_is_written_for_people_shows_every_character(document: object) -> None:
    text = written(document)
    assert text.replace("\n", "").isprintable()
    assert yaml.safe_load(text) == document


def test_people_read_their_own_order_letters_and_lines() -> None:
    long = "word " * 60 + "end"
    document = {"b": "Größe", "a": ["1", "on", long], "script": "one\ntwo\n"}
    assert written(document) == (
        f"b: Größe\na:\n- '1'\n- 'on'\n- {long}\nscript: |\n  one\n  two\n"
    )
    assert "\\u202E" in written({"a": "\u202eevil"})
    shared = {"x": 1}
    assert "&" not in written({"a": shared, "b": shared})


def test_a_file_has_several_documents_and_empty_ones_do_not_count() -> None:
    assert parsed(b"a: 1\n---\n---\n# nothing\n---\nb: [x, 2.5, null, true]\n") == (
        {"a": 1},
        {"b": ["x", 2.5, None, True]},
    )
    assert parsed(b"") == ()


def test_what_looks_like_a_date_is_text() -> None:
    assert parsed(b"when: 2026-01-01\n") == ({"when": "2026-01-01"},)


def test_what_looks_like_a_time_of_day_is_text() -> None:
    for text in ("22:30", "1:30:00", "-9:05", "190:20:30.15", "7:3"):
        assert parsed(f"at: {text}\n".encode()) == ({"at": text},)


def test_the_other_words_of_old_yaml_are_what_they_are_to_kubectl() -> None:
    assert parsed(b"[yes, NO, on, Off, 017, 1_000, 0b11, +1, 08:75]\n") == (
        [True, False, True, False, 15, 1000, 3, 1, "08:75"],
    )


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"a: &x [1]\nb: *x\n", "line 2: aliases are not taken"),
        (b"a: 1\na: 2\n", "line 2: the key 'a' is there twice"),
        (b'{"a": 1, "b": {"c": 1, "c": 2}}', "the key 'c' is there twice"),
        (b'{"a": ' + b"1" * 5_000 + b"}", "a number has thousands of digits"),
        (b"a: " + b"1" * 5_000, "line 1: '1+' cannot be read as int"),
        (b"a:\n  b: 0x" + b"f" * 5_000, "line 2: a number has thousands of digits"),
        (b"a: -0b" + b"1" * 20_000, "line 1: a number has thousands of digits"),
        (b"b:\n  a: !!bool x\n", "line 2: 'x' cannot be read as bool"),
        (b"a: !!timestamp 2026-01-01\n", "a timestamp does not exist in JSON"),
        (b"a: !!int ''\n", "'' cannot be read as int"),
        (b"a: !!float " + b"1:" * 400 + b"1", "cannot be read as float"),
        (b"a: !!map x\n", "line 1: expected a mapping node"),
        (b'{"a": 1e999}', "JSON has no number inf"),
        (b"1: x\n", "line 1: the key '1' is not text: quote it"),
        (b"? [a]\n: x\n", "is not text"),
        (b"a: !!python/object/apply:os.system [x]\n", "could not determine a constructor"),
        (b"a: !!python/name:os.system\n", "could not determine a constructor"),
        (b"a:\n- !!set {x}\n", "line 2: a set does not exist in JSON"),
        (b"a: !!omap [b: 1]\n", "line 1: a omap does not exist in JSON"),
        (b"a: !!binary aGk=\n", "a binary does not exist in JSON"),
        (b'"\\ud800"', "half of a character"),
        (b"a: 1\nb: '\\x'\nc: \"\\ud800\"\n", "line 3: a surrogate is half of a character"),
        (b"a: .inf\n", "line 1: JSON has no number inf"),
        (b"a: [\n", "line 2: expected the node content"),
        (b"a: 1\nb:\n\tc: 1\n", "line 3: found character"),
        (b"a: 1\nb: c: d\n", "line 2: mapping values are not allowed here"),
        (b"a: 1\nb: \x00\n", "line 2: unacceptable character"),
        (b"\xff\xfe\xff", "unacceptable character"),
        (b"[" * 70 + b"]" * 70, "nested too deeply"),
        (b"a:\n" + b"- " * 70 + b"b\n", "line 2: nested too deeply"),
        (b"[" * 20_000, "nested too deeply"),
        (b"--- a\n" * (MOST + 1), f"more than {MOST} documents"),
        (b" " * (LARGEST + 1), "larger than"),
    ],
)
def test_what_json_cannot_say_is_refused(content: bytes, why: str) -> None:
    with pytest.raises(DocumentError, match=why):
        parsed(content)


HOSTILE = st.text("{}[]:-&*!|>%@ \n\t\"'ab1#?,", max_size=60).map(str.encode)


@given(st.binary(max_size=200) | HOSTILE)
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    with contextlib.suppress(DocumentError):
        json.dumps(parsed(content), allow_nan=False)


TEXT = b"""# of the team
kind: MutationPolicy
spec:
  mutations:
  - labels:
      set:
        a b: c
  - labels: {}
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("kind", 2),
        ("spec", 3),
        ("spec.mutations[0].labels.set[a b]", 7),
        ("spec.mutations[1].labels.set", 8),
        ("spec.mutations[9].labels", 4),
        ("spec.mutations[-1]", 4),
        ("spec.mutations[" + "9" * 5_000 + "]", 4),
        ("spec..mode", 3),
        ("the document", None),
        ("", None),
    ],
)
def test_a_field_is_found_in_its_line_or_that_of_what_is_around_it(
    path: str, line: int | None
) -> None:
    assert line_of(TEXT, path) == line


@given(st.binary(max_size=60) | HOSTILE, st.text("ab1.[]", max_size=12))
def test_a_field_is_looked_for_in_any_bytes(content: bytes, path: str) -> None:
    line = line_of(content, path)
    assert line is None or 1 <= line <= 1 + len(content)
