"""A real Vault issues certificates for a pod: one for key and chain, in time, and revoked with the pod."""

import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from nemutator_agent.publications import PUBLICATIONS_PATH

from tests.contract.credentials.places import adapter, eventually, real_place
from tests.fakes.brokers import BrokerSetup
from tests.fakes.clocks import ManualClock
from tests.fakes.pod_sockets import Node, call
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.vault import Vault

pytestmark = pytest.mark.e2e

TERM_S = 3600
MOUNT = "pod-pki"


@dataclass
class Pod:
    node: Node
    socket: Path
    vault: Vault

    async def field(self, name: str) -> str:
        status, text = await call(self.socket, f"/v1/secret/{name}?raw=1")
        assert status == 200, text
        return str(text)

    async def certificates(self, name: str = "chain") -> list[x509.Certificate]:
        return x509.load_pem_x509_certificates((await self.field(name)).encode())

    def is_revoked(self, certificate: x509.Certificate) -> bool:
        serial = f"{certificate.serial_number:040x}"
        path = ":".join(serial[at : at + 2] for at in range(0, len(serial), 2))
        return bool(self.vault.call("GET", f"{MOUNT}/cert/{path}")["data"]["revocation_time"])


@pytest.fixture
def engine(vault: Vault) -> None:
    vault.call("POST", f"sys/mounts/{MOUNT}", {"type": "pki", "config": {"max_lease_ttl": "24h"}})
    authority = "root/generate/internal"
    vault.call("POST", f"{MOUNT}/{authority}", {"common_name": "test", "ttl": "24h"})
    for role, generate_lease in (("leased", True), ("plain", False)):
        vault.call(
            "POST",
            f"{MOUNT}/roles/{role}",
            {
                "allowed_domains": "shop.example",
                "allow_bare_domains": True,
                "key_type": "ec",
                "generate_lease": generate_lease,
            },
        )


@pytest.fixture
async def pod(vault: Vault, cluster: Cluster, engine: None, tmp_path: Path) -> AsyncIterator[Pod]:
    with contextlib.ExitStack() as stack:
        place = stack.enter_context(real_place(vault, cluster))
        real = stack.enter_context(adapter(vault.url))
        stack.callback(vault.call, "DELETE", f"sys/mounts/{MOUNT}")
        setup = BrokerSetup(clock=ManualClock(time.time()), other_vault=real, wait_s=TERM_S)
        node = Node(tmp_path, setup=setup)
        role, node.token = place.account(reads=[])
        rules = "".join(
            f'path "{MOUNT}/issue/{name}" {{ capabilities = ["update"] }}\n'
            for name in ("leased", "plain")
        )
        vault.policy(role, rules)
        issued = f"{MOUNT}/issue/leased?common_name=shop.example&ttl={TERM_S}s"
        declared = {
            "vault-role": role,
            "secret.key": f"{issued}#private_key",
            "secret.chain": f"{issued}#chain",
            "secret.plain": f"{MOUNT}/issue/plain?common_name=shop.example&ttl={TERM_S}s#chain",
            "secret.refused": f"{MOUNT}/issue/leased?common_name=other.example#chain",
            "env.TLS_KEY": f"{issued}#private_key",
            "file.tls.json": f"json key={issued}#private_key chain={issued}#chain",
        }
        async with node.running():
            yield Pod(node, await node.publish("v1", declared=declared), vault)


async def test_a_certificate_is_the_pods_own_and_ends_with_it(pod: Pod) -> None:
    own, authority = await pod.certificates()
    key = load_pem_private_key((await pod.field("key")).encode(), None)
    assert key.public_key() == own.public_key()
    own.verify_directly_issued_by(authority)
    # A variable and a file of both are of the same one.
    _, environment = await call(pod.socket, "/v1/env")
    assert environment["TLS_KEY"] == await pod.field("key")
    assert await pod.field("key") in (await pod.field("tls.json")).replace("\\n", "\n")

    (plain, *_) = await pod.certificates("plain")
    status, refused = await call(pod.socket, "/v1/secret/refused")
    assert (status, refused["step"]) == (403, "vault")
    # Two thirds of its time go by.
    await pod.node.setup.clock.advance(0.72 * TERM_S)
    records = pod.node.setup.grants.all
    await eventually(
        lambda: "replaced" in {record.reason for record in records}, "another one is issued"
    )
    newer, _ = await pod.certificates()
    assert newer != own

    assert (await call(pod.node.private, f"{PUBLICATIONS_PATH}/v1", method="DELETE"))[0] == 204
    await eventually(lambda: pod.is_revoked(newer), "the certificate is revoked with the pod")
    await eventually(lambda: pod.is_revoked(own), "so is the one that it had before")
    assert not pod.is_revoked(plain)
