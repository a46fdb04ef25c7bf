"""Which pod a control group belongs to: by a fixed position below kubelet's own root, never by a search.

    root / [burstable | besteffort] / pod<uid> / …                              cgroupfs driver
    root.slice / [root-<qos>.slice] / root-[<qos>-]pod<uid, _ for ->.slice / …  systemd driver

A user who was given a part of the tree can move processes deeper and give groups any name there; in
another hierarchy a process may be elsewhere altogether. So one hierarchy decides, at one depth, and
all the others can only contradict.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial

from nemutator_agent.identity.cgroup_lines import UNIFIED, CgroupLine, line_of, parse_lines
from nemutator_agent.identity.failures import AttestationError

KUBELETS = ("memory", "pids", "cpu")
"""Controllers of version 1 for which kubelet makes a group for each pod; the first of them decides.

A machine of version 2 may still have others of version 1, for network classes for example.
"""

_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_HASH = r"[0-9a-f]{32}"
"""The uid of a static pod, which kubelet makes from its manifest."""
_UID = re.compile(rf"{_UUID}|{_HASH}")
_QOS = ("burstable", "besteffort")
_SLICE = ".slice"

# In any notation of drivers and runtimes, and within any other name: whatever looks like a pod's name
# is enough to contradict.
_POD_NAMED_ANYWHERE = re.compile(
    r"(?<![0-9a-z])pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32})(?![0-9a-z])",
    re.IGNORECASE | re.ASCII,
)

_OTHER_DRIVER = re.compile(r"/[^/:]+\.slice:[^/:]+:[0-9a-f]{64}(?:/|$)", re.ASCII)
"""What a runtime with the cgroupfs driver makes of the name that a kubelet with systemd's gives it."""

_OF_KATA = "/kata_"
"""Begins the name of the groups of Kata's virtual machines (`kata_<id>` in a pod's), and of the one of its
shims and virtiofsd (`kata_overhead`)."""
_SANDBOXED = (
    "a process of Kata Containers, which stands for a pod with a kernel of its own, and nothing in it can "
    "be attested; remedy: run the pod without that runtimeClassName"
)

_SETTING = re.compile(
    r"(?:(?P<hierarchy>[a-z0-9_=.-]*):)?(?P<path>/[^@\n]+)(?:@(?P<own>/[^@\n]+))?"
)
EXPECTED = (
    "expected kubelet's control group, like /kubepods or memory:/kubepods; with @ and this "
    "process's own group behind it where that has a cgroup namespace of its own"
)


@dataclass(frozen=True, slots=True)
class PodsRoot:
    """Where kubelet keeps all pods."""

    hierarchy: str
    """A controller of version 1, or `cgroup_lines.UNIFIED`."""
    path: str
    namespace: str | None = "/"
    """The path of the group that paths are seen from: `/`, except in a cgroup namespace.

    None when it is not known, so that paths which lead out of it (`/../..`) cannot be understood.
    """


def find_pods_root(own_cgroup: str, setting: str) -> PodsRoot:
    """Kubelet's root: from the *setting*, else from the control group of the agent's own pod.

    Raises a ValueError, which says what to do, when neither shows it.
    """
    try:
        lines = parse_lines(own_cgroup)
    except AttestationError as odd:
        raise ValueError(f"this process's own control groups: {odd.why}") from odd
    deciding = next((name for name in KUBELETS if line_of(lines, name)), UNIFIED)
    if setting:
        return _from_setting(setting, lines, deciding)
    line = line_of(lines, deciding)
    # The innermost: kubelet itself may run in a pod of another cluster.
    for path in reversed(tuple(_with_ancestors(line.path if line else "/"))):
        parent = path.rpartition("/")[0]
        for above in (parent.rpartition("/")[0], parent):
            root = PodsRoot(deciding, above)
            if above and _position(root, path) and not _position(root, parent):
                return root
    if line is not None and _OTHER_DRIVER.search(line.path):
        raise ValueError(
            "kubelet and the container runtime have different cgroup drivers, so that containers are "
            "outside of their pods' control groups; remedy: SystemdCgroup = true in containerd's "
            "configuration, or cgroup_manager in CRI-O's"
        )
    raise ValueError(
        "this process is in no pod's control group, or does not see it: name kubelet's with the "
        f"setting pods_root; {EXPECTED}"
    )


def pods_below(root: PodsRoot) -> Callable[[str], str]:
    """`pod_of` for *root*: a process asks often and moves seldom, and equal texts mean equal pods."""
    unknown = partial(pod_of, root=root)
    # Two MiB at most. A refusal is not kept.
    known = lru_cache(maxsize=1024)(unknown)
    return lambda cgroup: (known if len(cgroup) <= _USUAL_TEXT else unknown)(cgroup)


