"""Drills of the whole way have their node in a machine of its own, one kernel after the other."""

from collections.abc import Iterator

import pytest

from tests.e2e.first_light.conftest import sample_image, scratch_image, vault_image
from tests.e2e.first_light.installation import Installation, install, uninstall
from tests.e2e.first_light.manifests import AGENT, CONTROLLER, REPOSITORY
from tests.testbed.fixtures import StartGuestNode
from tests.testbed.parts import dockerfiles
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.image_store import ImageStore
from tests.testbed.parts.machine.guest_node import DEBIANS, NEWEST, GuestNode
from tests.testbed.parts.vault import Vault

__all__ = ["sample_image", "scratch_image", "vault_image"]

# By pidfd_open with what Debian 12 has, and by SO_PEERPIDFD with what is newest.
ENGINES = {"6.1": DEBIANS, "6.12": NEWEST}


@pytest.fixture(scope="module", params=ENGINES)
def node(request: pytest.FixtureRequest, machine_as_node: StartGuestNode) -> Iterator[GuestNode]:
    archives = [
        dockerfiles.build(REPOSITORY, REPOSITORY / f"Dockerfile.{name}", tag)
        for name, tag in {"agent": AGENT, "controller": CONTROLLER}.items()
    ]
    kernel = request.param
    with machine_as_node(kernel=kernel, engine=ENGINES[kernel], archives=archives) as node:
        yield node


@pytest.fixture(scope="module")
def image(node: GuestNode, tmp_path_factory: pytest.TempPathFactory) -> ImageStore:
    return ImageStore(node, tmp_path_factory.mktemp("images"))


@pytest.fixture(scope="module")
def installation(
    cluster: Cluster, node: GuestNode, image: ImageStore, vault: Vault
) -> Iterator[Installation]:
    """One for each kernel."""
    yield install(cluster, node, image, vault)
    uninstall(cluster)
