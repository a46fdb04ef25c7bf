import msgspec
from nemutator_controller.kube.reviews import TokenVerdict


def test_what_the_server_leaves_out_makes_nobody_known() -> None:
    verdict = msgspec.json.decode(b"{}", type=TokenVerdict)
    assert not verdict.authenticated
    assert (verdict.user.username, verdict.user.groups, verdict.audiences) == ("", (), ())
