import json
from typing import Any

import pytest
from nemutator_agent.credentials.leases.certificates import (
    asked,
    check_engine,
    is_issued,
    term_of,
    with_chain,
    without_parameters,
)
from nemutator_agent.credentials.vault.documents import EngineMount, GivenLease
from nemutator_agent.credentials.vault.exchanges import VaultExchange
from nemutator_agent.credentials.vault.failures import UnsupportedSecretError
from nemutator_agent.credentials.vault.sessions import VaultSession

from tests.agent.credentials.leases.test_ssh_certificates import SIGNED, VALID_BEFORE
from tests.certificates import EARLIER, LASTS, Authority
from tests.fakes.brokers import BrokerSetup
from tests.fakes.vault_states import Engine

ISSUED = "pki/issue/shop?common_name=shop.example&ttl=1h"
TERM_S = 3600
POLL_S = 2.0


def test_parameters_are_what_vault_is_sent() -> None:
    exchange = asked(ISSUED)
    assert (exchange.method, exchange.path) == ("POST", "pki/issue/shop")
    body = json.loads(exchange.body.reveal())
    assert body == {"common_name": "shop.example", "ttl": "1h"}
    assert json.loads(asked("pki/issue/a?x=b=c").body.reveal()) == {"x": "b=c"}
    assert asked("database/creds/a") == VaultExchange(method="GET", path="database/creds/a")
    assert is_issued(ISSUED)
    assert not is_issued("pki/issue/shop")
    assert without_parameters(ISSUED) == "pki/issue/shop"


@pytest.mark.parametrize(
    ("path", "mount"),
    [
        ("secret/app?a=b", EngineMount("secret/", 2)),
        ("pki/sign/shop?csr=x", EngineMount("pki/", None, "pki")),
        ("transit/issue/a?x=y", EngineMount("transit/", None, "transit")),
        ("pki/issuer/x?a=b", EngineMount("pki/", None, "pki")),
        ("ssh/roles/x?a=b", EngineMount("ssh/", None, "ssh")),
        ("database/config/x?a=b", EngineMount("database/", None, "database")),
    ],
)
def test_nothing_is_written_that_would_change_an_engine(path: str, mount: EngineMount) -> None:
    with pytest.raises(
        UnsupportedSecretError, match=rf"{mount.kind}: parameters behind a .* pki \("
    ):
        check_engine(path, mount)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("pki/issue/shop?x=y", "pki"),
        ("ssh/issue/shop?x=y", "ssh"),
        ("ssh/sign/shop?x=y", "ssh"),
        ("kubernetes/creds/shop?kubernetes_namespace=shop", "kubernetes"),
        ("aws/sts/shop?ttl=1h", "aws"),
        ("aws/creds/shop", "aws"),
        ("database/creds/shop", "database"),
    ],
)
def test_what_an_engine_makes_that_ends_may_be_declared(path: str, kind: str) -> None:
    check_engine(f"a/{path}", EngineMount(f"a/{kind}/", None, kind))


@pytest.mark.parametrize(
    ("path", "kind", "why"),
    [
        ("totp/code/app", "totp", "a code is good for some seconds"),
        ("totp/code/app?code=123456", "totp", "a code is good for some seconds"),
        ("ssh/creds/otp?ip=10.1.1.1", "ssh", "a one-time password is good for one login"),
    ],
)
def test_what_is_used_up_by_its_use_is_refused_by_its_kind(path: str, kind: str, why: str) -> None:
    with pytest.raises(UnsupportedSecretError, match=f"{kind}/ is of kind {kind}: {why}"):
        check_engine(path, EngineMount(f"{kind}/", None, kind))


@pytest.mark.parametrize(
    ("data", "term"),
    [
        ({"certificate": "x", "expiration": 160}, GivenLease("", 60.0, False)),
        ({"certificate": "x", "expiration": "soon"}, None),
        ({"certificate": "x"}, None),
        ({"expiration": 160}, None),
        ({"signed_key": "nothing"}, None),
        ({"certificate": "x", "expiration": 10**12}, GivenLease("", 316224000.0, False)),
    ],
)
def test_a_certificate_is_good_until_it_expires(
    data: dict[str, Any], term: GivenLease | None
) -> None:
    assert term_of(data, 100.0) == term


