"""Settings of a process: declared once, typed, and every problem reported at once.

A process declares a frozen dataclass that derives from `Shared`. Each field is made by `setting()`
and carries its meaning. A value comes from the last of these that names it:

    default  <  file (TOML)          <  environment                  <  flag
                console = "…" in        NEMUTATOR_BRAIN_CONSOLE         --console
                the table [brain]

Fields of `Shared` stand at the top of the file and have no role in their variable: `data_dir`,
`NEMUTATOR_DATA_DIR`, `--data-dir`. One file and one environment serve all processes of a machine:
each reads its own part, ignores the parts of other roles, and refuses what belongs to no role.

No setting is a secret: values are printed and named in messages, while secrets come from files. Where an address
has a password all the same, it is refused, and the message leaves that out.
This module is pure: `launching.py` reads the file and the environment.
"""

import dataclasses
import difflib
import enum
import math
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar
from urllib.parse import urlsplit

from nemutator_common.addresses import TcpAddress, parse_address
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.names import PREFIX, ROLES

T = TypeVar("T")
Check = Callable[[Any], str | None]
"""Returns what was expected when a value of the right type is still not acceptable."""

_ENVIRONMENT = f"{PREFIX.upper()}_"

# Kubernetes puts variables for each Service of the namespace into every pod. One named "nemutator"
# or "nemutator-brain" gives names that look like ours, although nobody made a mistake.
_SERVICE_LINK = re.compile(
    r"NEMUTATOR(_[A-Z0-9_]+)?"
    r"_(SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)"
)


# TOML's integers have no bound; none that float() cannot take is a valid setting either.
_LARGEST_NUMBER = 1e300


class Source(enum.Enum):
    DEFAULT = "default"
    FILE = "file"
    ENVIRONMENT = "environment"
    FLAG = "flag"


def setting(default: T, meaning: str, *, check: Check | None = None) -> T:
    """One field of a settings class. The *meaning* goes to `--help` and to docs/reference.md."""
    # As with dataclasses.field, the declared return type is that of the attribute's value.
    return dataclasses.field(default=default, metadata={"meaning": meaning, "check": check})


def between(low: float, high: float) -> Check:
    return lambda value: None if low <= value <= high else f"expected {low:g} to {high:g}"


def http_url(text: str) -> str | None:
    """Nothing, or where something is served by HTTP."""
    parts = urlsplit(text)
    if not text or (parts.scheme in ("http", "https") and parts.hostname and not parts.query):
        return None
    return "expected http://HOST:PORT or https://HOST:PORT"


def tcp_address(text: str) -> str | None:
    """A check: *text* is empty, or a TCP address to listen on."""
    expected = "expected an address and a port, like 0.0.0.0:9464"
    try:
        return None if not text or isinstance(parse_address(text), TcpAddress) else expected
    except ValueError:
        return expected


class SettingsError(OperatorError):
    """Everything that is wrong with the settings of a process, each problem with its setting."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__(
            "\n  ".join(["these settings cannot be used:", *self.problems]),
            remedy="correct them all; `--print-settings` without them shows every name and default",
            code=ExitCode.SETTINGS,
        )


class LogLevel(enum.StrEnum):
    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class LogFormat(enum.StrEnum):
    AUTO = "auto"
    JSON = "json"
    TEXT = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shared:
    """The settings that every process of ours understands."""

    role: ClassVar[str]

    data_dir: Path = setting(
        Path("~/.local/share/nemutator"),
        "Directory for the database, sockets and the lock; made with mode 0700 when missing.",
    )
    log_level: LogLevel = setting(LogLevel.INFO, "Least serious lines that are logged.")
    log_format: LogFormat = setting(
        LogFormat.AUTO, "`text` for people, `json` for machines, `auto`: text on a terminal."
    )
    traces: str = setting(
        "",
        "Collector of traces, `http://HOST:4318`: spans go there by OTLP over HTTP (extra `otel`). Empty:"
        " nobody collects any.",
        check=http_url,
    )
    lifeline: bool = setting(
        False, "Stop when standard input closes, so that no process outlives its supervisor."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ServesMetrics(Shared):
    """The settings of a process that runs for a long time, and counts what it does."""

    metrics: str = setting(
        "",
        "TCP address where `/metrics`, `/healthz` and `/readyz` are served to everybody who can"
        " connect, without TLS; in a pod `0.0.0.0:PORT`. Empty: no port.",
        check=tcp_address,
    )


_PASSWORD = re.compile(r"(?i:(?<=password=))[^&\s'\"]+")
"""As PostgreSQL's clients take it, too."""
_USER = re.compile(r"(?<=://).*(?=@)", re.DOTALL)
"""In an address, with a password that may have any character."""


