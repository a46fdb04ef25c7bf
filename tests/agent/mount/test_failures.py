import pytest
from nemutator_agent.mount.failures import CredentialsRefusedError, CredentialsUnavailableError


def test_who_handles_no_answer_handles_a_refusal_too() -> None:
    with pytest.raises(CredentialsUnavailableError, match="not like this"):
        raise CredentialsRefusedError("not like this")
