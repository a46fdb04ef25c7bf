from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.usage.group_counters import ControlGroups, waits_between
from nemutator_agent.usage.hierarchies import Hierarchy
from nemutator_agent.usage.snapshot import Stalls, Waits
from nemutator_common.wire import Pressure, Pressures

V2 = Hierarchy(2, frozenset(), "/u", "/")
CPU = Hierarchy(1, frozenset({"cpuacct"}), "/c", "/")
MEMORY = Hierarchy(1, frozenset({"memory"}), "/m", "/")
PSI = b"some avg10=1.00 avg60=2.00 avg300=0.00 total=0\n"


class FileTexts:
    def __init__(self, texts: Mapping[str, bytes]) -> None:
        self._texts = texts

    def read(self, path: str) -> bytes | None:
        return self._texts.get(path)

    def inode(self, path: str) -> int | None:
        return hash(path) if path in self._texts else None


def test_version_2_has_everything_in_one_place() -> None:
    files = FileTexts(
        {
            "/u/a/cpu.stat": b"usage_usec 1500\nuser_usec 1\n",
            "/u/a/memory.current": b"9000\n",
            "/u/a/memory.stat": b"anon 1\ninactive_file 4000\n",
            "/u/a/cpu.pressure": PSI,
        }
    )
    found = ControlGroups(files).read("/a", [V2])
    assert (found.cpu_us, found.memory_bytes) == (1500, 5000)
    assert found.pressures == Pressures(cpu=Pressure(1.0, 2.0, None, None))
    assert found.inode is not None


def test_version_1_has_a_place_for_each_controller() -> None:
    files = FileTexts(
        {
            "/c/a/cpuacct.usage": b"1500999\n",
            "/m/a/memory.usage_in_bytes": b"9000\n",
            "/m/a/memory.stat": b"inactive_file 1\ntotal_inactive_file 10000\n",
        }
    )
    found = ControlGroups(files).read("/a", [CPU, MEMORY])
    assert (found.cpu_us, found.memory_bytes) == (1500, 0)
    assert found.pressures == Pressures()


def test_a_hybrid_machine_counts_cpu_in_version_2_and_memory_in_version_1() -> None:
    files = FileTexts(
        {
            "/u/a/cpu.stat": b"usage_usec 7\n",
            "/c/a/cpuacct.usage": b"1\n",
            "/m/a/memory.usage_in_bytes": b"9\n",
            "/m/a/memory.stat": b"total_inactive_file 0\n",
        }
    )
    found = ControlGroups(files).read("/a", [V2, CPU, MEMORY])
    assert (found.cpu_us, found.memory_bytes) == (7, 9)


def test_what_cannot_be_read_or_understood_is_none_and_never_zero() -> None:
    files = FileTexts({"/u/a/cpu.stat": b"garbage", "/u/a/memory.current": b"5\n"})
    found = ControlGroups(files).read("/a", [V2])
    assert (found.cpu_us, found.memory_bytes) == (None, None)
    assert ControlGroups(files).read("/../a", [V2]).inode is None


UNIT = "/system.slice/a.service"
STAT = {b"4000": b"inactive_file 4000\n", b"100": b"inactive_file 100\n"}


def unit_files(charged: bytes, stat: bytes, *, path: str = UNIT) -> FileTexts:
    return FileTexts(
        {
            f"/u{path}/cpu.stat": b"usage_usec 7\n",
            f"/u{path}/memory.current": charged,
            f"/u{path}/memory.stat": stat,
            f"/u{path}/cpu.pressure": PSI,
        }
    )


def test_the_long_file_is_read_again_when_another_amount_is_charged() -> None:
    first = ControlGroups(unit_files(b"9000\n", STAT[b"4000"])).read(UNIT, [V2])
    same = unit_files(b"9000\n", STAT[b"100"])
    assert ControlGroups(same).read(UNIT, [V2], before=first, whole=False).memory_bytes == 5000
    assert ControlGroups(same).read(UNIT, [V2], before=first).memory_bytes == 8900
    more = unit_files(b"9500\n", STAT[b"100"])
    assert ControlGroups(more).read(UNIT, [V2], before=first, whole=False).memory_bytes == 9400


