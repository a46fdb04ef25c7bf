"""What is asked of the API server about people and processes, and what it answers: shapes only."""

from dataclasses import dataclass
from typing import Any

import msgspec

from nemutator_controller.kube.resources import Resource


class User(msgspec.Struct, frozen=True):
    """Who a token belongs to."""

    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = {}
    """For a pod's token: its pod's and its node's name, among others."""


class TokenVerdict(msgspec.Struct, frozen=True):
    authenticated: bool = False
    user: User = User()
    audiences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedKeys:
    """What the server publishes of how it signs tokens: two JSON documents."""

    discovery: bytes
    keys: bytes


class AccessVerdict(msgspec.Struct, frozen=True):
    allowed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a user wants to do."""

    verb: str
    resource: Resource[Any]
    namespace: str = ""
    subresource: str = ""
