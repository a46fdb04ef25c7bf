from nemutator_agent.identity.failures import AttestationError


def test_a_refusal_says_which_step_failed_and_why() -> None:
    refused = AttestationError("alive", "the process that connected has ended")
    assert (refused.step, refused.why) == ("alive", "the process that connected has ended")
    assert str(refused) == "alive: the process that connected has ended"
