"""The rules in CEL are about structs that exist."""

from nemutator_controller.policies.schema_rules import RULES

from tests.controller.policies.model_words import words


def test_each_rule_is_for_a_struct_of_the_model() -> None:
    assert words() >= RULES.keys()
    assert not any("." in name for name in RULES)
