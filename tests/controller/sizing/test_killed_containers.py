from dataclasses import replace

from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.killed_containers import KilledContainer, NotedKills

KILL = KilledContainer(
    key=ContainerKey("shop", "Deployment", "cart", "app"), pod_uid="u1", at=100.0, requested=1e8
)


def test_a_kill_is_new_once_and_the_next_one_is_new_again() -> None:
    noted = NotedKills()
    assert [noted.is_new(one) for one in (KILL, KILL, replace(KILL, at=200.0))] == [
        True,
        False,
        True,
    ]
    assert noted.is_new(replace(KILL, pod_uid="u2"))
    side = ContainerKey("shop", "Deployment", "cart", "side")
    assert noted.is_new(replace(KILL, key=side))


def test_what_is_remembered_is_bounded() -> None:
    noted = NotedKills(most=2)
    for number in range(3):
        assert noted.is_new(replace(KILL, pod_uid=f"u{number}"))
    assert not noted.is_new(replace(KILL, pod_uid="u2"))
    assert noted.is_new(replace(KILL, pod_uid="u0"))
