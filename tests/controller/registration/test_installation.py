from collections.abc import AsyncIterator
from typing import Any

import pytest
from nemutator_common.secret import Secret
from nemutator_common.system_clock import SystemClock
from nemutator_controller.kube.budget import WriteBudget
from nemutator_controller.kube.configuration import Access
from nemutator_controller.kube.failures import AlreadyExistsError, KubeError
from nemutator_controller.kube.reading import Reader
from nemutator_controller.kube.transport import HttpTransport
from nemutator_controller.kube.writing import Writer
from nemutator_controller.registration.bundles import bundle_patch
from nemutator_controller.registration.certificates import Pair, new_authority
from nemutator_controller.registration.installation import KubeInstallation

from tests.fakes.kube import kinds
from tests.fakes.kube.configurations import Fixed
from tests.fakes.kube.server import FakeKube
from tests.fakes.meters import MemoryMeter

KEY = "k" * 64
PAIR = new_authority("nemutator", now=1_800_000_000.0)
OTHER = new_authority("nemutator", now=1_800_000_000.0)


@pytest.fixture
async def kube() -> AsyncIterator[FakeKube]:
    async with FakeKube() as kube:
        kube.store.put(kinds.NAMESPACES, {"metadata": {"name": "nemutator"}})
        yield kube


@pytest.fixture
async def installation(kube: FakeKube) -> AsyncIterator[KubeInstallation]:
    access = Access(server=kube.url, ca=kube.ca_file.read_text(), token=Secret(kube.token))
    async with HttpTransport(Fixed(access), MemoryMeter()) as transport:
        clock = SystemClock()
        writer = Writer(transport, WriteBudget(clock), clock)
        yield KubeInstallation(
            Reader(transport), writer, namespace="nemutator", new_key=lambda: KEY
        )


async def test_a_pair_is_kept_and_replaced(installation: KubeInstallation) -> None:
    assert await installation.pair("x") is None
    for pair in (PAIR, OTHER):
        await installation.save_pair("x", pair)
        assert await installation.pair("x") == pair


@pytest.mark.parametrize("data", [None, {}, {"tls.crt": "YQ==", "tls.key": "%%%"}])
async def test_a_secret_without_a_pair_in_it_is_filled(
    kube: FakeKube, installation: KubeInstallation, data: dict[str, str] | None
) -> None:
    metadata = {"name": "x", "namespace": "nemutator"}
    kube.store.put(kinds.SECRETS, {"metadata": metadata, "data": data})
    assert await installation.pair("x") is None
    await installation.save_pair("x", PAIR)
    assert await installation.pair("x") == PAIR


async def test_the_audit_key_is_stored_once_and_never_replaced(
    kube: FakeKube, installation: KubeInstallation
) -> None:
    assert await installation.audit_keys() is None
    made = await installation.make_audit_key()
    assert made == KEY.encode()
    with pytest.raises(AlreadyExistsError):
        await installation.make_audit_key()
    assert await installation.audit_keys() == made


@pytest.mark.parametrize("data", [None, {}, {"others": "YQ=="}])
async def test_a_secret_without_audit_keys_is_there_all_the_same(
    kube: FakeKube, installation: KubeInstallation, data: dict[str, str] | None
) -> None:
    metadata = {"name": "nemutator-audit-key", "namespace": "nemutator"}
    kube.store.put(kinds.SECRETS, {"metadata": metadata, "data": data})
    assert await installation.audit_keys() == b""


async def test_the_authority_is_published_and_its_key_is_not(
    kube: FakeKube, installation: KubeInstallation
) -> None:
    for pair in (PAIR, PAIR, OTHER):
        await installation.publish(pair.certificate)
        published = kube.store.get(kinds.CONFIG_MAPS, "nemutator", "nemutator-ca")
        assert published is not None
        assert published["data"] == {"ca.crt": pair.certificate}


async def test_webhooks_learn_whom_to_trust(kube: FakeKube, installation: KubeInstallation) -> None:
    assert await installation.webhooks("nemutator") is None

    def hook(name: str) -> dict[str, Any]:
        return {"name": name, "clientConfig": {"url": "https://127.0.0.1:1/"}}

    hooks = [hook("pods.nemutator.io"), hook("other.example.com")]
    kube.store.put(kinds.MUTATING_WEBHOOKS, {"metadata": {"name": "nemutator"}, "webhooks": hooks})
    found = await installation.webhooks("nemutator")
    assert found is not None
    await installation.patch_webhooks("nemutator", bundle_patch(found, PAIR.certificate))
    after = await installation.webhooks("nemutator")
    assert after is not None
    assert ["caBundle" in one["clientConfig"] for one in after["webhooks"]] == [True, False]
    assert bundle_patch(after, PAIR.certificate) == []


async def test_what_the_server_refuses_is_said(kube: FakeKube) -> None:
    access = Access(
        server=kube.url,
        ca=kube.ca_file.read_text(),
        token=Secret(kube.access.add_token("system:serviceaccount:nemutator:nobody")),
    )
    async with HttpTransport(Fixed(access), MemoryMeter()) as transport:
        clock = SystemClock()
        writer = Writer(transport, WriteBudget(clock), clock)
        poor = KubeInstallation(
            Reader(transport), writer, namespace="nemutator", new_key=lambda: KEY
        )
        with pytest.raises(KubeError, match="get secrets in namespace nemutator"):
            await poor.pair("x")
        with pytest.raises(KubeError):
            await poor.save_pair("x", Pair("", Secret("")))
