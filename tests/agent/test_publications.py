"""The shapes survive the way over the socket."""

import msgspec
from nemutator_agent.publications import Instance, Publication, PublishedPod, VolumeDirectory


def test_a_publication_is_the_same_on_the_other_side() -> None:
    publication = Publication(
        pod=PublishedPod("shop", "api-0", "6f9d", "api"),
        directory=VolumeDirectory("/run/nemutator-agent/volumes/csi-1", 50, 1),
        attributes={"secret.db": "secret/shop/db#password"},
        tokens={"vault": "a.b.c"},
    )
    sent = msgspec.json.encode(publication)
    assert msgspec.json.decode(sent, type=Publication) == publication


def test_an_instance_is_the_same_on_the_other_side() -> None:
    sent = msgspec.json.encode(Instance("a1"))
    assert msgspec.json.decode(sent, type=Instance) == Instance("a1")
