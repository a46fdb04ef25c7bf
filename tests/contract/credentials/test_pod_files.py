"""The files in a pod's volume follow Vault, whatever else its processes put there."""

import asyncio
import contextlib
import functools
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from nemutator_agent.credentials.files.folder_states import FolderState
from nemutator_agent.credentials.files.pod_folder import PodFolder
from nemutator_common import names
from nemutator_common.projected_files import DATA
from nemutator_common.secret import Secret
from nemutator_init import secret_files

from tests.fakes.brokers import FRESH_S
from tests.fakes.pod_sockets import DIGESTS, Node, call

DECLARED = {"secret.word": "secret/app/db#password", "secret.user": "secret/app/db#user"}


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return made(tmp_path, "one")


def made(folder: Path, password: str) -> Node:
    node = Node(folder)
    write(node, password)
    node.setup.allow("secret/app/db")
    return node


def write(node: Node, password: str) -> None:
    node.setup.vault.state.write("secret/app/db", {"password": password, "user": "api"})


def first_files(node: Node, *, mode: int = 0o444) -> Path:
    """As `nemutator-init` writes them; it has asked for each before."""
    folder = node.volume("v1") / "secrets"
    secret_files.write(folder, {"word": b"one", "user": b"api"}, mode=mode)
    return folder


def replaced(folder: Path, before: str) -> bool:
    return os.readlink(folder / DATA) != before


async def passing(node: Node, true: Callable[[], bool]) -> None:
    """Let the node's time pass until it is *true*."""
    async with asyncio.timeout(60):
        while not true():
            await node.setup.clock.advance(FRESH_S / 4)
            await asyncio.sleep(0)


async def test_files_follow_a_change_all_at_once(node: Node) -> None:
    async with node.running():
        where = await node.publish("v1", declared=DECLARED)
        for name in ("word", "user"):
            assert (await call(where, f"/v1/secret/{name}"))[0] == 200
        folder = first_files(node)
        before = os.readlink(folder / DATA)
        write(node, "two")
        await passing(node, lambda: os.readlink(folder / DATA) != before)
        assert (folder / "word").read_text() == "two"
        assert (folder / "user").read_text() == "api"
        assert stat.S_IMODE((folder / "word").stat().st_mode) == 0o444
        assert len([path for path in folder.iterdir() if not path.is_symlink()]) == 1


async def test_the_agent_writes_the_first_ones_when_the_pod_asks(node: Node) -> None:
    folder = node.volume("v1") / "secrets"
    folder.mkdir()
    async with node.running():
        where = await node.publish("v1", declared=DECLARED)
        assert list(folder.iterdir()) == []
        assert await call(where, "/v1/files") == (200, {"files": ["user", "word"]})
        assert (folder / "word").read_text() == "one"
        assert stat.S_IMODE((folder / "word").stat().st_mode) == 0o444
        write(node, "two")
        await passing(node, lambda: (folder / "word").read_text() == "two")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to a group")
async def test_they_are_for_the_pods_group_where_mount_has_made_the_folder_so(node: Node) -> None:
    folder = node.volume("v1") / "secrets"
    folder.mkdir()
    os.chown(folder, -1, 2000)
    folder.chmod(0o3777)
    async with node.running():
        where = await node.publish("v1", declared=DECLARED)
        assert (await call(where, "/v1/files"))[0] == 200
        for password in ("two", "three"):
            before = os.readlink(folder / DATA)
            found = (folder / "word").stat()
            assert (stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid) == (0o440, 0, 2000)
            assert stat.S_IMODE((folder / DATA).stat().st_mode) == 0o550
            write(node, password)
            await passing(node, functools.partial(replaced, folder, before))
            assert (folder / "word").read_text() == password


async def test_what_keeps_the_first_ones_from_being_written_is_told(node: Node) -> None:
    declared = DECLARED | {"secret.other": "secret/other#x"}
    async with node.running():
        where = await node.publish("v1", declared=declared)
        status, document = await call(where, "/v1/files")
        assert (status, document["step"]) == (403, "vault")
        where = await node.publish("v2", declared=DECLARED)
        (node.folder / "v2" / "secrets").write_text("a file")
        status, document = await call(where, "/v1/files")
        assert (status, document["step"]) == (503, "disk")


