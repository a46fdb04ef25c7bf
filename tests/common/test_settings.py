"""Settings: who wins, what is refused, and that what is printed reads back."""

import enum
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common import names
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.settings import (
    LogFormat,
    LogLevel,
    Resolved,
    Shared,
    Source,
    between,
    fields,
    printed,
    resolve,
    setting,
)


class Colour(enum.StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Example(Shared):
    role: ClassVar[str] = names.OBSERVE

    every_s: float = setting(2.0, "Seconds between two looks.", check=between(0.5, 60))
    nodes: int = setting(3, "How many nodes.")
    name: str = setting("", "What to call it.")
    place: Path = setting(Path("/tmp"), "Where it lies.")
    colour: Colour = setting(Colour.RED, "What it looks like.")
    unit: Literal["cores", "millis"] = setting("cores", "How CPU is written.")
    loud: bool = setting(False, "Say more.")


def resolved(
    *,
    file: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, str] | None = None,
) -> Resolved[Example]:
    return resolve(Example, file=file or {}, environment=environment or {}, flags=flags or {})


def problems(
    *,
    file: Mapping[str, object] | None = None,
    environment: Mapping[str, str] | None = None,
    flags: Mapping[str, str] | None = None,
) -> list[str]:
    try:
        resolved(file=file, environment=environment, flags=flags)
    except OperatorError as error:
        return error.what.split("\n  ")[1:]
    return []


def test_defaults_hold_when_nobody_says_otherwise() -> None:
    assert resolved().values == Example()
    assert set(resolved().sources.values()) == {Source.DEFAULT}


def test_flags_win_over_environment_over_file_over_defaults() -> None:
    file = {"observe": {"every_s": 3, "nodes": 4, "name": "file"}, "log_level": "debug"}
    environment = {"NEMUTATOR_OBSERVE_NODES": "5", "NEMUTATOR_OBSERVE_NAME": "environment"}
    result = resolved(file=file, environment=environment, flags={"name": "flag"})
    assert (result.values.every_s, result.values.nodes) == (3.0, 5)
    assert (result.values.name, result.values.log_level) == ("flag", LogLevel.DEBUG)
    assert result.sources["every_s"] is Source.FILE
    assert result.sources["nodes"] is Source.ENVIRONMENT
    assert result.sources["name"] is Source.FLAG
    assert result.sources["loud"] is Source.DEFAULT


def test_a_field_says_where_it_can_be_given() -> None:
    known = {field.name: field for field in fields(Example)}
    assert known["every_s"].flag == "--every-s"
    assert known["every_s"].variable == "NEMUTATOR_OBSERVE_EVERY_S"
    assert known["every_s"].key == "observe.every_s"
    assert known["data_dir"].variable == "NEMUTATOR_DATA_DIR"
    assert known["data_dir"].key == "data_dir"
    assert [field.table for field in fields(Example)] == sorted(
        field.table for field in fields(Example)
    )


def test_every_problem_is_reported_at_once() -> None:
    found = problems(
        file={"observe": {"nodes": "many", "hue": "red"}, "colour": "red"},
        environment={"NEMUTATOR_OBSERVE_COLOUR": "green", "NEMUTATOR_LOG_LEVEL": "loud"},
        flags={"every_s": "100"},
    )
    assert sorted(found) == [
        "--every-s='100': expected 0.5 to 60",
        "NEMUTATOR_LOG_LEVEL='loud': expected one of debug, info, warning, error",
        "NEMUTATOR_OBSERVE_COLOUR='green': expected one of red, blue",
        "colour: unknown setting",
        "observe.hue: unknown setting",
        "observe.nodes='many': expected a whole number",
    ]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("postgresql://brain:s3/cr@t@db:5432/n", "postgresql://…@db:5432/n"),
        ("postgresql://brain@db/n?Password=s3cr@t&x=1", "postgresql://…@db/n?Password=…&x=1"),
        ("host=db password=s3cret user=brain", "host=db password=… user=brain"),
        ("https://db/n?password=s3cret&x=1", "https://db/n?password=…&x=1"),
        ("https://db/n", "https://db/n"),
    ],
)
def test_a_password_in_a_value_that_is_refused_is_not_repeated(given: str, shown: str) -> None:
    assert problems(flags={"every_s": given}) == [f"--every-s={shown!r}: expected a number"]


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        ({"observe": {"node": 1}}, "observe.node: unknown setting (did you mean nodes?)"),
        ({"log_levle": "info"}, "log_levle: unknown setting (did you mean log_level?)"),
        ({"observer": {}}, "observer: unknown setting (did you mean observe?)"),
        ({"observe": 3}, "observe=3: expected a table [observe]"),
        ({"brain": "x"}, "brain='x': expected a table [brain]"),
        ({"observe": {"data_dir": "/x"}}, "observe.data_dir: unknown setting"),
    ],
)
def test_what_belongs_to_nobody_in_a_file_is_named(
    file: Mapping[str, object], problem: str
) -> None:
    assert problems(file=file) == [problem]


def test_other_roles_parts_are_left_to_them() -> None:
    assert problems(file={"brain": {"anything": 1}, "up": {}}) == []
    assert problems(environment={"NEMUTATOR_BRAIN_ANYTHING": "1"}) == []


