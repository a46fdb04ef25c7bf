"""A namespace for each test: what one leaves there does not meet the next."""

import secrets
from collections.abc import Iterator

import pytest

from tests.testbed.parts.control_plane import Cluster


@pytest.fixture
def namespace(cluster: Cluster) -> Iterator[str]:
    """A new one, ready for pods: its default service account is there."""
    name = f"test-{secrets.token_hex(4)}"
    cluster.kubectl("create", "namespace", name)
    cluster.kubectl(
        "wait", "--for=create", f"--namespace={name}", "serviceaccount/default", "--timeout=20s"
    )
    yield name
    # Its end takes seconds that nobody has to wait for.
    cluster.kubectl("delete", "namespace", name, "--wait=false")
