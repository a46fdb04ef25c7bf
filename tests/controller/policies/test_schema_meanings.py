"""Meanings are those of fields that exist."""

from nemutator_controller.policies.schema_meanings import MEANINGS

from tests.controller.policies.model_words import words


def test_each_meaning_is_that_of_a_field_of_the_model() -> None:
    assert words() >= MEANINGS.keys()
