"""What a pod asks of the credentials agent, as annotations and as volume attributes.

People write annotations, the webhook copies them into the volume, and kubelet hands the volume to
the agent. Both spellings of a declaration are read and written here, and nowhere else.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from nemutator_common import names

MOST = 64
"""The most secrets and variables of one pod, counted together."""

LONGEST_PATH = 512
LONGEST_KEY = 256

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_ROLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}")

# The attributes of a volume are written without our domain.
_DOMAIN = f"{names.DOMAIN}/"
_SECRET = names.SECRET_PREFIX.removeprefix(_DOMAIN)
_ENVIRONMENT = names.ENVIRONMENT_PREFIX.removeprefix(_DOMAIN)
_ROLE_KEY = names.VAULT_ROLE.removeprefix(_DOMAIN)
_USER_KEY = names.RUN_AS_USER.removeprefix(_DOMAIN)

_NONE: Mapping[str, "Reference"] = MappingProxyType({})


class DeclarationError(ValueError):
    """A pod's declaration is invalid; `problems` names each fault with its key."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Reference:
    """A path in Vault, written `mount/path#key`; without a key it means all keys at that path."""

    path: str
    key: str | None = None

    def __str__(self) -> str:
        return self.path if self.key is None else f"{self.path}#{self.key}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declarations:
    """What one pod declares; each mapping is by the name under which the pod gets the value."""

    secrets: Mapping[str, Reference] = field(default_factory=lambda: _NONE)
    environment: Mapping[str, Reference] = field(default_factory=lambda: _NONE)
    role: str | None = None
    """The role to log in to Vault with; None means the one named after namespace and account."""
    run_as_user: int | None = None
    """The uid that all containers of the pod run as."""

    def __bool__(self) -> bool:
        return bool(self.secrets or self.environment)


def parse_reference(text: str) -> Reference:
    """Parse what `str()` of a reference writes; a ValueError says what was expected instead."""
    path, mark, key = text.partition("#")
    if not _is_path(path):
        raise ValueError("expected mount/path#key, like secret/app/db#password")
    if not mark:
        return Reference(path)
    if not key or len(key) > LONGEST_KEY or not key.isprintable():
        raise ValueError("expected the name of a key after the #")
    return Reference(path, key)


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
    if declarations.role is not None:
        written[_ROLE_KEY] = declarations.role
    if declarations.run_as_user is not None:
        written[_USER_KEY] = str(declarations.run_as_user)
    return written


def _read(words: Mapping[str, str]) -> Declarations:
    problems: list[str] = []
    secrets = dict(_references(words, _SECRET, is_name, "a name of a file", problems))
    environment = dict(
        _references(words, _ENVIRONMENT, is_variable, "a name of a variable", problems)
    )
    if len(secrets) + len(environment) > MOST:
        problems.append(f"more than {MOST} secrets and variables")
    role, user = words.get(_ROLE_KEY), words.get(_USER_KEY)
    if role is not None and not _ROLE.fullmatch(role):
        problems.append(f"{_ROLE_KEY}: expected letters, digits, dots, dashes, underscores")
    if user is not None and not re.fullmatch(r"[0-9]{1,10}", user):
        problems.append(f"{_USER_KEY}: expected a number")
    if problems:
        raise DeclarationError(tuple(problems))
    return Declarations(
        secrets=secrets,
        environment=environment,
        role=role,
        run_as_user=None if user is None else int(user),
    )


def _references(
    words: Mapping[str, str],
    prefix: str,
    good: Callable[[str], bool],
    wanted: str,
    problems: list[str],
) -> Iterator[tuple[str, Reference]]:
    for word, value in words.items():
        if not word.startswith(prefix):
            continue
        name = word.removeprefix(prefix)
        if not good(name):
            problems.append(f"{word[:100]!r}: expected {wanted} after {prefix!r}")
            continue
        try:
            yield name, parse_reference(value)
        except ValueError as error:
            problems.append(f"{word}: {error}")


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
