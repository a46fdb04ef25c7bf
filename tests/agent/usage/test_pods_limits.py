from nemutator_agent.usage.hierarchies import Hierarchy
from nemutator_agent.usage.pods_limits import PodsLimits, pods_limits

V2 = Hierarchy(2, frozenset(), "/u", "/")
MEMORY = Hierarchy(1, frozenset({"memory"}), "/m", "/")
PIDS = Hierarchy(1, frozenset({"pids"}), "/p", "/")


def test_what_kubelet_gives_to_all_pods() -> None:
    files = {"/u/kubepods.slice/memory.max": b"8000\n", "/u/kubepods.slice/pids.max": b"max\n"}
    groups = {"/kubepods.slice": (V2,), "/a/kubepods.slice": (V2,), "/kubepods.slice/b": (V2,)}
    assert pods_limits(groups, files.get) == PodsLimits(8000, None)
    legacy = {
        "/m/kubepods/memory.limit_in_bytes": b"9223372036854771712\n",
        "/p/kubepods/pids.max": b"100\n",
    }
    assert pods_limits({"/kubepods": (MEMORY, PIDS)}, legacy.get) == PodsLimits(None, 100)


def nothing(_: str) -> bytes | None:
    return None


def test_without_kubelet_or_with_garbage_nothing_is_known() -> None:
    assert pods_limits({"/a": (V2,)}, nothing) == PodsLimits()
    garbage = {"/u/kubepods/memory.max": b"\xff"}
    assert pods_limits({"/kubepods": (V2,)}, garbage.get) == PodsLimits()