@dataclass(frozen=True, slots=True)
class Field:
    """Where a setting can be given, and which values it takes."""

    name: str
    table: str  # "" for a shared setting
    annotation: Any
    default: object
    meaning: str
    check: Check | None

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")

    @property
    def variable(self) -> str:
        return _ENVIRONMENT + "_".join(filter(None, (self.table, self.name))).upper()

    @property
    def key(self) -> str:
        return ".".join(filter(None, (self.table, self.name)))


S = TypeVar("S", bound=Shared)


@dataclass(frozen=True, slots=True)
class Resolved(Generic[S]):
    values: S
    sources: Mapping[str, Source]


def fields(schema: type[Shared]) -> tuple[Field, ...]:
    """The settings of *schema*, the shared ones first."""
    hints = typing.get_type_hints(schema)
    shared = {field.name for field in dataclasses.fields(Shared)}
    return tuple(
        Field(
            name=field.name,
            table="" if field.name in shared else schema.role,
            annotation=hints[field.name],
            default=field.default,
            meaning=field.metadata["meaning"],
            check=field.metadata["check"],
        )
        for field in dataclasses.fields(schema)
    )


def resolve(
    schema: type[S],
    *,
    file: Mapping[str, object],
    environment: Mapping[str, str],
    flags: Mapping[str, str],
) -> Resolved[S]:
    """Values for *schema*, or a `SettingsError` that lists every problem there is.

    *file* is the decoded TOML document; *flags* are by field name, still text.
    """
    known = fields(schema)
    problems = [*_strangers_in_file(schema, file), *_strangers_in_environment(known, environment)]
    values: dict[str, Any] = {}
    sources: dict[str, Source] = {}
    for field in known:
        source, where, raw = _given(field, file=file, environment=environment, flags=flags)
        sources[field.name] = source
        if source is Source.DEFAULT:
            values[field.name] = field.default
            continue
        value, wrong = _convert(field.annotation, raw)
        if wrong is None and field.check is not None:
            wrong = field.check(value)
        if wrong is None:
            values[field.name] = value
        else:
            shown = _USER.sub("…", _PASSWORD.sub("…", repr(raw)))
            problems.append(f"{where}={shown}: {wrong}")
    if problems:
        raise SettingsError(problems)
    return Resolved(schema(**values), sources)


def printed(resolved: Resolved[S]) -> str:
    """The settings as a TOML document that `--config` reads back, each with its source."""
    lines: list[str] = []
    table = ""
    for field in fields(type(resolved.values)):
        if field.table != table:
            table = field.table
            lines += ["", f"[{table}]"]
        value = getattr(resolved.values, field.name)
        source = resolved.sources[field.name].value
        # TOML has no null: what is not set is left out, and shown as a comment.
        shown = f"# {field.name} =" if value is None else f"{field.name} = {_toml(value)}"
        lines.append(f"{shown}  # {source}. {field.meaning}")
    return "\n".join(lines) + "\n"


def _given(
    field: Field,
    *,
    file: Mapping[str, object],
    environment: Mapping[str, str],
    flags: Mapping[str, str],
) -> tuple[Source, str, object]:
    if field.name in flags:
        return Source.FLAG, field.flag, flags[field.name]
    if field.variable in environment:
        return Source.ENVIRONMENT, field.variable, environment[field.variable]
    table = file.get(field.table, {}) if field.table else file
    if isinstance(table, Mapping) and field.name in table:
        return Source.FILE, field.key, table[field.name]
    return Source.DEFAULT, field.key, field.default


