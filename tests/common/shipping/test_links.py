from nemutator_common.shipping.links import BatchRefusedError, LinkUnavailableError


def test_an_error_has_a_word_to_count_and_a_sentence_to_show() -> None:
    error = LinkUnavailableError("busy", "the brain is busy", retry_after_s=3)
    assert (error.reason, str(error), error.retry_after_s) == ("busy", "the brain is busy", 3)
    assert BatchRefusedError("malformed", "no").reason == "malformed"
