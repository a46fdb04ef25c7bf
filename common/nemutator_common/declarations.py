"""What a pod asks of the credentials agent, as annotations and as volume attributes.

People write annotations, the webhook copies them into the volume, and kubelet hands the volume to
the agent. Both spellings of a declaration are read and written here, and nowhere else.
"""

import enum
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar

from nemutator_common import names
from nemutator_common.on_rotate import NONE, OnRotate, parse_on_rotate

T = TypeVar("T")

MOST = 64
"""The most secrets and variables of one pod, counted together."""

LONGEST_PATH = 512
LONGEST_KEY = 256

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_FILE_KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
_PARAMETER = re.compile(r"[a-z_]{1,64}=[A-Za-z0-9._:/,@*+=-]{1,253}")
_NUMBER = re.compile(r"[0-9]{1,9}|[1-3][0-9]{9}")
"""Of a user or a group: below 2³²."""
_ROLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}")
_VAULT_NAMESPACE = re.compile(
    r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,126}(/[A-Za-z0-9_-][A-Za-z0-9._-]{0,126}){0,15}"
)
LONGEST_VAULT_NAMESPACE = 256

# The attributes of a volume are written without our domain.
_DOMAIN = f"{names.DOMAIN}/"
_SECRET = names.SECRET_PREFIX.removeprefix(_DOMAIN)
_FILE = names.FILE_PREFIX.removeprefix(_DOMAIN)
_ENVIRONMENT = names.ENVIRONMENT_PREFIX.removeprefix(_DOMAIN)
_ROLE_KEY = names.VAULT_ROLE.removeprefix(_DOMAIN)
_VAULT_NAMESPACE_KEY = names.VAULT_NAMESPACE.removeprefix(_DOMAIN)
_ON_ROTATE_KEY = names.ON_ROTATE.removeprefix(_DOMAIN)
_USER_KEY = names.RUN_AS_USER.removeprefix(_DOMAIN)
_GROUP_KEY = names.RUN_AS_GROUP.removeprefix(_DOMAIN)
_FS_GROUP_KEY = names.FS_GROUP.removeprefix(_DOMAIN)

_NONE: Mapping[str, "Reference"] = MappingProxyType({})


class DeclarationError(ValueError):
    """A pod's declaration is invalid; `problems` names each fault with its key."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Reference:
    """A path in Vault, written `mount/path#key`; without a key it means all keys at that path.

    What a write makes is written with its parameters: `pki/issue/role?common_name=…&ttl=…#key`.
    """

    path: str
    key: str | None = None

    def __str__(self) -> str:
        return self.path if self.key is None else f"{self.path}#{self.key}"


class FileFormat(enum.StrEnum):
    JSON = "json"
    DOTENV = "dotenv"
    PROPERTIES = "properties"


@dataclass(frozen=True, slots=True)
class DeclaredFile:
    """A file made of several secrets, written `dotenv USER=secret/app/db#user PASSWORD=…`."""

    format: FileFormat
    entries: Mapping[str, Reference]
    """By the key under which the file has the value."""

    def __str__(self) -> str:
        return " ".join([self.format, *(f"{key}={ref}" for key, ref in self.entries.items())])


@dataclass(frozen=True, slots=True, kw_only=True)
class Declarations:
    """What one pod declares; each mapping is by the name under which the pod gets the value."""

    secrets: Mapping[str, Reference] = field(default_factory=lambda: _NONE)
    environment: Mapping[str, Reference] = field(default_factory=lambda: _NONE)
    files: Mapping[str, DeclaredFile] = field(default_factory=lambda: MappingProxyType({}))
    """Named as secrets are, and given in every way that they are."""
    role: str | None = None
    """The role to log in to Vault with; None means the one named after namespace and account."""
    vault_namespace: str | None = None
    """Vault's own, in which the role and all paths are; None means the one that the agent is set to."""
    run_as_user: int | None = None
    """The uid that all containers of the pod run as."""
    run_as_group: int | None = None
    """The gid that all containers of the pod run as."""
    fs_group: int | None = None
    """The group that all containers of the pod are members of."""
    on_rotate: OnRotate | None = None
    """What is done when a secret has changed."""

    def __bool__(self) -> bool:
        return bool(self.secrets or self.environment or self.files)


def parse_reference(text: str) -> Reference:
    """Parse what `str()` of a reference writes; a ValueError says what was expected instead."""
    path, mark, key = text.partition("#")
    where, asks, parameters = path.partition("?")
    if not _is_path(where) or len(path) > LONGEST_PATH:
        raise ValueError("expected mount/path#key, like secret/app/db#password")
    if asks and not all(_PARAMETER.fullmatch(one) for one in parameters.split("&")):
        raise ValueError("expected name=value&… after the ?, like pki/issue/shop?common_name=a.b")
    if not mark:
        return Reference(path)
    if not key or len(key) > LONGEST_KEY or not key.isprintable():
        raise ValueError("expected the name of a key after the #")
    return Reference(path, key)


def parse_file(text: str) -> DeclaredFile:
    """Parse what `str()` of a declared file writes; a ValueError says what was expected instead."""
    word, *parts = text.split() or [""]
    if word not in list(FileFormat) or not parts:
        raise ValueError(
            f"expected {', '.join(FileFormat)}, and then keys, like dotenv USER=secret/app/db#user"
        )
    file_format = FileFormat(word)
    is_key = _VARIABLE if file_format is FileFormat.DOTENV else _FILE_KEY
    entries: dict[str, Reference] = {}
    for part in parts:
        key, _, reference = part.partition("=")
        if not is_key.fullmatch(key) or key in entries:
            raise ValueError(f"{key[:100]!r} is no key of a {word} file, or stands there twice")
        entries[key] = parse_reference(reference)
        if entries[key].key is None:
            raise ValueError(f"{key}: expected one key of a secret, like secret/app/db#user")
    return DeclaredFile(file_format, entries)


