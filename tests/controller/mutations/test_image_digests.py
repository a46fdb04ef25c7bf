"""Where nobody looks digests up, none is known, and why is said."""

from nemutator_controller.mutations.image_digests import NO_DIGESTS, NoDigest


def test_without_a_cluster_no_digest_is_known() -> None:
    assert NO_DIGESTS.digest("docker.io/library/ubuntu:20.04") == NoDigest(
        "off", "digests are looked up in a cluster"
    )
