from nemutator_controller.inventory.kept_flows import KEPT_S, KeptFlows

from tests.controller.inventory.test_flows import flow

NOW = 1_760_000_000.0


def addresses(kept: KeptFlows, now: float = NOW) -> dict[str, list[str]]:
    return {node: [each.address for each in flows] for node, flows in kept.all(now=now)}


def test_a_flow_stays_for_a_while_and_is_replaced_by_what_is_told_anew() -> None:
    kept = KeptFlows()
    kept.take("n1", [flow("web-1", "10.1.0.2"), flow("web-1", "10.1.0.3")], now=NOW)
    kept.take("n1", [flow("web-1", "10.1.0.2", sent=7)], now=NOW + 60)
    [(_, flows)] = kept.all(now=NOW + 60)
    assert {each.address: each.sent for each in flows} == {"10.1.0.2": 7, "10.1.0.3": 200}
    assert addresses(kept, NOW + KEPT_S + 30) == {"n1": ["10.1.0.2"]}
    kept.take("n1", [], now=NOW + 2 * KEPT_S)
    assert len(kept) == 0


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
