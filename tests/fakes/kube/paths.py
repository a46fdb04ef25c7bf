"""What a URL path names: a kind with namespace, name and subresource, or a page of discovery."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tests.fakes.kube.kinds import Kind

Json = dict[str, Any]

VERSION = {
    "major": "1",
    "minor": "36",
    "gitVersion": "v1.36.0-fake",
    "gitCommit": "",
    "gitTreeState": "clean",
    "platform": "linux/amd64",
}


class NoSuchPathError(Exception):
    """Answered as text, `404 page not found`, as Go's mux does."""


@dataclass(frozen=True, slots=True)
class Target:
    kind: Kind | None
    """None for discovery."""
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def resource(self) -> str:
        """As rules and webhooks name it: `pods/eviction`."""
        plural = self.kind.plural if self.kind else ""
        return f"{plural}/{self.subresource}" if self.subresource else plural


def parse(path: str, known: Iterable[Kind]) -> Target:
    match path.strip("/").split("/"):
        case ["version"] | ["api"] | ["apis"] | ["api", _] | ["apis", _] | ["apis", _, _]:
            return Target(None)
        case ["healthz"] | ["livez"] | ["readyz"]:
            return Target(None)
        case ["api", version, *rest]:
            group = ""
        case ["apis", group, version, *rest]:
            pass
        case _:
            raise NoSuchPathError(path)
    namespace = ""
    # "namespaces/x/status" is a part of the namespace itself, "namespaces/x/pods" is inside it.
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in ("status", "finalize"):
        namespace, rest = rest[1], rest[2:]
    for kind in known:
        if (kind.group, kind.version, kind.plural) == (group, version, rest[0]):
            return _target(kind, namespace, rest[1:], path)
    raise NoSuchPathError(path)


def _target(kind: Kind, namespace: str, rest: list[str], path: str) -> Target:
    name, subresource, *more = (*rest, "", "")[: max(len(rest), 2)]
    evictable = kind.plural == "pods" and subresource == "eviction"
    below = not subresource or evictable or (subresource == "status" and kind.status)
    if more or not below or (namespace and not kind.namespaced):
        raise NoSuchPathError(path)
    if name and kind.namespaced and not namespace:
        raise NoSuchPathError(path)
    return Target(kind, namespace, name, subresource)


def discovery(path: str, known: list[Kind]) -> Json:
    match path.strip("/").split("/"):
        case ["version"]:
            return VERSION
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
            return {"status": "ok"}


def _group(group: str, known: list[Kind]) -> Json:
    served = sorted({kind.version for kind in known if kind.group == group})
    versions = [{"groupVersion": f"{group}/{version}", "version": version} for version in served]
    return {"name": group, "versions": versions, "preferredVersion": versions[0]}


def _resources(group: str, version: str, known: list[Kind], path: str) -> Json:
    served = [kind for kind in known if (kind.group, kind.version) == (group, version)]
    if not served:
        raise NoSuchPathError(path)
    resources = [entry for kind in served for entry in kind.discovery()]
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": f"{group}/{version}" if group else version,
        "resources": resources,
    }
