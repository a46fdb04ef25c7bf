"""Files that are replaced in one step, on a real file system."""

import stat
from pathlib import Path

import pytest
from nemutator_common.files import replace_file

from tests.fakes.full_disks import full_disk


@pytest.mark.parametrize("durable", [True, False])
def test_a_file_is_made_and_replaced_for_this_user_alone(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "record.json"
    for content in (b"first", b""):
        replace_file(path, content, durable=durable)
        assert path.read_bytes() == content
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_leaves_what_was_there_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    replace_file(path, b"before", durable=True)
    with full_disk(), pytest.raises(OSError, match="too large"):
        replace_file(path, b"more than it takes", durable=True)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_that_is_taken_by_a_directory_is_an_error_that_leaves_nothing(
    tmp_path: Path,
) -> None:
    path = tmp_path / "record.json"
    path.mkdir()
    with pytest.raises(IsADirectoryError):
        replace_file(path, b"content", durable=False)
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_killed_process_has_left_is_not_taken_over(tmp_path: Path) -> None:
    path, elsewhere = tmp_path / "record.json", tmp_path / "elsewhere"
    elsewhere.write_bytes(b"precious")
    (tmp_path / "record.new").symlink_to(elsewhere)
    replace_file(path, b"content", durable=False)
    assert elsewhere.read_bytes() == b"precious"
    assert path.read_bytes() == b"content"
