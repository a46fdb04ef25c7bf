"""One brain for all questions about it: its start takes longer than most of them."""

import secrets
from collections.abc import Iterator

import pytest

from tests.e2e.testbed.in_cluster.installation import Installation, installed
from tests.testbed.parts.control_plane import Cluster


@pytest.fixture(scope="package")
def installation(
    cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    namespace = f"brain-{secrets.token_hex(4)}"
    cluster.kubectl("create", "namespace", namespace)
    with installed(cluster, namespace, tmp_path_factory.mktemp("brain")) as made:
        yield made
    # Its end takes seconds that nobody has to wait for.
    cluster.kubectl("delete", "namespace", namespace, "--wait=false")
