"""What lies in the folder of manifests when somebody has put it there."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from nemutator_common.decisions import Subject
from nemutator_controller.journal.files import FileObjects
from nemutator_controller.journal.living import RefusedError, UnreachableError
from nemutator_controller.journal.manifests import LARGEST

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
    with pytest.raises(RefusedError):
        await objects.get(subject)
    with pytest.raises(RefusedError):
        await objects.put(subject, {"kind": "Pod"})
    assert everything(tmp_path) == before


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"3", b"\xff", b"[" * 100_000, b" " * (LARGEST + 1)]
)
async def test_a_damaged_file_is_named_and_hides_no_other(
    objects: FileObjects, place: Path, content: bytes
) -> None:
    fill(place, content)
    with pytest.raises(RefusedError, match="web"):
        await objects.get(WEB)
    await objects.put(replace(WEB, name="api"), {"kind": "Pod"})
    assert [live.subject.name for live in await objects.all()] == ["api"]


async def test_a_link_is_not_followed(objects: FileObjects, place: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    fill(secret, b'{"password": "x"}')
    os.symlink(secret, place)
    with pytest.raises(UnreachableError):
        await objects.get(WEB)
    assert await objects.all() == []
    await objects.put(WEB, {"kind": "Pod"})
    assert everything(tmp_path)[secret] == b'{"password": "x"}'
    assert [live.subject.name for live in await objects.all()] == ["web"]


async def test_a_pipe_does_not_make_anybody_wait(objects: FileObjects, place: Path) -> None:
    os.mkfifo(place)
    with pytest.raises((RefusedError, UnreachableError)):
        await objects.get(WEB)


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
    with pytest.raises(RefusedError, match="larger than"):
        await objects.put(WEB, {"kind": "Pod", "x": "y" * LARGEST})
    assert everything(place.parent) == {}
