"""A real Vault, and OpenBao, that know the tokens of pods by the cluster's public keys: the method jwt."""

import base64
import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from nemutator_agent.credentials.ports import NamespacedVault as AskedVault
from nemutator_agent.credentials.vault.failures import LoginRefusedError
from nemutator_common.secret import Secret

from tests.contract.credentials.places import adapter, real_place
from tests.e2e.testbed.webhook import pod
from tests.fakes.brokers import BrokerSetup
from tests.fakes.pod_sockets import Node, call
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.vault import Vault

pytestmark = pytest.mark.e2e


@dataclass(frozen=True)
class Place:
    vault: Vault
    asked: AskedVault
    namespace: str
    path: str
    """Which the role of the pod's account may read."""
    role: str

    def token(self, *, audience: str = "vault", account: str = "default", of: str = "") -> Secret:
        """As kubelet has it made: *of* names the pod that it ends with."""
        bound = ("--bound-object-kind=Pod", f"--bound-object-name={of}") if of else ()
        namespace = f"--namespace={self.namespace}"
        return Secret(
            self.vault.cluster.kubectl(
                "create", "token", account, namespace, f"--audience={audience}", *bound
            ).strip()
        )


@pytest.fixture(scope="module", params=["vault", "bao"])
def keyed(request: pytest.FixtureRequest, cluster: Cluster) -> Iterator[Vault]:
    """With the keys by which the API server signs; it asks nobody."""
    vault: Vault = request.getfixturevalue(request.param)
    vault.call("POST", "sys/auth/jwt", {"type": "jwt"})
    status, text = cluster.ask("/openid/v1/jwks")
    assert status == 200
    vault.call(
        "POST",
        "auth/jwt/config",
        {"jwt_validation_pubkeys": [_pem(key) for key in json.loads(text)["keys"]]},
    )
    yield vault
    vault.call("DELETE", "sys/auth/jwt")


@pytest.fixture
def place(keyed: Vault, cluster: Cluster) -> Iterator[Place]:
    with contextlib.ExitStack() as stack:
        real = stack.enter_context(real_place(keyed, cluster))
        path, role = f"secret/{real.folder}/own", f"{real.folder}.default"
        real.write(path, {"word": "hunter2"})
        real.account(reads=[path])
        keyed.call(
            "POST",
            f"auth/jwt/role/{role}",
            {
                "role_type": "jwt",
                "user_claim": "sub",
                "bound_audiences": ["vault"],
                "bound_subject": f"system:serviceaccount:{real.folder}:default",
                "token_policies": [role],
                "token_ttl": "1h",
            },
        )
        asked = stack.enter_context(adapter(keyed.url, auth_mount="jwt"))
        yield Place(keyed, asked, real.folder, path, role)


def _pem(key: dict[str, str]) -> str:
    assert (key["kty"], key["crv"]) == ("EC", "P-256")
    x, y = (
        int.from_bytes(base64.urlsafe_b64decode(f"{key[name]}=="), "big") for name in ("x", "y")
    )
    public = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
    return public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


async def test_a_pods_own_token_logs_in_and_its_pod_reads(place: Place, tmp_path: Path) -> None:
    cluster = place.vault.cluster
    cluster.kubectl(
        "create", f"--namespace={place.namespace}", "--filename=-", given=json.dumps(pod("web"))
    )
    node = Node(tmp_path, setup=BrokerSetup(other_vault=place.asked, wait_s=600))
    node.token = place.token(of="web")
    declared = {"vault-role": place.role, "secret.word": f"{place.path}#word"}
    async with node.running():
        socket = await node.publish("v1", declared=declared)
        assert await call(socket, "/v1/secret/word?raw=1") == (200, "hunter2")
    assert node.setup.grants.of("login") == ["granted"]
    # What the keys alone do not say: that the pod has ended.
    cluster.kubectl("delete", "pod", "web", f"--namespace={place.namespace}", "--now")
    lease = await place.asked.login(place.role, node.token)
    assert (lease.renewable, lease.ttl_s) == (True, 3600)
    assert (await place.asked.renew(lease.token)).renewable
    await place.asked.revoke(lease.token)


async def test_who_is_somebody_else_is_refused(place: Place) -> None:
    own = place.token()
    head, claims, signature = own.reveal().split(".")
    forged = Secret(f"{head}.{claims}.{signature[::-1]}")
    unsigned = base64.urlsafe_b64encode(b'{"alg":"none"}').decode().rstrip("=")
    place.vault.cluster.kubectl(
        "create", "serviceaccount", "other", f"--namespace={place.namespace}"
    )
    for role, token in (
        (place.role, place.token(audience="another")),
        (place.role, place.token(account="other")),
        (place.role, forged),
        (place.role, Secret(f"{unsigned}.{claims}.")),
        ("nobody.default", own),
    ):
        with pytest.raises(LoginRefusedError) as refused:
            await place.asked.login(role, token)
        assert token.reveal() not in str(refused.value)
    assert (await place.asked.login(place.role, own)).renewable
