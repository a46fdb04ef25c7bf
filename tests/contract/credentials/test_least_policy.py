"""The policy that docs/security.md calls the least, on a real Vault."""

import re
import uuid

import pytest
from nemutator_agent.credentials.vault.failures import VaultDeniedError
from nemutator_common.secret import Secret

from tests.contract.credentials.places import adapter
from tests.house.tree import REPOSITORY
from tests.testbed.parts.vault import Vault, VaultRefusedError

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(120)]


def documented() -> str:
    text = (REPOSITORY / "docs" / "security.md").read_text()
    (policy,) = re.findall(r"```text\n(path .*?)```", text, re.DOTALL)
    assert isinstance(policy, str)
    return policy


async def test_the_documented_policy_is_enough_and_opens_nothing_else(vault: Vault) -> None:
    folder = f"shop-{uuid.uuid4().hex[:8]}"
    for path in (f"{folder}/db", "another/db"):
        vault.call("POST", f"secret/data/{path}", {"data": {"password": "hunter2"}})
    vault.policy(folder, documented().replace("/shop/", f"/{folder}/"))
    made = vault.call(
        "POST", "auth/token/create", {"policies": [folder], "no_default_policy": True, "ttl": "1h"}
    )
    token = Secret(made["auth"]["client_token"])
    with adapter(vault.url) as asked:
        mount = await asked.mount_of(token, f"secret/{folder}/db")
        document = await asked.read(token, mount, f"secret/{folder}/db")
        assert document.values["password"].reveal() == "hunter2"
        with pytest.raises(VaultDeniedError):
            await asked.read(token, mount, "secret/another/db")
        assert (await asked.renew(token)).renewable
        await asked.revoke(token)
    with pytest.raises(VaultRefusedError, match="403"):
        vault.call("GET", f"secret/data/{folder}/db", token=token)
