from nemutator_common.secret import Secret
from nemutator_controller.kube.configuration import Access


def test_a_token_is_never_shown() -> None:
    assert "t0ken" not in repr(Access(server="https://one:6443", token=Secret("t0ken")))
