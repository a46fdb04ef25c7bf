from nemutator_controller.inventory.kept_flows import KEPT_S, KeptFlows

from tests.controller.inventory.test_flows import flow

NOW = 1_760_000_000.0


def addresses(kept: KeptFlows, now: float = NOW) -> dict[str, list[str]]:
    return {node: [each.address for each in flows] for node, flows in kept.all(now=now)}


def test_what_is_told_of_a_pod_replaces_what_was_told_before_and_ends_after_a_while() -> None:
    kept = KeptFlows()
    kept.take("n1", [flow("web-1", "10.1.0.2"), flow("web-1", "10.1.0.3")], now=NOW)
    kept.take("n1", [flow("db-1", "10.1.0.4")], now=NOW + 60)
    kept.take("n1", [flow("web-1", "10.1.0.2", sent=7)], now=NOW + 120)
    [(_, flows)] = kept.all(now=NOW + 120)
    assert [(each.address, each.sent) for each in flows] == [("10.1.0.4", 200), ("10.1.0.2", 7)]
    assert addresses(kept, NOW + KEPT_S + 90) == {"n1": ["10.1.0.2"]}
    kept.take("n1", [], now=NOW + 2 * KEPT_S)
    assert len(kept) == 0


def test_all_pods_of_a_full_node_stay_until_each_has_had_its_turn_again() -> None:
    kept, look_s, pods = KeptFlows(), 60.0, 110
    for turn in range(2 * pods):
        told = [flow(f"web-{turn % pods}", "10.1.0.2")]
        kept.take("n1", told, now=NOW + turn * look_s)
    [(_, flows)] = kept.all(now=NOW + 2 * pods * look_s)
    assert len({each.pod_uid for each in flows}) == len(flows) == pods


def test_both_bounds_hold_and_the_oldest_make_room() -> None:
    kept = KeptFlows(most=3, most_of_node=2)
    kept.take("n1", [flow("web-1", f"10.1.0.{number}") for number in range(9)], now=NOW)
    assert addresses(kept) == {"n1": ["10.1.0.7", "10.1.0.8"]}
    kept.take("n2", [flow("db-1", "10.1.0.1"), flow("db-1", "10.1.0.2")], now=NOW)
    assert addresses(kept) == {"n2": ["10.1.0.1", "10.1.0.2"]}
    assert len(kept) == 2


def test_whether_there_is_any_follows_what_is_kept() -> None:
    kept = KeptFlows()
    assert not kept.has_any(now=NOW)
    kept.take("n1", [], now=NOW)
    assert not kept.has_any(now=NOW)
    kept.take("n2", [flow("web-1", "10.1.0.2")], now=NOW)
    assert kept.has_any(now=NOW + KEPT_S)
    assert not kept.has_any(now=NOW + KEPT_S + 1)
