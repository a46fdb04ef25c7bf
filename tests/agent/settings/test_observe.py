import pytest
from nemutator_agent.settings.observe import ObserveSettings
from nemutator_common.errors import OperatorError
from nemutator_common.settings import resolve


def resolved(**flags: str) -> ObserveSettings:
    return resolve(ObserveSettings, file={}, environment={}, flags=flags).values


def test_the_defaults_need_nothing() -> None:
    settings = resolved()
    assert (settings.node, settings.brain, settings.snapshot_every_s) == ("", "", 3.0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("node", "two words"),
        ("node", "x" * 254),
        ("node", "-a"),
        ("interval_s", "0.4"),
        ("interval_s", "61"),
        ("brain", "localhost"),
        ("brain", "unix:relative"),
        ("processes", "0"),
        ("descriptors", "1"),
    ],
)
def test_a_bad_value_is_named(name: str, value: str) -> None:
    with pytest.raises(OperatorError, match=value):
        resolved(**{name: value})


@pytest.mark.parametrize("address", ["unix:/run/brain.sock", "https://brain.svc:8421"])
def test_the_brain_may_be_anywhere(address: str) -> None:
    assert resolved(brain=address).brain == address


def test_windows_are_young_and_frequent_where_a_person_waits_for_them() -> None:
    assert ObserveSettings().window_pace == (60.0, 30.0, 10.0, 120.0)
    assert ObserveSettings(brain="unix:/run/brain.sock").window_pace[:2] == (60.0, 30.0)
    assert ObserveSettings(brain="https://brain:8421").window_pace == (
        3600.0,
        600.0,
        30.0,
        600.0,
    )
    chosen = ObserveSettings(brain="https://brain:8421", window_age_s=5.0, window_every_s=7.0)
    assert chosen.window_pace[:2] == (5.0, 7.0)


def test_a_full_node_of_a_cluster_is_looked_at_less_often() -> None:
    alone, cluster = resolved(), resolved(brain="https://brain.svc:8421")
    assert (alone.snapshot_every_s, alone.seldom_s) == (3.0, 15.0)
    assert (cluster.snapshot_every_s, cluster.seldom_s) == (7.5, 60.0)
    assert alone.members_s == cluster.members_s == 60.0
    assert resolved(brain="https://brain.svc:8421", interval_s="2").snapshot_every_s == 2.0
