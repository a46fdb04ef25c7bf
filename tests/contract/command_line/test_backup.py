"""A data directory in one archive, while it is written, and back; and archives that somebody else made."""

import hashlib
import io
import sqlite3
import tarfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from nemutator_common.errors import ExitCode
from nemutator_controller.database.sqlite import open_sqlite
from nemutator_ctl.__main__ import main
from nemutator_ctl.backup.archives import described, pack
from nemutator_ctl.backup.contents import (
    ABOUT,
    DATABASE,
    FORM,
    ROOT,
    About,
    BackedUpFile,
    encoded,
)
from sqlalchemy import text

LARGEST = 256 << 20


@pytest.fixture
def lived_in(tmp_path: Path) -> Path:
    """A directory with a database that a brain has made and has open, and all else that is backed up."""
    folder = tmp_path / "lived-in"
    (folder / "objects" / "Deployment" / "shop").mkdir(parents=True)
    (folder / "objects" / "Deployment" / "shop" / "api.json").write_text("{}")
    (folder / "objects" / "Deployment" / "shop" / "api.json.new").write_text("half of it")
    (folder / "tokens.json").write_text('{"nemu_1": "x"}')
    (folder / "secrets.json.enc").write_bytes(b"sealed")
    (folder / "secrets.key").write_bytes(b"key")
    (folder / "link-token").write_text("token")
    return folder


def values(path: Path) -> list[int]:
    with closing(sqlite3.connect(path)) as connection:
        return [row[0] for row in connection.execute("SELECT value FROM probe ORDER BY value")]


