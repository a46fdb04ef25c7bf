"""One brain for all questions about it: its start takes longer than most of them."""

from collections.abc import Iterator

import pytest

from tests.e2e.testbed.in_cluster.installation import Installation, installed
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.namespaces import new_namespace


@pytest.fixture(scope="package")
def installation(
    cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("brain")
    with new_namespace(cluster, "brain") as name, installed(cluster, name, folder) as made:
        yield made