def test_an_unknown_variable_is_named_with_the_closest_one() -> None:
    assert problems(environment={"NEMUTATOR_OBSERVE_NODE": "1"}) == [
        "NEMUTATOR_OBSERVE_NODE: unknown setting (did you mean NEMUTATOR_OBSERVE_NODES?)"
    ]
    assert problems(environment={"NEMUTATORS": "1", "PATH": "/bin"}) == []


@pytest.mark.parametrize(
    "variable",
    [
        "NEMUTATOR_SERVICE_HOST",
        "NEMUTATOR_SERVICE_PORT",
        "NEMUTATOR_SERVICE_PORT_HTTPS",
        "NEMUTATOR_PORT",
        "NEMUTATOR_PORT_443_TCP",
        "NEMUTATOR_PORT_443_TCP_ADDR",
        "NEMUTATOR_OBSERVE_SERVICE_HOST",
        "NEMUTATOR_PORT_53_UDP_PROTO",
    ],
)
def test_variables_that_kubernetes_makes_for_services_are_nobodys_mistake(variable: str) -> None:
    assert problems(environment={variable: "tcp://10.0.0.1:443"}) == []


@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        ({"nodes": "1.5"}, "--nodes='1.5': expected a whole number"),
        ({"nodes": "1_000"}, "--nodes='1_000': expected a whole number"),
        ({"nodes": "٣"}, "--nodes='٣': expected a whole number"),
        ({"nodes": ""}, "--nodes='': expected a whole number"),
        ({"every_s": "nan"}, "--every-s='nan': expected a number"),
        ({"every_s": "1e1"}, "--every-s='1e1': expected a number"),
        ({"loud": "yes"}, "--loud='yes': expected true or false"),
        ({"place": ""}, "--place='': expected a path"),
        ({"place": "a\0b"}, "--place='a\\x00b': expected a path"),
        ({"unit": "kilos"}, "--unit='kilos': expected one of cores, millis"),
    ],
)
def test_a_bad_value_says_what_was_expected(flags: Mapping[str, str], problem: str) -> None:
    assert problems(flags=flags) == [problem]


@pytest.mark.parametrize(
    "table",
    [
        {"nodes": True},
        {"nodes": 1.5},
        {"nodes": [1]},
        {"every_s": False},
        {"every_s": float("inf")},
        {"every_s": 10**400},
        {"loud": 1},
        {"name": 5},
        {"place": 5},
        {"unit": []},
        {"colour": {}},
    ],
    ids=str,
)
def test_a_toml_value_of_the_wrong_type_is_refused(table: Mapping[str, object]) -> None:
    assert len(problems(file={"observe": table})) == 1


@pytest.mark.parametrize("raw", ["true", "TRUE", "True"])
def test_booleans_in_any_case(raw: str) -> None:
    assert resolved(flags={"loud": raw}).values.loud is True


def test_the_remedy_points_to_the_full_list() -> None:
    with pytest.raises(OperatorError, match="--print-settings") as refusal:
        resolved(flags={"nodes": "x"})
    assert refusal.value.code is ExitCode.SETTINGS


paths = st.text(min_size=1, max_size=50).filter(lambda text: "\0" not in text).map(Path)
examples = st.builds(
    Example,
    data_dir=paths,
    log_level=st.sampled_from(LogLevel),
    log_format=st.sampled_from(LogFormat),
    lifeline=st.booleans(),
    every_s=st.floats(0.5, 60),
    nodes=st.integers(-(10**17), 10**17),
    name=st.text(max_size=50),
    place=paths,
    colour=st.sampled_from(Colour),
    unit=st.sampled_from(["cores", "millis"]),
    loud=st.booleans(),
)


@given(examples)
def test_what_is_printed_reads_back_as_the_same_settings(example: Example) -> None:
    sources = dict.fromkeys((field.name for field in fields(Example)), Source.FLAG)
    document = printed(Resolved(example, sources))
    assert resolved(file=tomllib.loads(document)).values == example


@given(st.dictionaries(st.sampled_from([f.name for f in fields(Example)]), st.text()))
def test_any_text_in_a_flag_is_taken_or_named(flags: dict[str, str]) -> None:
    found = problems(flags=flags)
    assert len(found) <= len(flags)
    if not found:
        again = resolved(file=tomllib.loads(printed(resolved(flags=flags))))
        assert again.values == resolved(flags=flags).values


def test_text_that_no_file_can_hold_is_refused() -> None:
    """A byte that is not UTF-8 reaches us from the environment as a lone surrogate."""
    assert problems(environment={"NEMUTATOR_OBSERVE_NAME": "a\udcff"}) == [
        "NEMUTATOR_OBSERVE_NAME='a\\udcff': expected text in UTF-8"
    ]
    assert problems(environment={"NEMUTATOR_OBSERVE_PLACE": "/a\udcff"}) == [
        "NEMUTATOR_OBSERVE_PLACE='/a\\udcff': expected a path"
    ]


@pytest.mark.parametrize(
    ("code", "refused"), [(0xD7FF, False), (0xD800, True), (0xDFFF, True), (0xE000, False)]
)
def test_every_lone_surrogate_is_refused_and_no_other_character(code: int, refused: bool) -> None:
    assert bool(problems(environment={"NEMUTATOR_OBSERVE_PLACE": f"/a{chr(code)}"})) is refused