def is_name(text: str) -> bool:
    """Whether *text* can name a secret; the name is also used for a file."""
    return _NAME.fullmatch(text) is not None and ".." not in text


def is_variable(text: str) -> bool:
    """Whether *text* can name a variable of an environment."""
    return _VARIABLE.fullmatch(text) is not None


def from_annotations(annotations: Mapping[str, str]) -> Declarations:
    """What the annotations of a pod declare; other annotations are ignored."""
    return _read(
        {k.removeprefix(_DOMAIN): v for k, v in annotations.items() if k.startswith(_DOMAIN)}
    )


def from_volume(attributes: Mapping[str, str]) -> Declarations:
    """What `volumeAttributes` of our CSI volume declare; kubelet's own additions are ignored."""
    return _read(attributes)


def to_volume(declarations: Declarations) -> dict[str, str]:
    """The attributes that `from_volume` reads back, in a stable order."""
    written = {f"{_SECRET}{name}": str(ref) for name, ref in sorted(declarations.secrets.items())}
    written |= {
        f"{_ENVIRONMENT}{name}": str(ref) for name, ref in sorted(declarations.environment.items())
    }
    written |= {f"{_FILE}{name}": str(file) for name, file in sorted(declarations.files.items())}
    if declarations.role is not None:
        written[_ROLE_KEY] = declarations.role
    if declarations.vault_namespace is not None:
        written[_VAULT_NAMESPACE_KEY] = declarations.vault_namespace
    if declarations.on_rotate is not None:
        written[_ON_ROTATE_KEY] = str(declarations.on_rotate)
    if declarations.run_as_user is not None:
        written[_USER_KEY] = str(declarations.run_as_user)
    if declarations.run_as_group is not None:
        written[_GROUP_KEY] = str(declarations.run_as_group)
    if declarations.fs_group is not None:
        written[_FS_GROUP_KEY] = str(declarations.fs_group)
    return written


def file_group_of(attributes: Mapping[str, str]) -> int | None:
    """The group for the files of a volume with these attributes, whatever else they say."""
    group = attributes.get(_FS_GROUP_KEY) or attributes.get(_GROUP_KEY) or ""
    return int(group) if _NUMBER.fullmatch(group) else None


def _read(words: Mapping[str, str]) -> Declarations:
    problems: list[str] = []
    secrets = dict(_parsed(words, _SECRET, parse_reference, is_name, "a name of a file", problems))
    files = dict(_parsed(words, _FILE, parse_file, is_name, "a name of a file", problems))
    environment = dict(
        _parsed(words, _ENVIRONMENT, parse_reference, is_variable, "a name of a variable", problems)
    )
    problems += [
        f"{_FILE}{name}: {_SECRET}{name} is there, too" for name in files if name in secrets
    ]
    entries = sum(len(file.entries) for file in files.values())
    if len(secrets) + len(environment) + entries > MOST:
        problems.append(f"more than {MOST} secrets and variables")
    role = words.get(_ROLE_KEY)
    if role is not None and not _ROLE.fullmatch(role):
        problems.append(f"{_ROLE_KEY}: expected letters, digits, dots, dashes, underscores")
    vault_namespace = words.get(_VAULT_NAMESPACE_KEY)
    if vault_namespace is not None and not _is_vault_namespace(vault_namespace):
        problems.append(f"{_VAULT_NAMESPACE_KEY}: expected a namespace of Vault, like team-a/web")
    ids = {key: words[key] for key in (_USER_KEY, _GROUP_KEY, _FS_GROUP_KEY) if key in words}
    problems += [
        f"{key}: expected a number below 4000000000"
        for key, number in ids.items()
        if not _NUMBER.fullmatch(number)
    ]
    on_rotate = None
    try:
        on_rotate = parse_on_rotate(words.get(_ON_ROTATE_KEY, NONE))
    except ValueError as error:
        problems.append(f"{_ON_ROTATE_KEY}: {error}")
    if problems:
        raise DeclarationError(tuple(problems))
    return Declarations(
        secrets=secrets,
        environment=environment,
        files=files,
        role=role,
        vault_namespace=vault_namespace,
        run_as_user=int(ids[_USER_KEY]) if _USER_KEY in ids else None,
        run_as_group=int(ids[_GROUP_KEY]) if _GROUP_KEY in ids else None,
        fs_group=int(ids[_FS_GROUP_KEY]) if _FS_GROUP_KEY in ids else None,
        on_rotate=on_rotate,
    )


def _parsed(
    words: Mapping[str, str],
    prefix: str,
    parse: Callable[[str], T],
    good: Callable[[str], bool],
    wanted: str,
    problems: list[str],
) -> Iterator[tuple[str, T]]:
    for word, value in words.items():
        if not word.startswith(prefix):
            continue
        name = word.removeprefix(prefix)
        if not good(name):
            problems.append(f"{word[:100]!r}: expected {wanted} after {prefix!r}")
            continue
        try:
            yield name, parse(value)
        except ValueError as error:
            problems.append(f"{word}: {error}")


def _is_vault_namespace(text: str) -> bool:
    return len(text) <= LONGEST_VAULT_NAMESPACE and _VAULT_NAMESPACE.fullmatch(text) is not None


def _is_path(path: str) -> bool:
    parts = path.split("/")
    return (
        len(path) <= LONGEST_PATH
        and path.isprintable()
        and len(parts) >= 2
        and not any(part in ("", ".", "..") for part in parts)
        # These characters would end the path in a URL, or be an escape in it.
        and not set(path) & set("?%\\ ")
    )
