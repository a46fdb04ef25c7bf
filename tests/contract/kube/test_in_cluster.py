"""The mounted service account, as kubelet rotates it."""

from pathlib import Path

import pytest
from nemutator_common.errors import OperatorError
from nemutator_controller.kube.incluster import InCluster

from tests.fakes.clocks import ManualClock

POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT_HTTPS": "6443"}


@pytest.fixture
def mount(tmp_path: Path) -> Path:
    (tmp_path / "token").write_text("first\n")
    (tmp_path / "ca.crt").write_text("CA 1")
    return tmp_path


async def token(configuration: InCluster, *, renew: bool = False) -> str:
    access = await configuration.access(renew=renew)
    assert access.token is not None
    return access.token.reveal()


async def test_token_and_ca_are_read_again_each_minute(mount: Path) -> None:
    clock = ManualClock()
    configuration = InCluster(clock, mount=mount, environment=POD)
    assert await token(configuration) == "first"
    (mount / "token").write_text("second")
    (mount / "ca.crt").write_text("CA 2")
    assert await token(configuration) == "first"
    await clock.advance(60)
    assert await token(configuration) == "second"
    access = await configuration.access()
    assert (access.ca, access.server) == ("CA 2", "https://10.0.0.1:6443")


async def test_a_refused_token_is_read_again_at_once(mount: Path) -> None:
    configuration = InCluster(ManualClock(), mount=mount, environment=POD)
    await token(configuration)
    (mount / "token").write_text("second")
    assert await token(configuration, renew=True) == "second"


async def test_files_that_are_being_swapped_leave_the_old_token(mount: Path) -> None:
    configuration = InCluster(ManualClock(), mount=mount, environment=POD)
    await token(configuration)
    (mount / "token").unlink()
    assert await token(configuration, renew=True) == "first"


async def test_a_missing_service_account_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="automountServiceAccountToken"):
        await InCluster(ManualClock(), mount=tmp_path, environment=POD).access()


def test_outside_of_a_pod_it_says_so() -> None:
    with pytest.raises(OperatorError, match="not run in a pod"):
        InCluster(ManualClock(), environment={})


async def test_an_ipv6_server_gets_its_brackets(mount: Path) -> None:
    configuration = InCluster(
        ManualClock(), mount=mount, environment={"KUBERNETES_SERVICE_HOST": "fd00::1"}
    )
    assert (await configuration.access()).server == "https://[fd00::1]:443"