def test_a_signed_key_is_good_until_its_certificate_says() -> None:
    found = term_of({"signed_key": SIGNED}, VALID_BEFORE - 60.0)
    assert found == GivenLease("", 60.0, renewable=False)


def test_on_a_clock_that_is_behind_it_is_no_longer_good_than_between_its_own_dates() -> None:
    leaf = Authority("ours").server("127.0.0.1").certificate
    behind = term_of({"certificate": leaf, "expiration": 10**8}, 100.0)
    assert behind == GivenLease("", (LASTS + EARLIER).total_seconds(), renewable=False)


@pytest.mark.parametrize(
    ("data", "now"),
    [
        ({"certificate": "x", "expiration": 100}, 100.0),
        ({"signed_key": SIGNED}, float(VALID_BEFORE)),
    ],
)
def test_what_has_ended_as_it_is_made_says_that_a_clock_is_ahead(
    data: dict[str, Any], now: float
) -> None:
    with pytest.raises(UnsupportedSecretError, match="the clock of this node, which is ahead"):
        term_of(data, now)


@pytest.mark.parametrize(
    ("above", "chain"),
    [(["B\n", "C"], "A\nB\nC\n"), ([], "A\n"), (None, "A\n"), (["B", 1], "A\nB\n")],
)
def test_the_chain_is_as_servers_read_it(above: object, chain: str) -> None:
    assert with_chain({"certificate": "A\n", "ca_chain": above})["chain"] == chain
    assert with_chain({"ca_chain": above}) == {"ca_chain": above}


@pytest.fixture
def setup() -> BrokerSetup:
    setup = BrokerSetup()
    setup.vault.state.engines["pki/"] = Engine(None)
    setup.allow("pki/issue/shop", "secret/app", ttl_s=200)
    return setup


def certify(setup: BrokerSetup, number: int) -> None:
    """What is issued next."""
    data = {
        "certificate": f"certificate {number}",
        "private_key": f"key {number}",
        "ca_chain": ["the authority"],
        "expiration": int(setup.clock.now()) + TERM_S,
    }
    setup.vault.state.engines["pki/"].answers["issue/shop"] = {"lease_id": "", "data": data}


async def field(setup: BrokerSetup, session: VaultSession, name: str) -> str:
    value = (await setup.broker.read(session, ISSUED)).document.value(name)
    assert value is not None
    return value.reveal()


async def test_key_and_chain_of_a_pod_are_of_one_certificate(setup: BrokerSetup) -> None:
    session = setup.session()
    async with setup.running():
        certify(setup, 1)
        assert await field(setup, session, "private_key") == "key 1"
        certify(setup, 2)
        assert await field(setup, session, "chain") == "certificate 1\nthe authority\n"
        assert setup.calls["read"] == 1


async def test_another_one_is_issued_after_two_thirds_of_its_time(setup: BrokerSetup) -> None:
    """Whatever becomes of the token: a certificate without a lease does not end with it."""
    session = setup.session()
    async with setup.running():
        certify(setup, 1)
        await field(setup, session, "private_key")
        setup.vault.state.tokens.clear()
        await setup.clock.advance(0.63 * TERM_S)
        certify(setup, 2)
        assert await field(setup, session, "private_key") == "key 1"
        await setup.clock.advance(0.08 * TERM_S)
        assert await field(setup, session, "private_key") == "key 2"
        assert setup.calls["read"] == 2
        assert setup.grants.of("lease") == ["granted"]


async def test_what_is_made_without_an_end_is_refused_and_not_made_again_at_once(
    setup: BrokerSetup,
) -> None:
    setup.vault.state.engines["pki/"].answers["issue/shop"] = {"lease_id": "", "data": {"a": "1"}}
    session = setup.session()
    async with setup.running():
        for _ in range(3):
            with pytest.raises(UnsupportedSecretError, match="no lease, and no end that is known"):
                await setup.broker.read(session, ISSUED)
    assert setup.calls["read"] == 1


async def test_nothing_else_is_written_for_a_declaration(setup: BrokerSetup) -> None:
    setup.vault.state.write("secret/app", {"a": "1"})
    async with setup.running():
        with pytest.raises(UnsupportedSecretError, match="parameters behind a"):
            await setup.broker.read(setup.session(), "secret/app?a=b")
    assert "read" not in setup.calls
