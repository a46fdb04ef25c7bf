"""The store on a disk: sealed, private, and never begun anew over something that it cannot read."""

import os
import stat
from pathlib import Path

import pytest
from nemutator_agent.credentials.machine.files import KEY, SECRETS, SecretFiles, digest_key
from nemutator_agent.credentials.machine.stored_secrets import StoredSecret
from nemutator_agent.identity.rules import CallerRule
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.secret import Secret

from tests.fakes.full_disks import full_disk

DB = {
    "db": StoredSecret(
        value=Secret("hunter2"), version=2, changed_at=5.0, rules=(CallerRule(uid=1000),)
    ),
}


async def saved(folder: Path) -> SecretFiles:
    files = SecretFiles(folder)
    assert files.load() == {}
    await files.save(DB)
    return files


async def test_what_was_saved_is_there_after_a_restart(tmp_path: Path) -> None:
    await saved(tmp_path)
    assert SecretFiles(tmp_path).load() == DB


async def test_nobody_else_can_read_it_and_no_value_is_in_it(tmp_path: Path) -> None:
    await saved(tmp_path)
    for name in (SECRETS, KEY):
        path = tmp_path / name
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert b"hunter2" not in path.read_bytes()
    assert b'"db"' not in (tmp_path / SECRETS).read_bytes()


async def test_each_save_is_sealed_anew(tmp_path: Path) -> None:
    files = await saved(tmp_path)
    before = (tmp_path / SECRETS).read_bytes()
    await files.save(DB)
    assert (tmp_path / SECRETS).read_bytes() != before


@pytest.mark.parametrize("damage", ["no key", "other key", "short key", "torn", "garbage"])
async def test_what_cannot_be_read_is_kept_and_told(tmp_path: Path, damage: str) -> None:
    await saved(tmp_path)
    sealed, key = tmp_path / SECRETS, tmp_path / KEY
    match damage:
        case "no key":
            key.unlink()
        case "other key":
            key.write_bytes(bytes(32))
        case "short key":
            key.write_bytes(b"x")
        case "torn":
            sealed.write_bytes(sealed.read_bytes()[:-3])
        case "garbage":
            sealed.write_bytes(b"{}")
    before = sealed.read_bytes()
    with pytest.raises(OperatorError, match="stored secrets") as raised:
        SecretFiles(tmp_path).load()
    assert raised.value.code is ExitCode.DATA_DIRECTORY
    assert sealed.read_bytes() == before


async def test_a_disk_that_takes_nothing_is_told(tmp_path: Path) -> None:
    files = await saved(tmp_path)
    before = set(os.listdir(tmp_path))
    with full_disk(), pytest.raises(OperatorError, match="was not stored"):
        await files.save({})
    assert set(os.listdir(tmp_path)) == before
    assert SecretFiles(tmp_path).load() == DB


def test_the_key_of_the_audit_stays_the_same(tmp_path: Path) -> None:
    first = digest_key(tmp_path / "audit.key")
    assert digest_key(tmp_path / "audit.key") == first
    assert len(first.reveal()) > 32
