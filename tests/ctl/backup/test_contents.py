import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_ctl.backup.contents import (
    DATABASE,
    FORM,
    MOST_FILES,
    About,
    BackedUpFile,
    BackupError,
    encoded,
    is_ours,
    missing,
    read_about,
)

LARGEST = 1 << 20
DIGEST = "0" * 64


def about(**files: int) -> About:
    sizes = {DATABASE: 10, **files}
    known = {name: BackedUpFile(size, DIGEST) for name, size in sizes.items()}
    return About(form=FORM, version="9", at=1.0, machine="laptop", files=known)


def test_what_is_written_is_read() -> None:
    assert read_about(encoded(about()), largest=LARGEST) == about()


@pytest.mark.parametrize(
    "name",
    [
        "nemutator.db",
        "tokens.json",
        "secrets.json.enc",
        "objects/Deployment/shop/api.json",
        "objects/MutationPolicy/_/defaults.json",
    ],
)
def test_what_a_directory_has_is_ours(name: str) -> None:
    assert is_ours(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "secrets.key",
        "link-token",
        "lock",
        "/etc/passwd",
        "../nemutator.db",
        "objects/../../x.json",
        "objects/Deployment/../x.json",
        "objects/Deployment/shop/..json",
        "objects/Deployment/shop/a/b.json",
        "objects/Deployment/shop/a.json\n",
        "objects//shop/a.json",
        "objects/Deployment/shop/.json",
    ],
)
def test_anything_else_is_not(name: str) -> None:
    assert not is_ours(name)


@given(
    st.text(max_size=60)
    | st.lists(st.sampled_from(["..", ".", "objects", "A", "a.json", ""])).map("/".join)
)
def test_no_name_leads_out_of_the_directory(name: str) -> None:
    if is_ours(name):
        assert not name.startswith("/")
        assert ".." not in name.split("/")


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"form": 2}, "it has form 2"),
        ({"files": {}}, "no database"),
        ({"files": {DATABASE: {"size": -1, "sha256": DIGEST}}}, "damaged"),
        ({"files": {DATABASE: {"size": 1, "sha256": "x"}}}, "damaged"),
        ({"files": {DATABASE: {"size": 2 << 20, "sha256": DIGEST}}}, "more than the"),
        ({"files": {"../x": {"size": 1, "sha256": DIGEST}}}, "no backup has"),
        ({"more": 1}, "damaged"),
    ],
)
def test_a_list_that_is_not_ours_is_refused(changed: dict[str, Any], why: str) -> None:
    document = json.loads(encoded(about())) | changed
    with pytest.raises(BackupError, match=why):
        read_about(json.dumps(document).encode(), largest=LARGEST)


def test_files_without_end_are_refused() -> None:
    many = {f"objects/A/a/n{number}.json": 0 for number in range(MOST_FILES)}
    with pytest.raises(BackupError, match="more than 20000 files"):
        read_about(encoded(about(**many)), largest=LARGEST)


@given(st.binary(max_size=200))
def test_bytes_of_strangers_are_refused(content: bytes) -> None:
    with pytest.raises(BackupError):
        read_about(content, largest=LARGEST)


def test_what_is_missing_is_named() -> None:
    assert missing(about(), {DATABASE: None}) == ""
    assert missing(about(), {}) == DATABASE
