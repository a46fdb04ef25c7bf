"""Passwords for registries, in the file that Docker, and Kubernetes' `imagePullSecrets`, have for them."""

import base64
import binascii
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

import msgspec
from nemutator_common.secret import Secret

from nemutator_controller.images.references import DOCKER_HUB, ImageName

MOST_ENTRIES = 1_000

EXPECTED = (
    "expected a file as `kubectl create secret docker-registry` makes one (.dockerconfigjson): "
    '{"auths": {HOST: {"auth": …}}}'
)

_KEY = re.compile(r"(?:https?://)?(?P<host>[^/]+)(?P<path>(?:/[^/]+)*?)(?:/v[12])?/?")
_OF_DOCKER_HUB = ("docker.io", "index.docker.io", "registry-1.docker.io")


@dataclass(frozen=True, slots=True)
class _Entry:
    host: str
    """With a port, where it has one; each of its labels may have a `*`, as kubelet takes it."""
    path: str
    """Empty: all of the registry's repositories; else those that are it or lie below it."""
    password: Secret
    """User and password, as HTTP's Basic authentication writes them."""

    def is_for(self, image: ImageName) -> bool:
        wanted, given = self.host.split("."), image.registry.split(".")
        is_host = len(wanted) == len(given) and all(
            fnmatchcase(one, pattern) for one, pattern in zip(given, wanted, strict=True)
        )
        return is_host and (not self.path or f"{image.repository}/".startswith(f"{self.path}/"))


@dataclass(frozen=True, slots=True)
class RegistryPasswords:
    entries: tuple[_Entry, ...] = ()

    def of(self, image: ImageName) -> Secret | None:
        """What is said to the registry of *image*; the entry with the longest name counts."""
        found = [entry for entry in self.entries if entry.is_for(image)]
        best = max(found, key=lambda entry: (len(entry.path), len(entry.host)), default=None)
        return best.password if best else None


class _Login(msgspec.Struct):
    auth: str = ""
    username: str = ""
    password: str = ""


class _Config(msgspec.Struct):
    auths: dict[str, _Login]


def parse_registry_passwords(text: str) -> RegistryPasswords:
    """Raises ValueError, which shows nothing of the text but a registry's name."""
    try:
        auths = msgspec.json.decode(text, type=_Config).auths
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise ValueError(EXPECTED) from None
    if len(auths) > MOST_ENTRIES:
        raise ValueError(f"it has more than {MOST_ENTRIES} registries")
    return RegistryPasswords(tuple(_entries(auths.items())))


def _entries(auths: Iterable[tuple[str, _Login]]) -> Iterable[_Entry]:
    for key, login in auths:
        found = _KEY.fullmatch(key)
        if found is None:
            raise ValueError(f"{key[:100]!r} is not the name of a registry")
        pair = _decoded(key, login.auth) if login.auth else f"{login.username}:{login.password}"
        user, _, password = pair.partition(":")
        # Who keeps passwords elsewhere (`credsStore`) has entries without one, which are nothing to us.
        if user and password:
            host = found["host"].lower()
            host = DOCKER_HUB if host in _OF_DOCKER_HUB else host
            shown = base64.b64encode(pair.encode()).decode()
            yield _Entry(host, found["path"].strip("/"), Secret(shown))


def _decoded(key: str, auth: str) -> str:
    try:
        return base64.b64decode(auth, validate=True).decode()
    except (binascii.Error, UnicodeError, ValueError):
        raise ValueError(f"`auth` of {key[:100]!r} is not base64 of USER:PASSWORD") from None
