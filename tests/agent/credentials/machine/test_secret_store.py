from collections.abc import Mapping

import pytest
from nemutator_agent.credentials.machine.secret_store import SecretStore
from nemutator_agent.credentials.machine.stored_secrets import StoredSecret, StoredSecretError
from nemutator_agent.identity.rules import CallerRule
from nemutator_common.errors import OperatorError
from nemutator_common.secret import Secret

from tests.fakes.file_folders import MemoryFolder
from tests.fakes.process import fake_process


class Setup:
    def __init__(self) -> None:
        self.saved: Mapping[str, StoredSecret] = {}
        self.folder = MemoryFolder()
        self.store = self.started()

    def started(self) -> SecretStore:
        return SecretStore(self.saved, self._save, self.folder, fake_process())

    async def set(
        self, name: str, value: str, *rules: CallerRule, in_file: bool | None = None
    ) -> StoredSecret:
        return await self.store.set(name, Secret(value), rules=rules, owner=1000, in_file=in_file)

    def changed(self) -> list[tuple[str, int | None]]:
        return [(change.name, change.version) for change in self.store.changes.log.after(0)]

    async def _save(self, secrets: Mapping[str, StoredSecret]) -> None:
        self.saved = secrets


async def test_a_file_follows_its_secret_and_ends_with_it() -> None:
    setup = Setup()
    await setup.set("db", "one", in_file=True)
    await setup.set("other", "x")
    assert setup.folder.files == {"db": ("one", 1000)}
    await setup.set("db", "two", CallerRule(uid=33))
    assert setup.folder.files == {"db": ("two", 33)}
    await setup.store.delete("db")
    assert setup.folder.files == {}


async def test_a_secret_that_leaves_its_file_has_none() -> None:
    setup = Setup()
    await setup.set("db", "one", in_file=True)
    await setup.set("db", "two", in_file=False)
    assert setup.folder.files == {}


async def test_each_new_version_is_announced_once_its_file_has_it() -> None:
    setup = Setup()
    await setup.set("db", "one", in_file=True)
    await setup.set("db", "two")
    assert setup.changed() == [("db", 2)]
    with pytest.raises(StoredSecretError):
        await setup.set("../db", "x")
    assert setup.changed() == [("db", 2)]


async def test_a_file_that_cannot_follow_is_an_error_that_says_what_is_stored() -> None:
    setup = Setup()
    await setup.set("db", "one", in_file=True)
    setup.folder.full = True
    with pytest.raises(OperatorError, match="the store has it, and its file is not right"):
        await setup.set("db", "two")
    assert setup.saved["db"].version == 2
    assert setup.changed() == [("db", 2)]


async def test_a_start_writes_the_files_and_survives_those_that_cannot_be() -> None:
    setup = Setup()
    await setup.set("db", "one", in_file=True)
    setup.folder.files.clear()
    await setup.started().write_files()
    assert setup.folder.files == {"db": ("one", 1000)}
    setup.folder.full = True
    await setup.started().write_files()