async def test_after_a_restart_of_the_agent_they_go_on(tmp_path: Path, node: Node) -> None:
    folder = first_files(node)
    inode = (folder / "word").stat().st_ino
    async with node.running():
        await node.publish("v1", declared=DECLARED)
        await passing(node, lambda: len(node.setup.grants.of("read")) == 2)
        assert (folder / "word").stat().st_ino == inode, "a restart is no change"
    later = made(tmp_path, "two")
    async with later.running():
        await later.publish("v1", declared=DECLARED)
        await passing(later, lambda: (folder / "word").read_text() == "two")


async def test_files_for_one_user_stay_and_are_counted(node: Node) -> None:
    folder = first_files(node, mode=0o400)
    write(node, "two")
    async with node.running():
        await node.publish("v1", declared=DECLARED)
        await passing(
            node, lambda: bool(node.setup.meter.value(names.FILES_WRITTEN, result="mode"))
        )
    assert (folder / "word").read_text() == "one"


@pytest.fixture
def public() -> Iterator[Path]:
    """A directory that every user may enter; a test's own is closed to others."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_an_init_container_that_runs_again_takes_the_agents_files(public: Path) -> None:
    folder = public / "secrets"
    folder.mkdir()
    folder.chmod(0o1777)
    fd = os.open(public, os.O_RDONLY | os.O_DIRECTORY)
    os.seteuid(65534)
    try:
        secret_files.write(folder, {"word": b"one"}, mode=0o444)
        os.seteuid(0)
        PodFolder(fd, user=None, digests=DIGESTS).write(WANTED)
        os.seteuid(65534)
        secret_files.write(folder, {"word": b"two"}, mode=0o444)
        with pytest.raises(PermissionError):
            secret_files.write(folder, {"word": b"three"}, mode=0o444)
    finally:
        os.seteuid(0)
        os.close(fd)
    assert (folder / "word").read_text() == "two"


WANTED = {"word": Secret("two")}


def state(volume: Path) -> FolderState:
    fd = os.open(volume, os.O_RDONLY | os.O_DIRECTORY)
    try:
        folder = PodFolder(fd, user=None, digests=DIGESTS)
        before = folder.state(WANTED)
        with contextlib.suppress(NotADirectoryError):
            folder.write(WANTED)
        return before
    finally:
        os.close(fd)


def test_what_a_pod_plants_is_neither_followed_nor_waited_for(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "word").write_text("theirs")
    volume = tmp_path / "v1"
    volume.mkdir()
    assert state(volume) is FolderState.EMPTY
    (volume / "secrets").symlink_to(victim)
    assert state(volume) is FolderState.EMPTY
    (volume / "secrets").unlink()
    folder = volume / "secrets"
    secret_files.write(folder, {"word": b"one"}, mode=0o444)
    for plant in (
        lambda: (folder / DATA).symlink_to(victim),
        lambda: (folder / DATA).symlink_to("../../victim"),
        lambda: (folder / DATA).write_text("a file"),
    ):
        (folder / DATA).unlink()
        plant()
        assert state(volume) is FolderState.EMPTY
        assert (folder / "word").read_text() == "two"
    generation = folder / os.readlink(folder / DATA)
    generation.chmod(0o755)
    (generation / "word").unlink()
    os.mkfifo(generation / "word")
    assert state(volume) is FolderState.OUTDATED
    (folder / "word").unlink()
    (folder / "word").symlink_to(victim / "word")
    (folder / "mine").write_text("the application's")
    state(volume)
    assert (folder / "word").read_text() == "two"
    assert (folder / "mine").read_text() == "the application's"
    assert (victim / "word").read_text() == "theirs"


OWNED = DECLARED | {"run-as-user": "1000"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
async def test_they_are_of_the_pods_user_alone_and_follow(tmp_path: Path, node: Node) -> None:
    folder = node.volume("v1") / "secrets"
    folder.mkdir()
    os.chown(folder, -1, 2000)
    folder.chmod(0o3777)
    async with node.running():
        where = await node.publish("v1", declared=OWNED)
        assert (await call(where, "/v1/files"))[0] == 200
        for password in ("two", "three"):
            before = os.readlink(folder / DATA)
            found = (folder / "word").stat()
            assert (stat.S_IMODE(found.st_mode), found.st_uid, found.st_gid) == (0o400, 1000, 2000)
            assert stat.S_IMODE((folder / DATA).stat().st_mode) == 0o555
            write(node, password)
            await passing(node, functools.partial(replaced, folder, before))
            assert (folder / "word").read_text() == password
    inode = (folder / "word").stat().st_ino
    later = made(tmp_path, "three")
    async with later.running():
        await later.publish("v1", declared=OWNED)
        await passing(later, lambda: len(later.setup.grants.of("read")) == 2)
        assert (folder / "word").stat().st_ino == inode, "a restart is no change"


CAP_CHOWN = 0
_WITH_CAPABILITIES = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
from nemutator_agent.credentials.files.pod_folder import PodFolder
from nemutator_common.secret import Secret
from tests.fakes.pod_sockets import DIGESTS
kept = int(sys.argv[2])
header, sets = struct.pack("=Ii", 0x20080522, 0), struct.pack("=6I", kept, kept, 0, 0, 0, 0)
if libc.capset(header, sets):
    raise OSError(ctypes.get_errno(), "capset")
folder = PodFolder(os.open(sys.argv[1], os.O_RDONLY), user=1000, digests=DIGESTS)
for word in ("one", "two", "two", "three"):
    values = {"word": Secret(word)}
    print(folder.state(values).name, folder.state({"word": Secret("x" * len(word))}).name)
    if folder.state(values).name != "CURRENT":
        print(folder.write(values))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give up a part of its rights")
@pytest.mark.parametrize(
    ("capabilities", "given", "found"),
    [(1 << CAP_CHOWN, True, (0o400, 1000)), (0, False, (0o444, 0))],
)
def test_one_capability_is_enough_for_it_and_without_it_all_can_read_them(
    tmp_path: Path, capabilities: int, given: bool, found: tuple[int, int]
) -> None:
    folder = tmp_path / "secrets"
    folder.mkdir()
    folder.chmod(0o1777)
    ran = subprocess.run(
        [sys.executable, "-c", _WITH_CAPABILITIES, tmp_path, str(capabilities)],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    first, changed = ["EMPTY EMPTY", f"{given}"], ["OUTDATED OUTDATED", f"{given}"]
    assert ran.stdout.splitlines() == [*first, *changed, "CURRENT OUTDATED", *changed]
    is_now = (folder / "word").stat()
    assert (stat.S_IMODE(is_now.st_mode), is_now.st_uid) == found
    assert (folder / "word").read_text() == "three"
    assert len([path for path in folder.iterdir() if not path.is_symlink()]) == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_a_pod_does_to_its_own_files_is_mended_and_reaches_no_others(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    folder.mkdir()
    victim = tmp_path / "victim"
    victim.write_text("theirs")
    fd = os.open(tmp_path, os.O_RDONLY)
    try:
        files = PodFolder(fd, user=1000, digests=DIGESTS)
        values = {"word": Secret("theirs")}
        plants: list[Callable[[Path], object]] = [
            lambda word: None,
            lambda word: word.symlink_to(victim),
            lambda word: os.mkfifo(word),
            lambda word: os.link(victim, word),
        ]
        for plant in plants:
            files.write(values)
            assert files.state(values) is FolderState.CURRENT
            word = folder / os.readlink(folder / DATA) / "word"
            word.parent.chmod(0o755)
            word.unlink()
            plant(word)
            if plant is not plants[-1]:
                assert files.state(values) is FolderState.OUTDATED
        files.write(values)
    finally:
        os.close(fd)
    assert (victim.stat().st_uid, stat.S_IMODE(victim.stat().st_mode)) == (0, 0o644)
    assert (folder / "word").stat().st_uid == 1000
