from typing import Any

import pytest
from nemutator_common.errors import OperatorError
from nemutator_ctl.profiles.targets_view import NOTHING, decode_targets, targets_view


def item(**changed: Any) -> dict[str, Any]:
    return {
        "target": "pid:7",
        "name": "shop",
        "within": "shop.service",
        "node": "n1",
        "runtime": "go",
        "runtime_version": "go1.26.8",
        "age_s": 7300.0,
        "cpu_cores": 0.25,
        "memory_bytes": 9 << 20,
        **changed,
    }


def shown(*items: dict[str, Any], left: int = 0, nodes_left: int = 0) -> str:
    document = {"items": list(items), "left": left, "nodes_left": nodes_left}
    return targets_view(decode_targets(document))


def test_a_target_has_all_that_helps_to_choose() -> None:
    head, row, *_ = shown(item()).splitlines()
    assert head.split() == ["TARGET", "NAME", "IN", "RUNTIME", "AGE", "CPU", "MEMORY", "NODE"]
    assert row.split() == [
        *("pid:7", "shop", "shop.service", "go", "1.26.8", "2h", "250m", "9Mi", "n1")
    ]


@pytest.mark.parametrize(
    ("age_s", "said"), [(3, "3s"), (119, "119s"), (120, "2m"), (7199, "119m"), (200_000, "2d")]
)
def test_ages_are_short(age_s: float, said: str) -> None:
    assert said in shown(item(age_s=age_s)).splitlines()[1].split()


def test_what_is_not_known_is_no_zero_and_names_cannot_draw() -> None:
    row = shown(item(cpu_cores=None, memory_bytes=None, runtime=None, name="\x1b[2J")).splitlines()[
        1
    ]
    assert row.split()[-3:] == ["-", "-", "n1"]
    assert "\x1b" not in row


def test_what_is_left_out_is_counted() -> None:
    text = shown(item(), left=3, nodes_left=2)
    assert "and 3 more\n" in text
    assert "2 more report: name one with --node" in text
    assert shown() == NOTHING


def test_another_document_is_no_list() -> None:
    with pytest.raises(OperatorError):
        decode_targets({"items": [item(age_s="old")], "left": 0, "nodes_left": 0})
