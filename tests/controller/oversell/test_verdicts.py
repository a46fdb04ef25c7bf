from typing import get_args

from nemutator_common import names
from nemutator_controller.oversell.verdicts import SENTENCES, NodeVerdict, Reason


def verdict(
    name: str = "n", reason: Reason = "asked", ratio: int = 150, **more: object
) -> NodeVerdict:
    usual: dict[str, object] = {
        "raw_millis": 4_000,
        "allocatable_millis": 6_000,
        "requested_millis": 3_000,
        "used_millis": 1_000,
        "waiting": 0.05,
        "policy": "p",
        "asked": 150,
        "standing": ratio,
        "could": 180,
    }
    return NodeVerdict(name=name, ratio=ratio, reason=reason, **{**usual, **more})  # type: ignore[arg-type]


def test_every_reason_has_a_sentence_and_is_declared_with_its_metric() -> None:
    assert set(SENTENCES) == set(get_args(Reason))
    for reason in SENTENCES:
        assert reason in names.OVERSOLD_NODES.meaning


def test_what_is_wrong_beside_it_is_said() -> None:
    assert verdict().why == SENTENCES["asked"]
    assert verdict(note="and so").why.endswith("; and so")
