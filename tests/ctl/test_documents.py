import argparse
import contextlib
import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from nemutator_ctl.documents import (
    LARGEST,
    MOST,
    DocumentError,
    Output,
    add_output,
    called,
    parsed,
    rendered,
    unlisted,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_both_forms_read_back_and_print(document: object) -> None:
    as_json, as_yaml = rendered(document, Output.JSON), rendered(document, Output.YAML)
    assert json.loads(as_json) == document
    assert yaml.safe_load(as_yaml) == document
    for text in (as_json, as_yaml):
        assert text.endswith("\n")
        assert text.isascii()
        assert text.replace("\n", "").isprintable()


def test_keys_keep_their_order() -> None:
    assert rendered({"b": 1, "a": 2}, Output.YAML) == "b: 1\na: 2\n"


@given(JSON)
def test_what_was_written_is_read_back(document: object) -> None:
    for output in (Output.JSON, Output.YAML):
        read = parsed(rendered(document, output).encode())
        assert read == (() if document is None else (document,))


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


def test_a_document_is_called_by_its_kind_and_name() -> None:
    assert called({"kind": "Pod", "metadata": {"name": "web"}}) == "Pod web"
    assert called({"kind": "Pod", "metadata": {"generateName": "web-"}}) == "Pod web-"
    assert called({"kind": "Pod", "metadata": {}}) == "Pod without a name"
    for nameless in (None, 3, {"kind": "Pod"}, {"kind": "Pod", "metadata": 3}):
        assert called(nameless) == ""


def test_a_list_stands_for_its_items() -> None:
    pods = {"apiVersion": "v1", "kind": "PodList", "items": [{"metadata": {"name": "a"}}]}
    whole = {"kind": "List", "items": [{"kind": "Job"}, pods, 3]}
    named = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
    assert list(unlisted([whole, 4])) == [{"kind": "Job"}, named, 3, 4]
    for none in ({"kind": "List"}, {"kind": "List", "items": {}}, {"kind": "Job", "items": [1]}):
        assert list(unlisted([none])) == [none]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"a: &x [1]\nb: *x\n", "aliases are not taken"),
        (b"a: 1\na: 2\n", "the key 'a' is there twice"),
        (b'{"a": 1, "b": {"c": 1, "c": 2}}', "the key 'c' is there twice"),
        (b'{"a": ' + b"1" * 5_000 + b"}", "a number has thousands of digits"),
        (b"a: " + b"1" * 5_000, "'1+' cannot be read as int .*line 1"),
        (b"a: !!bool x\n", "'x' cannot be read as bool .*line 1"),
        (b"a: !!timestamp x\n", "'x' cannot be read as timestamp"),
        (b"a: !!int ''\n", "'' cannot be read as int"),
        (b"a: !!map x\n", "expected a mapping node"),
        (b'{"a": 1e999}', "JSON has no number inf"),
        (b"1: x\n", "the key 1 is not text: quote it"),
        (b"? [a]\n: x\n", "is not text"),
        (b"a: !!python/object/apply:os.system [x]\n", "could not determine a constructor"),
        (b"a: !!set {x}\n", "a set does not exist in JSON"),
        (b'"\\ud800"', "half of a character"),
        (b"a: .inf\n", "JSON has no number inf"),
        (b"a: [\n", "line 2"),
        (b"\xff\xfe\xff", "unacceptable character"),
        (b"[" * 70 + b"]" * 70, "nested too deeply"),
        (b"[" * 20_000, "nested too deeply"),
        (b"--- a\n" * (MOST + 1), f"more than {MOST} documents"),
        (b" " * (LARGEST + 1), "larger than"),
    ],
)
def test_what_json_cannot_say_is_refused(content: bytes, why: str) -> None:
    with pytest.raises(DocumentError, match=why):
        parsed(content)


@given(st.binary(max_size=200) | st.text("{}[]:-&*!|> \n\"'ab1#?,", max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    with contextlib.suppress(DocumentError):
        json.dumps(parsed(content), allow_nan=False)


@pytest.mark.parametrize("has_more", [True, False])
def test_wide_is_taken_everywhere_and_named_where_it_shows_more(has_more: bool) -> None:
    parser = argparse.ArgumentParser()
    add_output(parser, wide=has_more)
    assert parser.parse_args(["-o", "wide"]).output == "wide"
    assert ("wide" in parser.format_help()) is has_more
