import json
import re
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.credentials.files.formats import FormatError, rendered
from nemutator_common.declarations import FileFormat

TEXTS = st.text(max_size=40) | st.text("\\'\"`$= \n\r\t\f\bbu0#!:äü€😀\x00\x7f", max_size=20)
KEYS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True)
VALUES = st.dictionaries(KEYS, TEXTS, max_size=4)


def properties(text: str) -> dict[str, str]:
    """What `java.util.Properties.load` reads: one line a key here, with a separator behind it."""
    found = {}
    for line in re.split(r"[\n\r]", text):
        if not line:
            continue
        key, _, value = line.partition("=")
        value = value.lstrip(" \t\f")
        escapes = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
        units = b""
        for match in re.finditer(r"\\u([0-9a-f]{4})|\\(.)|(.)", value):
            code, escaped, plain = match.groups()
            one = chr(int(code, 16)) if code else plain or escapes.get(escaped, escaped)
            units += one.encode("utf-16-be", "surrogatepass")
        found[key] = units.decode("utf-16-be", "surrogatepass")
    return found


@given(VALUES)
def test_json_is_read_back(values: dict[str, str]) -> None:
    assert json.loads(rendered(FileFormat.JSON, values)) == values


@given(VALUES)
def test_dotenv_is_read_back_as_a_shell_reads(values: dict[str, str]) -> None:
    values = {key: value.replace("\0", "") for key, value in values.items()}
    text = rendered(FileFormat.DOTENV, values)
    assert shlex.split(text) == [f"{key}={value}" for key, value in values.items()]


@given(VALUES)
def test_properties_are_read_back_as_java_reads(values: dict[str, str]) -> None:
    text = rendered(FileFormat.PROPERTIES, values)
    assert text.isascii()
    assert properties(text) == values


def test_plain_values_are_written_plainly() -> None:
    values = {"USER": "app", "URL": "https://db:5432/x"}
    assert rendered(FileFormat.DOTENV, values) == "USER=app\nURL=https://db:5432/x\n"
    assert rendered(FileFormat.PROPERTIES, values) == "USER=app\nURL=https://db:5432/x\n"


def test_quotes_and_backslashes_of_properties_are_what_java_writes() -> None:
    text = rendered(FileFormat.PROPERTIES, {"JSON": '{"a": "\\b\b"}'})
    assert text == 'JSON={"a": "\\\\b\\u0008"}\n'


def test_a_value_that_a_format_cannot_hold_is_named_and_not_shown() -> None:
    with pytest.raises(FormatError, match="PASSWORD") as raised:
        rendered(FileFormat.DOTENV, {"PASSWORD": "hunter2\0"})
    assert "hunter2" not in str(raised.value)
