"""Machines of others: each pod is attested where they keep it, and nobody beside that place is."""

from collections.abc import Iterator

import pytest
from nemutator_agent.identity.attestors import LearningPodAttestor
from nemutator_agent.identity.facts import ProcessFacts
from nemutator_agent.identity.failures import AttestationError
from nemutator_agent.identity.pods import find_pods_root
from nemutator_agent.mount.pods_root import pods_root_for

from tests.layouts import CONTAINERS, PODS, Layout, layouts

DELEGATED = "/user.slice/user-1000.slice/user@1000.service"
ROLES = ("guaranteed", "burstable", "besteffort", "static")
LAYOUTS = [pytest.param(layout, id=name) for name, layout in layouts().items()]


class View:
    """The credentials process of a layout, once `mount` has sent it a publication."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        mount, own = layout.paths["mount"], layout.paths["credentials"]
        self._own = own if layout.own_namespace else "/"
        self._attestor = LearningPodAttestor(self.text(own), "")
        self._attestor.learn(pods_root_for(layout.text(mount), layout.text(own)))

    def text(self, path: str) -> str:
        return self._layout.seen_from(self._own, path)

    def admits(self, path: str, pod: str) -> bool:
        try:
            self._attestor.admit(ProcessFacts(self.text(path), 1, None), pod)
        except AttestationError:
            return False
        return True


@pytest.mark.parametrize("layout", LAYOUTS)
def test_where_pods_are_is_found_without_a_setting(layout: Layout) -> None:
    for role in ("mount", "credentials"):
        found = find_pods_root(layout.text(layout.paths[role]), "")
        assert f"{found.hierarchy}:{found.path}" == layout.pods_root


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_pod_is_attested_as_itself_alone(layout: Layout) -> None:
    view = View(layout)
    for path, pod in zip(layout.paths.values(), PODS.values(), strict=True):
        assert view.admits(path, pod), path
        # Whoever may have groups of its own, as systemd in a container does, is still that pod.
        assert view.admits(f"{path}/init.scope/x", pod)
        assert not any(view.admits(path, other) for other in {*PODS.values()} - {pod})


@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_neighbour_is_taken_for_a_pod(layout: Layout) -> None:
    view = View(layout)
    for role in ROLES:
        admitted = [path for path in neighbours(layout, role) if view.admits(path, PODS[role])]
        assert admitted == []


def neighbours(layout: Layout, role: str) -> Iterator[str]:
    """Groups that are called like the pod's, where kubelet would not put it."""
    victim = layout.paths[role]
    mine = layout.paths["besteffort" if role != "besteffort" else "burstable"]
    root = layout.pods_root.partition(":")[2]
    below = victim.removeprefix(root)
    container = next(part for part in victim.split("/") if CONTAINERS[role] in part)
    above = victim[: victim.index(f"/{container}")]
    level, _, pod = above.rpartition("/")
    # A pod that may make groups of its own: all of the victim's path, or a part of it.
    for own in (mine, mine.rpartition("/")[0], mine.rpartition("/")[0].rpartition("/")[0]):
        yield f"{own}{victim}"
        yield f"{own}/{root.rpartition('/')[2]}{below}"
        if own.rpartition("/")[0] != root:
            yield f"{own}/{pod}/{container}"
    # A part of the tree that an ordinary user was given.
    yield f"{DELEGATED}{victim}"
    yield f"{DELEGATED}{below}"
    yield f"{DELEGATED}/{pod}/{container}"
    # Roots that look like kubelet's.
    for name in (f"{root}x", f"{root}.slice", f"{root}/x", f"{root}{root}", f"/x{root}", ""):
        yield f"{name}{below}"
    yield f"{root.replace('kubepods', 'Kubepods')}{below}"
    # The uid in the other driver's notation, or with something stuck to it.
    uid = PODS[role]
    if "-" in uid:
        other = uid if uid not in pod else uid.replace("-", "_")
        own = uid.replace("-", "_") if uid not in pod else uid
        yield f"{level}/{pod.replace(own, other)}/{container}"
        yield f"{level}/{pod.replace(own, own.upper())}/{container}"
    suffix = "" if pod.endswith(".slice") else ".slice"
    yield f"{level}/{pod.removesuffix('.slice')}{suffix}/{container}"
    for name in (f"{pod}x", f"x{pod}", f"{pod}.wants", f"{pod}:cri-containerd:{container}"):
        yield f"{level}/{name}/{container}"
    # Levels that kubelet does not have: its classes twice, a third one, that of another class.
    for qos in ("guaranteed", "burstable/besteffort", "kubepods-guaranteed.slice"):
        yield f"{root}/{qos}/{pod}/{container}"
    if suffix == "":
        other = "besteffort" if role != "besteffort" else "burstable"
        prefix = root.rpartition("/")[2].removesuffix(".slice")
        yield f"{root}/{prefix}-{other}.slice/{pod}/{container}"
        yield f"{root}/{other}/pod{uid}/{container}"
        if level != root:
            yield f"{root}/{pod}/{container}"
