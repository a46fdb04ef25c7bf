"""Drop-ins in a real folder: whole or not at all, nobody else's touched, and nothing followed."""

import os
import stat
from pathlib import Path

import pytest
from nemutator_controller.units.drop_ins import FILE
from nemutator_controller.units.files import LARGEST, DropInFiles
from nemutator_controller.units.refusals import (
    DropInChangedError,
    UnitRefusedError,
    UnitsUnavailableError,
)

SHOP = "shop.service"


def place(root: Path, unit: str = SHOP) -> Path:
    return root / f"{unit}.d" / FILE


async def test_a_file_is_made_changed_and_removed_with_the_folder_that_it_needed(
    tmp_path: Path,
) -> None:
    files = DropInFiles(tmp_path)
    assert await files.read(SHOP) == ()
    await files.replace(SHOP, before=(), after=("one\n",))
    assert files.place(SHOP) == str(place(tmp_path))
    # systemd complains about what not everybody may read.
    assert stat.S_IMODE(place(tmp_path).stat().st_mode) == 0o644
    await files.replace(SHOP, before=("one\n",), after=("two\n",))
    assert await files.read(SHOP) == ("two\n",)
    await files.replace(SHOP, before=("two\n",), after=())
    assert os.listdir(tmp_path) == []


async def test_the_folder_stays_where_others_have_files_in_it(tmp_path: Path) -> None:
    files, theirs = DropInFiles(tmp_path), place(tmp_path).with_name("10-theirs.conf")
    theirs.parent.mkdir()
    theirs.write_text("theirs")
    await files.replace(SHOP, before=(), after=("ours",))
    await files.replace(SHOP, before=("ours",), after=())
    assert list(theirs.parent.iterdir()) == [theirs]


async def test_what_somebody_has_changed_meanwhile_stays(tmp_path: Path) -> None:
    files = DropInFiles(tmp_path)
    await files.replace(SHOP, before=(), after=("ours",))
    place(tmp_path).write_text("theirs")
    for after in ((), ("ours again",)):
        with pytest.raises(DropInChangedError):
            await files.replace(SHOP, before=("ours",), after=after)
    assert place(tmp_path).read_text() == "theirs"


async def test_escapes_and_instances_are_folders_of_their_names(tmp_path: Path) -> None:
    for unit in (r"fsck@dev-disk-by\x2duuid-1.service", "getty@tty1.service"):
        await DropInFiles(tmp_path).replace(unit, before=(), after=("x",))
        assert place(tmp_path, unit).read_text() == "x"


@pytest.mark.parametrize("name", ["../../etc.service", "/etc.service", "a/b.service", "x@.service"])
async def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnitRefusedError):
        await DropInFiles(tmp_path / "system").replace(name, before=(), after=("x",))
    assert os.listdir(tmp_path) == []


async def test_links_pipes_and_folders_in_its_place_are_refused_and_stay(tmp_path: Path) -> None:
    files, outside = DropInFiles(tmp_path), tmp_path / "outside"
    outside.write_text("secret")
    place(tmp_path).parent.mkdir()
    for make in (
        lambda path: path.symlink_to(outside),
        lambda path: os.mkfifo(path),
        lambda path: path.mkdir(),
    ):
        make(place(tmp_path))
        with pytest.raises(UnitRefusedError, match="it is no file"):
            await files.replace(SHOP, before=(), after=("x",))
        at = place(tmp_path)
        at.rmdir() if at.is_dir() and not at.is_symlink() else at.unlink()
    assert outside.read_text() == "secret"


async def test_a_folder_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    place(tmp_path).parent.symlink_to(elsewhere)
    with pytest.raises(UnitRefusedError):
        await DropInFiles(tmp_path).check(SHOP)
    assert list(elsewhere.iterdir()) == []


async def test_a_file_in_the_place_of_the_folder_is_told(tmp_path: Path) -> None:
    place(tmp_path).parent.write_text("mine")
    with pytest.raises(UnitRefusedError, match="its folder is none"):
        await DropInFiles(tmp_path).check(SHOP)
    assert place(tmp_path).parent.read_text() == "mine"


@pytest.mark.parametrize("body", [b"\xff\xfe", b"x" * (LARGEST + 1)])
async def test_what_is_no_text_or_too_large_is_nobody_elses_to_replace(
    tmp_path: Path, body: bytes
) -> None:
    place(tmp_path).parent.mkdir()
    place(tmp_path).write_bytes(body)
    with pytest.raises(UnitRefusedError, match="no drop-in of ours"):
        await DropInFiles(tmp_path).read(SHOP)


async def test_a_folder_that_is_not_there_is_told_with_its_setting(tmp_path: Path) -> None:
    with pytest.raises(UnitsUnavailableError) as failure:
        await DropInFiles(tmp_path / "none").check(SHOP)
    assert "brain.unit_folder" in failure.value.remedy
