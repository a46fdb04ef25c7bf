from nemutator_controller.following.documents import missed_pods

from tests.fakes.followed_pods import missed_pod


def test_a_missed_pod_has_its_times_in_seconds_or_none() -> None:
    [one, other] = missed_pods([missed_pod(), missed_pod(created="soon")])["items"]
    assert (one["since"], one["noticed"]) == (1_700_000_000.0, 1_700_000_003.0)
    assert (other["since"], other["created"]) == (None, "soon")
    assert one["why"] == "admission has not seen this pod: it runs without the policies team"
