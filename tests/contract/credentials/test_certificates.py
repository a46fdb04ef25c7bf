"""A real Vault issues certificates for a pod, also those of SSH: one for key and certificate, in time, and revoked
with the pod."""

import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    SSHCertificate,
    load_pem_private_key,
    load_ssh_private_key,
    load_ssh_public_identity,
)
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
SSH = "pod-ssh"
PUBLIC_KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIGQ+qD+eOIaIQG9pp68MosRbbtU/E0hv3tSxWHwmlO0A"


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

    async def ssh_certificate(self, name: str) -> SSHCertificate:
        found = load_ssh_public_identity((await self.field(name)).strip().encode())
        assert isinstance(found, SSHCertificate)
        return found

    def is_revoked(self, certificate: x509.Certificate) -> bool:
        # Vault writes the number's own bytes: one in 256 has fewer than twenty.
        number = certificate.serial_number
        path = number.to_bytes((number.bit_length() + 7) // 8).hex(":")
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
    vault.call("POST", f"sys/mounts/{SSH}", {"type": "ssh"})
    vault.call("POST", f"{SSH}/config/ca", {"generate_signing_key": True, "key_type": "ed25519"})
    vault.call(
        "POST",
        f"{SSH}/roles/app",
        {
            "key_type": "ca",
            "allow_user_certificates": True,
            "allowed_users": "*",
            "default_user": "app",
            "ttl": TERM_S,
        },
    )


@pytest.fixture
async def pod(vault: Vault, cluster: Cluster, engine: None, tmp_path: Path) -> AsyncIterator[Pod]:
    with contextlib.ExitStack() as stack:
        place = stack.enter_context(real_place(vault, cluster))
        real = stack.enter_context(adapter(vault.url))
        for mount in (MOUNT, SSH):
            stack.callback(vault.call, "DELETE", f"sys/mounts/{mount}")
        setup = BrokerSetup(clock=ManualClock(time.time()), other_vault=real, wait_s=TERM_S)
        node = Node(tmp_path, setup=setup)
        role, node.token = place.account(reads=[])
        rules = "".join(
            f'path "{path}" {{ capabilities = ["update"] }}\n'
            for path in (
                f"{MOUNT}/issue/leased",
                f"{MOUNT}/issue/plain",
                f"{SSH}/issue/app",
                f"{SSH}/sign/app",
                f"{SSH}/creds/app",
            )
        )
        vault.policy(role, rules)
        issued = f"{MOUNT}/issue/leased?common_name=shop.example&ttl={TERM_S}s"
        declared = {
            "vault-role": role,
            "secret.key": f"{issued}#private_key",
            "secret.chain": f"{issued}#chain",
            "secret.plain": f"{MOUNT}/issue/plain?common_name=shop.example&ttl={TERM_S}s#chain",
            "secret.refused": f"{MOUNT}/issue/leased?common_name=other.example#chain",
            "secret.ssh-key": f"{SSH}/issue/app?key_type=ed25519#private_key",
            "secret.ssh-cert": f"{SSH}/issue/app?key_type=ed25519#signed_key",
            "secret.signed": f"{SSH}/sign/app?public_key={PUBLIC_KEY}&ttl=10m#signed_key",
            "secret.denied": f"{SSH}/sign/other?public_key={PUBLIC_KEY}",
            "secret.once": f"{SSH}/creds/app?ip=10.1.1.1#key",
            "secret.changes": f"{SSH}/roles/app?default_user=root",
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


async def test_a_key_for_ssh_is_signed_and_another_one_comes_in_time(pod: Pod) -> None:
    certificate = await pod.ssh_certificate("ssh-cert")
    key = load_ssh_private_key((await pod.field("ssh-key")).encode(), None)
    raw = (Encoding.OpenSSH, PublicFormat.OpenSSH)
    assert key.public_key().public_bytes(*raw) == certificate.public_key().public_bytes(*raw)
    certificate.verify_cert_signature()
    own = await pod.ssh_certificate("signed")
    assert own.public_key().public_bytes(*raw) == f"ssh-ed25519 {PUBLIC_KEY}".encode()
    assert own.serial == (await pod.ssh_certificate("signed")).serial

    records = pod.node.setup.grants.all
    where = next(one.path_digest for one in records if one.secret == "ssh-cert")
    await pod.node.setup.clock.advance(0.72 * TERM_S)
    await eventually(
        lambda: any(one.reason == "replaced" and one.path_digest == where for one in records),
        "another one is signed",
    )
    assert (await pod.ssh_certificate("ssh-cert")).serial != certificate.serial


async def test_what_else_could_be_written_is_refused_by_name(pod: Pod) -> None:
    for name, status, why in (
        ("denied", 403, "permission denied"),
        ("once", 400, "of kind ssh: a one-time password is good for one login"),
        ("changes", 400, "of kind ssh: parameters behind a ?"),
    ):
        found, refusal = await call(pod.socket, f"/v1/secret/{name}")
        assert (found, refusal["step"]) == (status, "vault")
        assert why in refusal["error"]
    assert pod.vault.call("GET", f"{SSH}/roles/app")["data"]["default_user"] == "app"
