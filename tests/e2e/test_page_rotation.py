"""A rotation as people see it: a value changes in Vault, and the page of `nemutator up` says so."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.contract.credentials.test_machine_logins import PATH, FakePlace
from tests.e2e.standing import COMMAND, Person, Standing, standing
from tests.fakes.vaults import FakeVault


@pytest.fixture
def vault() -> Iterator[FakeVault]:
    with FakeVault() as vault:
        FakePlace(vault)
        yield vault


@pytest.fixture
def up(tmp_path: Path, vault: FakeVault, chromium: Browser) -> Iterator[Standing]:
    role_id, secret_id = tmp_path / "role-id", tmp_path / "secret-id"
    role_id.write_text("the-role")
    secret_id.write_text("one")
    secret_id.chmod(0o400)
    settings = {
        "VAULT_ADDRESS": vault.url,
        "VAULT_AUTH_METHOD": "approle",
        "VAULT_ROLE_ID_FILE": str(role_id),
        "VAULT_SECRET_ID_FILE": str(secret_id),
        "CHECK_S": "1",
    }
    role_id.chmod(0o644)
    environment = {f"NEMUTATOR_CREDENTIALS_{name}": value for name, value in settings.items()}
    with standing(tmp_path, person=Person(COMMAND, environment=environment)) as up:
        yield up


def test_a_new_value_in_vault_is_seen_on_the_page(
    up: Standing, vault: FakeVault, page: Page
) -> None:
    where = ("--data-dir", up.data_dir, "--vault", f"{PATH}#password")
    made = up.person.run("secret", "set", "db", *where)
    assert made.stdout.endswith(f"from {PATH}#password in Vault\n"), made.stderr
    read = up.run("exec", "--env", "DB=db", "--", "printenv", "DB")
    assert (read.stdout, read.code) == ("x\n", 0), read.stderr
    page.goto(up.another_link())
    page.get_by_role("link", name="Audit").click()
    rows = page.locator("#list-rows tr")
    expect(rows.filter(has_text="read db, version 1")).to_have_count(1)
    expect(rows.filter(has_text="rotate")).to_have_count(0)
    vault.write(PATH, {"password": "y"})
    rotated = rows.filter(has_text="rotate db, version 2")
    expect(rotated).to_have_count(1)
    expect(rotated).to_contain_text("nemutator-agent")
    expect(rotated).to_contain_text("granted")
    page.get_by_role("link", name="Leases").click()
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("approle.")
    expect(rows).to_contain_text("active")
    assert up.run("exec", "--env", "DB=db", "--", "printenv", "DB").stdout == "y\n"
