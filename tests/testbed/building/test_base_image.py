"""What the base of images has, and what it leaves to whoever reads manuals."""

from pathlib import Path

from tests.testbed.building import base_image


def test_manuals_are_left_out_and_licences_and_all_else_stay(tmp_path: Path) -> None:
    (tmp_path / base_image.FOR_DPKG).parent.mkdir(parents=True)
    (tmp_path / base_image.FOR_APT).parent.mkdir(parents=True)
    share = tmp_path / "usr/share"
    stays = [share / "doc/apt/copyright", share / "zoneinfo/UTC", tmp_path / "usr/bin/apt"]
    goes = [share / "doc/apt/changelog.gz", share / "locale/de/a.mo", share / "man/man1/apt.1.gz"]
    for path in (*stays, *goes):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text")
    (share / "doc/libapt").symlink_to("apt")

    base_image.without_manuals(tmp_path)

    assert all(path.exists() for path in stays)
    assert not any(path.exists() for path in goes)
    assert [path.name for path in (share / "doc").iterdir()] == ["apt"]
    told = (tmp_path / base_image.FOR_DPKG).read_text().splitlines()
    assert told[0] == "path-exclude /usr/share/doc/*"
    assert told[-1] == "path-include /usr/share/doc/*/copyright"
