"""Of two seasons, which one tells whether a workload may be rolled off-peak."""

import pytest
from nemutator_controller.app.rolling import SeasonalOffPeaks
from nemutator_controller.rolling.records import RolledWorkload
from nemutator_controller.seasons.day_book import CLUSTER, Scope
from nemutator_controller.seasons.phases import Season

WEB = RolledWorkload(namespace="shop", kind="Deployment", name="web")


@pytest.mark.parametrize(
    ("own", "cluster", "expected"),
    [
        ("off-peak", "peak", True),
        ("flat", "peak", True),
        ("peak", "off-peak", False),
        ("pre-peak", "off-peak", False),
        ("surprise", "off-peak", False),
        ("unknown", "off-peak", True),
        ("unknown", "peak", False),
        ("unknown", "unknown", None),
    ],
)
def test_its_own_counts_and_the_clusters_while_that_cannot_be_told(
    own: Season, cluster: Season, expected: bool | None
) -> None:
    known: dict[Scope, Season] = {("shop", "Deployment", "web"): own, CLUSTER: cluster}
    assert SeasonalOffPeaks(known.__getitem__).is_off_peak(WEB) is expected
