"""What lies in the folder of manifests when somebody has put it there."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from nemutator_controller.journal.files import FileObjects
from nemutator_controller.journal.live_objects import ObjectRefusedError
from nemutator_controller.journal.manifests import DEEPEST, LARGEST
from nemutator_controller.mutations.decisions import Subject

from tests.fakes.decisions import TEAM, edit

WEB = Subject(api_version="v1", kind="Pod", namespace="team", name="web")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "objects" / "Pod" / "team"
    folder.mkdir(parents=True)
    return folder / "web.json"


def fill(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def everything(root: Path) -> dict[Path, bytes | None]:
    found = sorted(root.rglob("*"))
    return {path: path.read_bytes() if path.is_file() else None for path in found}


@pytest.fixture
def objects(tmp_path: Path) -> FileObjects:
    return FileObjects(tmp_path / "objects")


@pytest.mark.parametrize(
    "subject",
    [
        replace(WEB, name="../../../etc/passwd"),
        replace(WEB, name=".."),
        replace(WEB, name="a..b"),
        replace(WEB, name=""),
        replace(WEB, name="x" * 300),
        replace(WEB, name="_"),
        replace(WEB, name="a/b"),
        replace(WEB, name="a\0b"),
        replace(WEB, namespace="../team"),
        replace(WEB, namespace="Team"),
        replace(WEB, namespace="_"),
        replace(WEB, kind="../Pod"),
        replace(WEB, kind="pod"),
    ],
)
async def test_a_name_that_leads_elsewhere_is_refused(
    objects: FileObjects, subject: Subject, tmp_path: Path
) -> None:
    before = everything(tmp_path)
    with pytest.raises(ObjectRefusedError):
        await objects.get(subject)
    with pytest.raises(ObjectRefusedError):
        await objects.put(subject, {"kind": "Pod"})
    assert everything(tmp_path) == before


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{", b"[]", b"3", b"\xff", b"\0" * 9, b"[" * 100_000, b" " * (LARGEST + 1)),
        b'{"spec": {"x": "\xff"}}',
        b'{"\xff": 1}',
        b'{"metadata": {"labels": {"city": "K\xf6ln"}}}',
        b'{"x": ' + b"1" * 5_000 + b"}",
        b'{"x": ' + b"[" * DEEPEST + b"]" * DEEPEST + b"}",
        b'\xef\xbb\xbf{"kind": "Pod"}',
    ],
)
async def test_a_damaged_file_is_named_and_hides_no_other(
    objects: FileObjects, place: Path, content: bytes
) -> None:
    fill(place, content)
    with pytest.raises(
        ObjectRefusedError, match=r"its file is damaged \(objects/Pod/team/web\.json\)"
    ):
        await objects.get(WEB)
    (why,) = await objects.damaged("Pod")
    assert why.startswith("Pod web: its file is damaged")
    assert await objects.damaged("MutationPolicy") == []
    await objects.put(replace(WEB, name="api"), {"kind": "Pod"})
    assert [live.subject.name for live in await objects.all()] == ["api"]


async def test_a_version_that_is_no_text_is_none(objects: FileObjects, place: Path) -> None:
    fill(place, b'{"apiVersion": [[[]]], "metadata": 3}')
    (live,) = await objects.all()
    assert live.subject.api_version == ""


async def test_a_link_is_not_followed(objects: FileObjects, place: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    fill(secret, b'{"password": "x"}')
    os.symlink(secret, place)
    with pytest.raises(ObjectRefusedError, match=r"objects/Pod/team/web\.json: .*links: move away"):
        await objects.get(WEB)
    assert await objects.all() == []
    await objects.put(WEB, {"kind": "Pod"})
    assert everything(tmp_path)[secret] == b'{"password": "x"}'
    assert [live.subject.name for live in await objects.all()] == ["web"]


async def test_a_pipe_does_not_make_anybody_wait(objects: FileObjects, place: Path) -> None:
    os.mkfifo(place)
    # With nobody at its other end it would be empty; with somebody who is silent, it is not.
    other_end = os.open(place, os.O_RDWR)
    with pytest.raises(ObjectRefusedError, match="it is not a file: move away"):
        await objects.get(WEB)
    assert await objects.all() == []
    os.close(other_end)


async def test_what_is_no_file_is_named_as_what_must_be_moved_away(
    objects: FileObjects, place: Path
) -> None:
    os.mkdir(place)
    open_before = len(os.listdir("/proc/self/fd"))
    for refused in (objects.get(WEB), objects.put(WEB, {"kind": "Pod"})):
        with pytest.raises(ObjectRefusedError, match=r"objects/Pod/team/web\.json: .*: move away"):
            await refused
    assert await objects.all() == []
    assert len(os.listdir("/proc/self/fd")) == open_before


async def test_a_file_in_place_of_a_folder_is_named(objects: FileObjects, place: Path) -> None:
    fill(place.parent.with_name("shop"), b"")
    there = replace(WEB, namespace="shop")
    for refused in (objects.get(there), objects.put(there, {"kind": "Pod"})):
        with pytest.raises(ObjectRefusedError, match=r"objects/.*shop.*: move away"):
            await refused


@pytest.mark.parametrize("name", [b"\xff.json", b"Web.json", b".json", b"a\nb.json"])
async def test_a_file_whose_name_no_object_can_have_is_left_out(
    objects: FileObjects, place: Path, name: bytes
) -> None:
    fill(place, b'{"kind": "Pod"}')
    fill(Path(os.fsdecode(bytes(place.parent) + b"/" + name)), b'{"kind": "Pod"}')
    assert [live.subject.name for live in await objects.all()] == ["web"]


async def test_a_name_is_as_long_as_a_files_can_be(objects: FileObjects) -> None:
    await objects.put(replace(WEB, name="x" * 250), {"kind": "Pod"})
    assert [len(live.subject.name) for live in await objects.all()] == [250]
    with pytest.raises(ObjectRefusedError, match=r"name x+…: longer than 250 characters"):
        await objects.get(replace(WEB, name="x" * 251))


async def test_a_half_written_file_of_before_is_no_obstacle(
    objects: FileObjects, place: Path
) -> None:
    fill(place.with_suffix(".new"), b"{")
    live = await objects.put(WEB, {"kind": "Pod", "metadata": {"labels": {"team": "blue"}}})
    after = await objects.write(live, [edit(TEAM, before="blue", after="red")], resize=False)
    assert after.document["metadata"]["labels"] == {"team": "red"}
    assert [path.name for path in everything(place.parent)] == ["web.json"]
    assert os.stat(place).st_mode & 0o777 == 0o600


async def test_a_manifest_that_is_too_large_is_not_kept(objects: FileObjects, place: Path) -> None:
    for refuse in (objects.check, objects.put):
        with pytest.raises(ObjectRefusedError, match=r"Pod web: .* larger than"):
            await refuse(WEB, {"kind": "Pod", "x": "y" * LARGEST})
    assert everything(place.parent) == {}
