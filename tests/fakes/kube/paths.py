"""What a URL path names: objects with namespace, name and subresource, or a page of discovery.

A path is taken apart before anybody knows whether it is served: who may not ask is told so first.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tests.fakes.issuers import Issuer, rsa_key
from tests.fakes.kube import kinds
from tests.fakes.kube.kinds import Kind
from tests.fakes.kube.statuses import no_such_resource

Json = dict[str, Any]

VERSION = {
    "major": "1",
    "minor": "36",
    "gitVersion": "v1.36.3-fake",
    "gitCommit": "",
    "gitTreeState": "clean",
    "platform": "linux/amd64",
}

SIGNER = Issuer(rsa_key())
"""Who signs the tokens of service accounts."""

_BUILT_IN_GROUPS = frozenset(kind.group for kind in kinds.BUILT_IN)


class NoSuchPathError(Exception):
    """Answered as text, `404 page not found`, as Go's mux does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The parts of a path; without *plural* it is a page, of discovery or of nothing."""

    path: str
    group: str = ""
    version: str = ""
    plural: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    rest: tuple[str, ...] = ()
    """What follows a subresource: only proxies have that."""

    @property
    def is_page(self) -> bool:
        return not self.plural

    @property
    def resource(self) -> str:
        """As rules and webhooks name it: `pods/eviction`."""
        return f"{self.plural}/{self.subresource}" if self.subresource else self.plural


def parse(path: str) -> Target:
    match path.strip("/").split("/"):
        case ["api", version, *parts] if parts:
            group = ""
        case ["apis", group, version, *parts] if parts:
            pass
        case _:
            return Target(path=path)
    namespace = ""
    # "namespaces/x/status" is a part of the namespace itself, "namespaces/x/pods" is inside it.
    if parts[0] == "namespaces" and len(parts) > 1:
        namespace = parts[1]
        if len(parts) > 2 and parts[2] not in ("status", "finalize"):
            parts = parts[2:]
    plural, name, subresource, *rest = (*parts, "", "")[: max(len(parts), 3)]
    return Target(
        path=path,
        group=group,
        version=version,
        plural=plural,
        namespace=namespace,
        name=name,
        subresource=subresource,
        rest=tuple(rest),
    )


def kind_of(target: Target, known: Iterable[Kind]) -> Kind:
    """The kind that *target* names; refused in words by a group that knows, else by the mux."""
    for kind in known:
        if (kind.group, kind.version, kind.plural) == (target.group, target.version, target.plural):
            if _serves(kind, target):
                return kind
            break
    raise _nowhere(target.group, target.path)


def _serves(kind: Kind, target: Target) -> bool:
    below = target.subresource
    of_pods = kind.plural == "pods" and below in ("eviction", "resize")
    if target.rest or (below and not of_pods and not (below == "status" and kind.status)):
        return False
    if kind.namespaced:
        return bool(target.namespace) or not target.name
    return not target.namespace or kind == kinds.NAMESPACES


def _nowhere(group: str, path: str) -> Exception:
    return no_such_resource() if group in _BUILT_IN_GROUPS else NoSuchPathError(path)


def discovery(path: str, known: list[Kind]) -> Json:
    match path.strip("/").split("/"):
        case ["version"]:
            return VERSION
        case [".well-known", "openid-configuration"]:
            return dict(json.loads(SIGNER.published().discovery))
        case ["openid", "v1", "jwks"]:
            return dict(json.loads(SIGNER.published().keys))
        case ["healthz"] | ["livez"] | ["readyz"]:
            return {"status": "ok"}
        case ["api"]:
            return {"kind": "APIVersions", "versions": ["v1"]}
        case ["apis"]:
            groups = sorted({kind.group for kind in known if kind.group})
            listed = [_group(group, known) for group in groups]
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": listed}
        case ["api", version]:
            return _resources("", version, known, path)
        case ["apis", group]:
            if not any(kind.group == group for kind in known):
                raise NoSuchPathError(path)
            return {**_group(group, known), "kind": "APIGroup", "apiVersion": "v1"}
        case ["apis", group, version]:
            return _resources(group, version, known, path)
        case _:
            raise NoSuchPathError(path)


def _group(group: str, known: list[Kind]) -> Json:
    served = sorted({kind.version for kind in known if kind.group == group})
    versions = [{"groupVersion": f"{group}/{version}", "version": version} for version in served]
    return {"name": group, "versions": versions, "preferredVersion": versions[0]}


def _resources(group: str, version: str, known: list[Kind], path: str) -> Json:
    served = [kind for kind in known if (kind.group, kind.version) == (group, version)]
    if not served:
        raise _nowhere(group, path)
    resources = [entry for kind in served for entry in kind.discovery()]
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": f"{group}/{version}" if group else version,
        "resources": resources,
    }
