import numpy as np

from tests.controller.placement.nodes import WEB, node, snapshot


def test_what_is_known_of_nodes_lies_in_columns_and_what_is_not_is_nan() -> None:
    found = snapshot(
        node("a"),
        node("b", used_cores=None),
        familiars={WEB: {"b": 3, "gone": 9}},
        talkers={WEB: {"a": 5.0, "gone": 1.0}},
    )
    assert found.names == ["a", "b"]
    assert found.columns["used_cores"][0] == 2.0
    assert np.isnan(found.columns["used_cores"][1])
    assert found.familiars[WEB] == {1: 3}
    assert found.talkers[WEB] == {0: 5.0}
