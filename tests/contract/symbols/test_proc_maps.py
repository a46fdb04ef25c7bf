"""The mappings and files of a process for real."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from nemutator_agent.inspection.failures import HiddenFileError, ProcessGoneError
from nemutator_agent.profiler.symbols.mappings import Mapping
from nemutator_agent.profiler.symbols.proc_maps import ProcMaps

EXECUTABLE = os.path.realpath(sys.executable)


@pytest.fixture
def dead() -> int:
    with subprocess.Popen([sys.executable, "-I", "-c", ""]) as process:
        process.wait()
    return process.pid


async def test_our_own_mappings_lead_to_our_own_executable() -> None:
    files = ProcMaps()
    mappings = await files.mappings(os.getpid())
    mapping = next(one for one in mappings if one.path == EXECUTABLE)
    file = await files.open(os.getpid(), mapping)
    try:
        assert os.fstat(file.file).st_ino == os.stat(EXECUTABLE).st_ino == file.id.inode
        assert not os.get_inheritable(file.file)
    finally:
        files.close(file)


async def test_what_has_ended_is_gone(dead: int) -> None:
    files = ProcMaps()
    with pytest.raises((ProcessGoneError, HiddenFileError)):
        await files.mappings(dead)
    with pytest.raises((ProcessGoneError, HiddenFileError)):
        await files.open(dead, Mapping(0x1000, 0x2000, 0, 1, "/bin/sh"))


def false_proc(root: Path, pid: int, *, maps: bytes = b"") -> Path:
    process = root / "proc" / str(pid)
    (process / "map_files").mkdir(parents=True)
    (process / "maps").write_bytes(maps)
    (process / "stat").write_bytes(b"%d (x) R" % pid + b" 5" * 40)
    return process


async def test_a_path_of_the_process_is_never_opened(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"ours")
    false_proc(tmp_path, 7)
    files = ProcMaps(root=tmp_path)
    with pytest.raises((ProcessGoneError, HiddenFileError)):
        await files.open(7, Mapping(0x1000, 0x2000, 0, 1, str(secret)))


async def test_what_is_no_regular_file_holds_nobody_up(tmp_path: Path) -> None:
    process = false_proc(tmp_path, 7)
    os.mkfifo(process / "map_files" / "1000-2000")
    opened = len(os.listdir("/proc/self/fd"))
    with pytest.raises(HiddenFileError):
        await ProcMaps(root=tmp_path).open(7, Mapping(0x1000, 0x2000, 0, 1, "/x"))
    assert len(os.listdir("/proc/self/fd")) == opened


async def test_a_process_without_mappings_has_ended(tmp_path: Path) -> None:
    false_proc(tmp_path, 7)
    with pytest.raises(ProcessGoneError):
        await ProcMaps(root=tmp_path).mappings(7)
    false_proc(tmp_path, 8, maps=b"1000-2000 r-xp 0 00:00 1 /x\n")
    mappings = await ProcMaps(root=tmp_path).mappings(8)
    assert len(mappings) == 1
    assert mappings.are_of(5)
    assert not mappings.are_of(1)


async def test_the_vdso_of_a_process_is_the_image_that_we_have_too() -> None:
    files = ProcMaps()
    mapping = next(one for one in await files.mappings(os.getpid()) if one.named == "[vdso]")
    file = await files.open(os.getpid(), mapping)
    try:
        assert os.pread(file.file, 4, 0) == b"\x7fELF"
        other = Mapping(0xF7F0_0000, 0xF7F0_2000, 0, 0, "[vdso]")
        with pytest.raises(ProcessGoneError):
            await files.open(os.getpid(), other)
    finally:
        files.close(file)


def namer(root: Path, *, number: str = "4711\t7") -> Path:
    """A process whose own number is 7, and its /tmp."""
    process = false_proc(root, 4711)
    (process / "status").write_text(f"Name:\tx\nNSpid:\t{number}\n")
    temporary = process / "root" / "tmp"
    temporary.mkdir(parents=True)
    return temporary


async def test_names_of_compiled_code_are_those_of_its_own_number_and_mount_namespace(
    tmp_path: Path,
) -> None:
    (namer(tmp_path) / "perf-7.map").write_bytes(b"1 2 f\n")
    files = ProcMaps(root=tmp_path)
    file = await files.open_perf_map(4711)
    try:
        assert os.pread(file.file, 100, 0) == b"1 2 f\n"
        assert file.id.size == 6
        assert not os.get_inheritable(file.file)
    finally:
        files.close(file)
    with pytest.raises(ProcessGoneError):
        await files.open_perf_map(4712)


async def test_no_link_leads_out_of_the_root_of_the_process(tmp_path: Path) -> None:
    temporary = namer(tmp_path)
    secret = tmp_path / "secret"
    secret.write_bytes(b"1 2 ours\n")
    files = ProcMaps(root=tmp_path)
    for leads in (str(secret), "../../../../../secret", "/proc/self/root" + str(secret)):
        (temporary / "perf-7.map").symlink_to(leads)
        with pytest.raises((ProcessGoneError, HiddenFileError)):
            await files.open_perf_map(4711)
        (temporary / "perf-7.map").unlink()


async def test_names_that_are_no_regular_file_hold_nobody_up(tmp_path: Path) -> None:
    os.mkfifo(namer(tmp_path) / "perf-7.map")
    opened = len(os.listdir("/proc/self/fd"))
    files = ProcMaps(root=tmp_path)
    with pytest.raises(HiddenFileError):
        await files.open_perf_map(4711)
    assert len(os.listdir("/proc/self/fd")) == opened


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
async def test_a_strangers_file_names_nothing(tmp_path: Path) -> None:
    path = namer(tmp_path) / "perf-7.map"
    path.write_bytes(b"1 2 f\n")
    os.chown(path, 12345, 12345)
    with pytest.raises(HiddenFileError):
        await ProcMaps(root=tmp_path).open_perf_map(4711)


async def test_the_first_file_that_is_there_is_opened_within_the_root(tmp_path: Path) -> None:
    namer(tmp_path)
    root = tmp_path / "proc" / "4711" / "root"
    (root / "x.debug").write_bytes(b"symbols")
    (tmp_path / "secret").write_bytes(b"ours")
    (root / "link.debug").symlink_to(tmp_path / "secret")
    os.mkfifo(root / "pipe.debug")
    files = ProcMaps(root=tmp_path)
    file = await files.open_first(
        4711, ["/none", "/link.debug", "/../../../../secret", "/pipe.debug", "/x.debug"]
    )
    try:
        assert os.pread(file.file, 100, 0) == b"symbols"
    finally:
        files.close(file)
    for paths in ([], ["/none", "/link.debug"]):
        with pytest.raises(ProcessGoneError):
            await files.open_first(4711, paths)