def test_what_a_brain_knows_goes_to_another_directory(
    lived_in: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive, other = tmp_path / "saved.tar.gz", tmp_path / "other"
    engines = open_sqlite(lived_in / DATABASE, largest_bytes=LARGEST)
    try:
        with engines.writing(5) as connection:
            connection.execute(text("CREATE TABLE probe (value INTEGER)"))
            connection.execute(text("INSERT INTO probe VALUES (1), (2)"))
        # A reader that stays, and what stands in the write-ahead log only, hinder nobody.
        with engines.reading(5) as reading:
            assert reading.scalar(text("SELECT count(*) FROM probe")) == 2
            assert main(["backup", "--data-dir", str(lived_in), str(archive)]) == ExitCode.OK
            with engines.writing(5) as connection:
                connection.execute(text("INSERT INTO probe VALUES (3)"))
    finally:
        engines.close()
    assert archive.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lived-in", "saved.tar.gz"]
    assert main(["restore", "--data-dir", str(other), str(archive)]) == ExitCode.OK
    said = capsys.readouterr()
    assert "4 files" in said.out
    assert said.out.endswith("Z\n")
    assert "secrets.key" in said.err
    found = {str(path.relative_to(other)) for path in other.rglob("*") if path.is_file()}
    assert found == {
        "nemutator.db",
        "tokens.json",
        "secrets.json.enc",
        "objects/Deployment/shop/api.json",
    }
    assert {path.stat().st_mode & 0o077 for path in (other, other / DATABASE)} == {0}
    assert values(other / DATABASE) == [1, 2]
    open_sqlite(other / DATABASE, largest_bytes=LARGEST).close()


def test_neither_writes_over_what_is_there(
    lived_in: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    open_sqlite(lived_in / DATABASE, largest_bytes=LARGEST).close()
    archive = tmp_path / "saved.tar.gz"
    assert main(["backup", "--data-dir", str(lived_in), str(archive)]) == ExitCode.OK
    before = archive.read_bytes()
    assert main(["backup", "--data-dir", str(lived_in), str(archive)]) == ExitCode.FAILED
    assert archive.read_bytes() == before
    assert main(["restore", "--data-dir", str(lived_in), str(archive)]) == ExitCode.DATA_DIRECTORY
    assert "is there already" in capsys.readouterr().err


def test_a_directory_without_a_database_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["backup", "--data-dir", str(tmp_path), str(tmp_path / "saved")])
    assert code == ExitCode.DATA_DIRECTORY
    assert "pg_dump" in capsys.readouterr().err


def built(folder: Path, change: Callable[[list[tuple[tarfile.TarInfo, bytes]]], None]) -> Path:
    """A whole archive, changed as a stranger would."""
    source = folder / "source.db"
    open_sqlite(source, largest_bytes=LARGEST).close()
    about = About(form=FORM, version="9", at=1.0, machine="x", files={DATABASE: described(source)})
    members = [(info(ABOUT), encoded(about)), (info(f"{ROOT}/{DATABASE}"), source.read_bytes())]
    change(members)
    path = folder / "hostile.tar.gz"
    with tarfile.open(path, mode="w:gz") as packed:
        for member, content in members:
            member.size = len(content) if member.isreg() else 0
            packed.addfile(member, io.BytesIO(content))
    return path


def info(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, link
    return member


Members = list[tuple[tarfile.TarInfo, bytes]]


def outside(members: Members) -> None:
    members.append((info(f"{ROOT}/../../outside"), b"x"))


def absolute(members: Members) -> None:
    members.append((info("/tmp/outside"), b"x"))


def link(members: Members) -> None:
    members.insert(1, (info(f"{ROOT}/{DATABASE}", tarfile.SYMTYPE, "/etc/passwd"), b""))


def hard_link(members: Members) -> None:
    members.insert(1, (info(f"{ROOT}/{DATABASE}", tarfile.LNKTYPE, "/etc/passwd"), b""))


def device(members: Members) -> None:
    members.insert(1, (info(f"{ROOT}/{DATABASE}", tarfile.CHRTYPE), b""))


def twice(members: Members) -> None:
    members.append((info(f"{ROOT}/{DATABASE}"), members[1][1]))


def unlisted(members: Members) -> None:
    members.append((info(f"{ROOT}/tokens.json"), b"{}"))


def longer(members: Members) -> None:
    members[1] = (members[1][0], members[1][1] + b"x")


def other_bytes(members: Members) -> None:
    members[1] = (members[1][0], members[1][1][:-1] + b"x")


def no_database(members: Members) -> None:
    del members[1]


def no_list(members: Members) -> None:
    del members[0]


def bomb(members: Members) -> None:
    members.insert(0, (info(ABOUT), b" " * (5 << 20)))


def other_database(members: Members) -> None:
    content = b"no database, and a digest that fits"
    digest = hashlib.sha256(content).hexdigest()
    files = {DATABASE: BackedUpFile(len(content), digest)}
    about = About(form=FORM, version="9", at=1.0, machine="x", files=files)
    members[:] = [(info(ABOUT), encoded(about)), (members[1][0], content)]


HOSTILE = [
    outside, absolute, link, hard_link, device, twice, unlisted, longer, other_bytes, no_database, no_list,
    bomb, other_database,
]  # fmt: skip


@pytest.mark.parametrize("change", HOSTILE)
def test_an_archive_of_a_stranger_changes_nothing(
    change: Callable[[Members], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "deep" / "other"
    code = main(["restore", "--data-dir", str(other), str(built(tmp_path, change))])
    assert code == ExitCode.FAILED
    assert "nothing was changed" in capsys.readouterr().err
    assert list(other.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("out")) == []


def test_an_archive_that_is_cut_off_changes_nothing(tmp_path: Path) -> None:
    whole = built(tmp_path, lambda members: None).read_bytes()
    cut = tmp_path / "cut"
    for length in (0, 1, 10, 200, len(whole) // 2):
        cut.write_bytes(whole[:length])
        other = tmp_path / "other"
        assert main(["restore", "--data-dir", str(other), str(cut)]) == ExitCode.FAILED
        assert list(other.iterdir()) == []


def test_an_archive_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = built(tmp_path, lambda members: None)
    words = ["restore", "--data-dir", str(tmp_path / "other"), "--largest", "0.00001", str(archive)]
    assert main(words) == ExitCode.FAILED
    assert "more than the" in capsys.readouterr().err


def test_what_is_packed_is_what_was_described(tmp_path: Path) -> None:
    (tmp_path / DATABASE).write_bytes(b"x" * 10)
    about = About(
        form=FORM,
        version="9",
        at=1.0,
        machine="x",
        files={DATABASE: described(tmp_path / DATABASE)},
    )
    packed = io.BytesIO()
    pack(about, {DATABASE: tmp_path / DATABASE}, packed)
    packed.seek(0)
    with tarfile.open(fileobj=packed) as found:
        assert found.getnames() == [ABOUT, f"{ROOT}/{DATABASE}"]
