"""What each path of the API shows or changes, as permissions that an administrator can grant.

In a cluster people need `get` on what they see and `create` or `update` on what they change, of
resources in the group nemutator.io. They need not exist as objects: RBAC grants what it is told.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

API = "/api/v1/"

Verb = Literal["get", "create", "update"]


@dataclass(frozen=True, slots=True)
class Permission:
    verb: Verb
    resource: str
    narrows: bool = False
    """Its answer keeps to the namespace that the query names, so leave for that one is enough."""

    def __str__(self) -> str:
        return f"{self.verb} {self.resource}.nemutator.io"


PERMISSIONS: Mapping[tuple[str, str], Permission] = MappingProxyType(
    {
        ("GET", "nodes"): Permission("get", "topology"),
        ("GET", "topology"): Permission("get", "topology"),
        ("GET", "history"): Permission("get", "topology"),
        ("GET", "leases"): Permission("get", "leases", narrows=True),
        ("GET", "grants"): Permission("get", "grants", narrows=True),
        ("GET", "advice"): Permission("get", "advice", narrows=True),
        ("GET", "profiles"): Permission("get", "profiles"),
        ("GET", "profiles/*"): Permission("get", "profiles"),
        ("GET", "profiles/*/pprof"): Permission("get", "profiles"),
        ("GET", "profiles/*/folded"): Permission("get", "profiles"),
        ("GET", "profiles/*/flamegraph"): Permission("get", "profiles"),
        ("POST", "profiles"): Permission("create", "profiles"),
        ("GET", "mutations"): Permission("get", "mutations", narrows=True),
        ("GET", "mutations/*"): Permission("get", "mutations"),
        ("POST", "mutations/*/rollback"): Permission("update", "mutations"),
        ("GET", "objects"): Permission("get", "objects"),
        ("POST", "objects"): Permission("create", "objects"),
    }
)
"""By method and path below `API`; `*` is one element, whatever it says."""

_PLACEHOLDER = re.compile(r"\{[^}]*\}")


def needed(method: str, path: str) -> Permission | None:
    """What a request needs; None: nothing is known of it, so nobody may."""
    method = "GET" if method == "HEAD" else method
    parts = path.removeprefix(API).split("/") if path.startswith(API) else []
    for (wanted, pattern), permission in PERMISSIONS.items():
        if wanted == method and _fits(pattern.split("/"), parts):
            return permission
    return None


def unlisted(method: str, route: str) -> bool:
    """Whether *route*, with its placeholders in braces, is of the API and has no entry."""
    return route.startswith(API) and needed(method, _PLACEHOLDER.sub("x", route)) is None


def _fits(pattern: list[str], parts: list[str]) -> bool:
    return len(pattern) == len(parts) and all(
        one in ("*", part) and part for one, part in zip(pattern, parts, strict=True)
    )