def _strangers_in_file(schema: type[Shared], file: Mapping[str, object]) -> Iterable[str]:
    top = {field.name for field in dataclasses.fields(Shared)}
    own = {field.name for field in fields(schema) if field.table}
    for name, value in file.items():
        if name in ROLES and not isinstance(value, Mapping):
            yield f"{name}={value!r}: expected a table [{name}]"
        elif name not in ROLES and name not in top:
            yield f"{name}: unknown setting{_closest(name, [*top, *ROLES])}"
    table = file.get(schema.role)
    if isinstance(table, Mapping):
        for name in table:
            if name not in own:
                yield f"{schema.role}.{name}: unknown setting{_closest(name, own)}"


def _strangers_in_environment(
    known: tuple[Field, ...], environment: Mapping[str, str]
) -> Iterable[str]:
    variables = {field.variable for field in known}
    own = {field.table for field in known if field.table}
    others = tuple(f"{_ENVIRONMENT}{role.upper()}_" for role in ROLES if role not in own)
    for name in environment:
        if not name.startswith(_ENVIRONMENT) or name in variables:
            continue
        if name.startswith(others) or _SERVICE_LINK.fullmatch(name):
            continue
        yield f"{name}: unknown setting{_closest(name, variables)}"


def _closest(name: str, candidates: Iterable[str]) -> str:
    match = difflib.get_close_matches(name, sorted(candidates), n=1)
    return f" (did you mean {match[0]}?)" if match else ""


def _convert(annotation: Any, raw: object) -> tuple[object, str | None]:
    """*raw* as *annotation*, or what was expected. Text is parsed; TOML values are typed."""
    if isinstance(annotation, types.UnionType):
        inner = next(kind for kind in annotation.__args__ if kind is not type(None))
        return _convert(inner, raw)
    if typing.get_origin(annotation) is Literal:
        options = typing.get_args(annotation)
        return raw, None if raw in options else f"expected one of {', '.join(options)}"
    if isinstance(annotation, type) and issubclass(annotation, enum.StrEnum):
        try:
            return annotation(str(raw)), None
        except ValueError:
            return None, f"expected one of {', '.join(annotation)}"
    return _CONVERTERS[annotation](raw)


def _boolean(raw: object) -> tuple[object, str | None]:
    if isinstance(raw, bool):
        return raw, None
    word = {"true": True, "false": False}.get(raw.lower()) if isinstance(raw, str) else None
    return word, None if word is not None else "expected true or false"


def _integer(raw: object) -> tuple[object, str | None]:
    if isinstance(raw, int) and not isinstance(raw, bool):
        return raw, None
    if isinstance(raw, str) and re.fullmatch(r"[+-]?[0-9]{1,18}", raw):
        return int(raw), None
    return None, "expected a whole number"


def _number(raw: object) -> tuple[object, str | None]:
    if isinstance(raw, str):
        plain = re.fullmatch(r"[+-]?([0-9]{1,300}(\.[0-9]*)?|\.[0-9]+)", raw)
        value = float(raw) if plain else math.nan
    elif isinstance(raw, bool) or not isinstance(raw, int | float) or abs(raw) > _LARGEST_NUMBER:
        value = math.nan
    else:
        value = float(raw)
    return value, None if math.isfinite(value) else "expected a number"


def _text(raw: object) -> tuple[object, str | None]:
    if not isinstance(raw, str):
        return raw, "expected text"
    return raw, None if _is_unicode(raw) else "expected text in UTF-8"


def _path(raw: object) -> tuple[object, str | None]:
    if isinstance(raw, Path):
        return raw, None
    if not isinstance(raw, str) or not raw or "\0" in raw or not _is_unicode(raw):
        return None, "expected a path"
    return Path(raw), None


def _is_unicode(text: str) -> bool:
    """Whether *text* has no lone surrogate. Bytes that are not UTF-8 become such in arguments and
    environment, and TOML cannot express them."""
    return not any("\ud800" <= char <= "\udfff" for char in text)


_CONVERTERS: Mapping[Any, Callable[[object], tuple[object, str | None]]] = {
    bool: _boolean,
    int: _integer,
    float: _number,
    str: _text,
    Path: _path,
}


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    text = str(value)
    escaped = "".join(
        f"\\{char}" if char in '"\\' else char if char.isprintable() else f"\\U{ord(char):08X}"
        for char in text
    )
    return f'"{escaped}"'
