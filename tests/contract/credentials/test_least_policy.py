"""The policy that docs/security.md calls the least, on a real Vault."""

import json
import re
import uuid

import pytest
from nemutator_agent.credentials.leases.kept_documents import asking, keeping, kept_document
from nemutator_agent.credentials.leases.leased_documents import LeasedDocument, RecoveredLease
from nemutator_agent.credentials.leases.renewing import RENEW
from nemutator_agent.credentials.leases.states import LeaseHolding, granted
from nemutator_agent.credentials.vault.documents import Document, GivenLease
from nemutator_agent.credentials.vault.exchanges import VaultExchange
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


async def test_two_documented_lines_more_let_a_lease_outlive_a_restart(vault: Vault) -> None:
    name = f"lent-{uuid.uuid4().hex[:8]}"
    text = (REPOSITORY / "docs" / "security.md").read_text()
    lines = re.findall(r"`(path \"(?:sys/leases|cubbyhole)/.*?})`", text)
    assert len(lines) == 2
    vault.policy(name, "\n".join((documented(), *lines)))
    made = vault.call(
        "POST", "auth/token/create", {"policies": [name], "no_default_policy": True, "ttl": "1h"}
    )
    token = Secret(made["auth"]["client_token"])
    given = GivenLease("database/creds/shop/abc", 60.0, renewable=True)
    lease = RecoveredLease("database/creds/shop", granted(LeaseHolding(), given, 0, roll=0), 1, 2)
    document = Document.of({"password": "x"}, None, lease=given)
    keep = keeping(lease.path, LeasedDocument(document, lease.holding, 1))
    assert keep is not None
    renewal = Secret(json.dumps({"lease_id": given.id}))
    with adapter(vault.url) as asked:
        # Twice: the second time it is there already.
        for _ in range(2):
            assert (await asked.exchange(token, keep)).status == 204
        assert kept_document(await asked.exchange(token, asking(lease.path)), lease) == document
        renewed = await asked.exchange(token, VaultExchange(method="PUT", path=RENEW, body=renewal))
        # It may renew, and there is nothing of that name.
        assert (renewed.status, renewed.document["errors"]) == (400, ["lease not found"])


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
