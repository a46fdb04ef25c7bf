from nemutator_agent.credentials.signals.outcomes import REMEDIES, SignalOutcome


def test_whatever_was_not_sent_has_a_remedy() -> None:
    assert REMEDIES.keys() == set(SignalOutcome) - {SignalOutcome.SENT}
