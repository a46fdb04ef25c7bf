"""The manifests install on a real cluster, and every process stands."""

import pytest

from tests.e2e.first_light.installation import Installation

# Two images are built of Dockerfiles when the sources have changed, and three workloads started.
pytestmark = pytest.mark.timeout(600)


def test_everything_stands_and_nothing_was_restarted(installation: Installation) -> None:
    for component in ("brain", "admission", "agent"):
        print(component, installation.restarts(component))
        assert set(installation.restarts(component).values()) == {0}
