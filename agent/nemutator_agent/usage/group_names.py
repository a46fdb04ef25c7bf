"""What a control group is, by the naming conventions of those who make groups.

systemd names slices, units and sessions; Docker, containerd, CRI-O and Podman name containers;
kubelet names pods, with two drivers each (`cgroupfs` nests plain names, `systemd` packs everything
into the names of slices and scopes). The name is found by a search in the path, for people to read
and to filter by: it is not an identity, and nothing may be granted by it.
"""

import functools
import re
from dataclasses import dataclass

from nemutator_common.wire import Kind

SHORT_ID = 12
"""Characters of a container's id that its runtime's own tools show."""

_ID = r"[0-9a-f]{64}"
# A pod's uid; of a static pod: a hash of its manifest.
_UID = r"[0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32}"

_CONTAINERS = (
    # docker-ID.scope, cri-containerd-ID.scope, crio-ID.scope, libpod-ID.scope; without the suffix
    # where Podman or CRI-O use cgroupfs. Monitors (`crio-conmon-…`) are not containers.
    re.compile(rf"(?:docker|cri-containerd|nerdctl|crio|libpod)-({_ID})(?:\.scope)?"),
    # cgroupfs: the id alone.
    re.compile(rf"({_ID})"),
    # runc's systemd notation handed to a cgroupfs driver: SLICE:PREFIX:ID.
    re.compile(rf"[^:]+:(?:cri-containerd|crio|docker|nerdctl):({_ID})"),
)
_POD = re.compile(rf"(?:pod|(?:[^:]+-)?kubepods(?:-[a-z]+)?-pod)({_UID})(?:\.slice)?(?::.*)?")
_SESSION = re.compile(r"session-[^/]+\.scope")
_UNIT = re.compile(r".+\.(?:service|scope|socket|mount|swap|automount)")
_ESCAPE = re.compile(r"\\x([0-9a-f]{2})")


@dataclass(frozen=True, slots=True)
class GroupName:
    kind: Kind
    name: str
    container_id: str | None
    """The id of the innermost container that the group is or lies in."""
    pod_uid: str | None


@functools.lru_cache(maxsize=4096)
def name_group(path: str) -> GroupName:
    """What the group at *path* is, and which container and pod it belongs to."""
    parts = [part for part in path.split("/") if part]
    if not parts:
        return GroupName("root", "/", None, None)
    container_id = pod_uid = None
    for part in parts:
        if pod := _POD.fullmatch(part):
            pod_uid, container_id = pod[1].replace("_", "-"), None
        container_id = _container(part) or container_id
    last = parts[-1]
    kind, name = _last(last)
    return GroupName(kind, name, container_id, pod_uid)


@functools.lru_cache(maxsize=4096)
def is_sized(path: str) -> bool:
    """Whether the group at *path* is something that people give resources to.

    Slices and pods are sums of others. Groups that a container makes below its own are counted in it
    already, and would be taken for the container.
    """
    naming = name_group(path)
    if naming.kind in ("root", "slice", "pod"):
        return False
    return naming.container_id is None or naming.kind == "container"


def _last(part: str) -> tuple[Kind, str]:
    if container := _container(part):
        return "container", container[:SHORT_ID]
    if pod := _POD.fullmatch(part):
        return "pod", pod[1].replace("_", "-")
    name = _unescaped(part)
    if _SESSION.fullmatch(part):
        return "session", name
    if part.endswith(".slice"):
        return "slice", name
    return ("unit" if _UNIT.fullmatch(part) else "group"), name


def _container(part: str) -> str | None:
    return next((found[1] for shape in _CONTAINERS if (found := shape.fullmatch(part))), None)


def _unescaped(part: str) -> str:
    r"""systemd writes what may not stand in a unit's name as `\x2d` (systemd.unit(5))."""
    if "\\x" not in part:
        return part
    octets = _ESCAPE.sub(lambda code: chr(int(code[1], 16)), part)
    try:
        return octets.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return octets
