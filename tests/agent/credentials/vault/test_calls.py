import pytest
from nemutator_agent.credentials.vault.calls import VaultCalls
from nemutator_agent.credentials.vault.failures import LoginRefusedError, VaultUnavailableError
from nemutator_common import names
from nemutator_common.secret import Secret

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.vaults import MemoryVault


def calls(vault: MemoryVault, meter: MemoryMeter, *, deadline_s: float = 10.0) -> VaultCalls:
    return VaultCalls(
        vault, deadline_s=deadline_s, process=fake_process(clock=ManualClock(), meter=meter)
    )


async def test_every_call_is_counted_with_how_it_ended() -> None:
    vault, meter = MemoryVault(), MemoryMeter()
    vault.state.role("app", "jwt", ["secret/app"])
    vault.state.write("secret/app", {"a": 1})
    made = calls(vault, meter)
    token = (await made.login("app", Secret("jwt"))).token
    mount = await made.mount_of(token, "secret/app")
    assert (await made.read(token, mount, "secret/app")).content.reveal() == '{"a":1}'
    await made.renew(token)
    await made.revoke(token)
    for operation in ("login", "mount", "read", "renew", "revoke"):
        assert meter.value(names.VAULT_CALLS, operation=operation, result="done") == 1
        assert len(meter.observed(names.VAULT_CALL_SECONDS, operation=operation)) == 1
    with pytest.raises(LoginRefusedError):
        await made.login("nobody", Secret("jwt"))
    assert meter.value(names.VAULT_CALLS, operation="login", result="login") == 1
    vault.outage = "sealed"
    with pytest.raises(VaultUnavailableError):
        await made.login("app", Secret("jwt"))
    assert meter.value(names.VAULT_CALLS, operation="login", result="sealed") == 1


async def test_a_call_without_an_answer_ends() -> None:
    vault, meter = MemoryVault(), MemoryMeter()
    vault.open.clear()
    with pytest.raises(VaultUnavailableError, match="no answer within") as raised:
        await calls(vault, meter, deadline_s=0.01).renew(Secret("hvs.x"))
    assert raised.value.reason == "timeout"
    assert meter.value(names.VAULT_CALLS, operation="renew", result="timeout") == 1