def pod_of(cgroup: str, root: PodsRoot) -> str:
    """The uid of the pod that a process with this /proc/PID/cgroup is in; else AttestationError."""
    lines = parse_lines(cgroup)
    line = line_of(lines, root.hierarchy)
    if line is None:
        raise AttestationError("cgroup", f"it has no group in {root.hierarchy or 'version 2'}")
    path = _absolute(line.path, root.namespace)
    uid = _position(root, path)
    if _OF_KATA in path:
        raise AttestationError("position", _SANDBOXED)
    if uid is None:
        raise AttestationError("position", f"not a pod's control group: {line.path[:200]!r}")
    for other in lines:
        if other is not line:
            _agrees(other, uid, root)
    return uid


_USUAL_TEXT = 2 << 10


def pods_named_in(cgroup: str) -> frozenset[str]:
    """The uids of all pods that anything in this text could mean, wherever it stands.

    This proves nothing about the process: it is for the question whether a pod may still be there.
    """
    return frozenset(_named(found) for found in _POD_NAMED_ANYWHERE.finditer(cgroup))


def _from_setting(setting: str, lines: tuple[CgroupLine, ...], deciding: str) -> PodsRoot:
    match = _SETTING.fullmatch(setting)
    if match is None:
        raise ValueError(EXPECTED)
    hierarchy = deciding if match["hierarchy"] is None else match["hierarchy"]
    path, own = match["path"], match["own"]
    line = line_of(lines, hierarchy)
    if line is None:
        raise ValueError(f"this machine has no hierarchy {hierarchy!r}; {EXPECTED}")
    if not _is_plain(path) or (own is not None and not _is_plain(own)):
        raise ValueError(EXPECTED)
    # `/` is what the root of a namespace looks like from within, and the machine's root as well.
    return PodsRoot(hierarchy, path, own or ("/" if line.path != "/" else None))


def _is_plain(path: str) -> bool:
    return not {"", ".", ".."} & set(path[1:].split("/"))


def _with_ancestors(path: str) -> Iterator[str]:
    """The groups from the highest down to *path* itself."""
    names = path.strip("/").split("/")
    for depth in range(len(names)):
        yield "/" + "/".join(names[: depth + 1])


def _position(root: PodsRoot, path: str) -> str | None:
    """The pod's uid at its fixed position in *path*, which is absolute."""
    if not path.startswith(f"{root.path}/"):
        return None
    first, second = (*path[len(root.path) + 1 :].split("/", 2), "", "")[:2]
    root_name = root.path.rpartition("/")[2]
    if root_name.endswith(_SLICE):
        prefix = root_name.removesuffix(_SLICE)
        qos = next((qos for qos in _QOS if first == f"{prefix}-{qos}{_SLICE}"), None)
        wanted = f"{prefix}-{qos}-pod" if qos else f"{prefix}-pod"
        name = second if qos else first
        if not name.startswith(wanted) or not name.endswith(_SLICE) or "-" in name[len(wanted) :]:
            return None
        uid = name[len(wanted) : -len(_SLICE)].replace("_", "-")
    else:
        name = second if first in _QOS else first
        if not name.startswith("pod"):
            return None
        uid = name.removeprefix("pod")
    return uid if _UID.fullmatch(uid) else None


def _absolute(path: str, namespace: str | None) -> str:
    """*path* as it is outside of our namespace. The kernel writes `/..` only in front."""
    names = path[1:].split("/")
    up = next((at for at, name in enumerate(names) if name != ".."), len(names))
    if ".." in names[up:]:
        raise AttestationError("cgroup", "its path has `..` behind a name, which no kernel writes")
    if namespace == "/" and not up:
        return path
    if namespace is None:
        if not up:
            return path
        raise AttestationError(
            "position",
            "the agent has a cgroup namespace of its own and does not know its place; remedy: name "
            "its own group in the setting pods_root, behind an @",
        )
    own = [name for name in namespace.split("/") if name]
    if up > len(own):
        raise AttestationError("cgroup", "a path that leads above the root")
    return "/" + "/".join([*own[: len(own) - up], *(name for name in names[up:] if name)])


def _agrees(other: CgroupLine, uid: str, root: PodsRoot) -> None:
    # In a cluster that runs in a pod of another one, each path begins with that pod.
    path = (
        other.path.removeprefix(root.path) if other.path.startswith(f"{root.path}/") else other.path
    )
    for found in _POD_NAMED_ANYWHERE.finditer(path):
        named = _named(found)
        if named != uid:
            raise AttestationError(
                "hierarchies",
                f"one names pod {uid}, another ({','.join(sorted(other.controllers)) or 'version 2'})"
                f" pod {named}",
            )


def _named(found: re.Match[str]) -> str:
    return found[1].lower().replace("_", "-")