def test_pressure_and_the_memory_of_sums_are_read_seldom() -> None:
    files = unit_files(b"9000\n", STAT[b"100"], path="/system.slice")
    groups = ControlGroups(files)
    first = groups.read("/system.slice", [V2])
    kept = first._replace(memory_bytes=1, pressures=Pressures())
    assert groups.read("/system.slice", [V2], before=kept, whole=False) == kept
    assert groups.read("/system.slice", [V2], before=kept) == first
    # Another group under the same path is read whole.
    other = kept._replace(inode=0)
    assert groups.read("/system.slice", [V2], before=other, whole=False) == first


def test_a_group_that_is_gone_is_forgotten() -> None:
    groups = ControlGroups(unit_files(b"9000\n", STAT[b"100"]))
    groups.read(UNIT, [V2])
    groups.forget({})
    assert groups.read(UNIT, [V2]).memory_bytes == 8900


def psi(total_us: int) -> bytes:
    return b"some avg10=50.00 avg60=50.00 avg300=50.00 total=%d\n" % total_us


def test_waits_are_those_of_the_time_between_two_readings() -> None:
    texts = {"/u/a/cpu.stat": b"usage_usec 1\n", "/u/a/cpu.pressure": psi(1_000_000)}
    groups = ControlGroups(FileTexts(texts))
    first = groups.read("/a", [V2], at=100.0)
    assert first.waits is None
    texts["/u/a/cpu.pressure"] = psi(3_000_000)
    second = groups.read("/a", [V2], before=first, at=110.0)
    assert second.waits == Waits(20.0, None, None)
    kept = groups.read("/a", [V2], before=second, whole=False, at=115.0)
    assert (kept.waits, kept.stalls) == (second.waits, second.stalls)
    texts["/u/a/cpu.pressure"] = psi(3_000_000)
    assert groups.read("/a", [V2], before=kept, at=120.0).waits == Waits(0.0, None, None)
    texts["/u/a/cpu.pressure"] = psi(5)
    fallen = groups.read("/a", [V2], before=kept, at=120.0)
    assert fallen.waits == Waits(None, None, None), "a count that falls is another one"


@given(st.integers(0, 2**63), st.integers(0, 2**63), st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_no_wait_is_longer_than_its_time(begun: int, ended: int, at: float, later: float) -> None:
    found = waits_between(Stalls(at, begun, begun, None), Stalls(later, ended, None, ended))
    if found is not None:
        assert found.memory is None
        assert found.io is None
        assert found.cpu is None or 0 <= found.cpu <= 100


@pytest.mark.parametrize(
    ("hierarchies", "place", "key"),
    [([V2], "/u", b"workingset_refault_file"), ([V2, MEMORY], "/m", b"total_workingset_refault_file")],
)  # fmt: skip
def test_what_is_read_again_is_counted_in_bytes_between_two_readings(
    hierarchies: list[Hierarchy], place: str, key: bytes
) -> None:
    charged = "memory.current" if place == "/u" else "memory.usage_in_bytes"
    texts = {
        "/u/a/cpu.stat": b"usage_usec 1\n",
        "/u/a/io.pressure": psi(0),
        f"{place}/a/{charged}": b"9000\n",
        f"{place}/a/memory.stat": b"anon 1\n" + key + b" 100\n",
    }
    groups = ControlGroups(FileTexts(texts), page_bytes=4096)
    first = groups.read("/a", hierarchies, at=100.0)
    texts[f"{place}/a/memory.stat"] = b"anon 1\n" + key + b" 350\n"
    second = groups.read("/a", hierarchies, before=first, at=110.0)
    assert second.waits == Waits(None, None, 0.0, refaulted=102_400.0)
    texts[f"{place}/a/memory.stat"] = b"anon 1\n" + key + b" 7\n"
    assert groups.read("/a", hierarchies, before=second, at=120.0).waits == Waits(None, None, 0.0)
    # A kernel before 5.9 has no such line.
    texts[f"{place}/a/memory.stat"] = b"anon 1\nworkingset_refault 350\n"
    assert groups.read("/a", hierarchies, before=second, at=120.0).waits == Waits(None, None, 0.0)
