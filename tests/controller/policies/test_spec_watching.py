"""What people write becomes sound objects in their order, or faults."""

from typing import Any

from nemutator_controller.policies.model import PolicyError
from nemutator_controller.policies.spec_watching import SpecCheck, itself


def made(name: str, spec: Any) -> str:
    if spec == "bad":
        raise PolicyError(("bad is no spec",))
    return f"{name}={spec}"


def test_the_sound_are_in_order_and_the_others_say_what_is_wrong() -> None:
    sound, faulty = SpecCheck(made, itself, 9, "of them").of({"b": 1, "a": 2, "c": "bad"})
    assert sound == ["a=2", "b=1"]
    assert faulty == {"c": "bad is no spec"}


def test_those_beyond_the_most_are_faulty_and_faulty_ones_do_not_count() -> None:
    specs = {"a": "bad", "b": 1, "c": 2, "d": 3}
    sound, faulty = SpecCheck(made, itself, 2, "of them").of(specs)
    assert sound == ["b=1", "c=2"]
    assert faulty == {"a": "bad is no spec", "d": "more than 2 of them"}
