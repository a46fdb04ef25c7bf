from nemutator_agent.credentials.vault.exchanges import VaultAnswer, VaultExchange
from nemutator_common.secret import Secret


def test_neither_question_nor_answer_is_shown_by_accident() -> None:
    asked = VaultExchange(method="PUT", path="transit/encrypt/a", body=Secret("plaintext"))
    answer = VaultAnswer(status=200, body=Secret("hunter2"), document={"data": "hunter2"})
    assert "plaintext" not in repr(asked)
    assert "hunter2" not in repr(answer)
