import pytest
from nemutator_agent.mount.csi import parse_publish, parse_unpublish
from nemutator_agent.mount.volumes import (
    InvalidVolumeError,
    Volume,
    ended_volume,
    is_target,
    volume_of,
)
from nemutator_agent.publications import PublishedPod

from tests.agent.mount.requests import CONTEXT, TOKENS, publish_message, tokens, unpublish_message
from tests.fakes.mounting import ROOT, UID, target_of

POD = "csi.storage.k8s.io/pod."
LONG = "a" * 2000


def asked(message: bytes) -> Volume:
    return volume_of(parse_publish(message), ROOT)


def test_a_volume_is_a_pod_with_what_it_declares_and_its_tokens() -> None:
    volume = asked(publish_message())
    assert volume.id == "csi-1"
    assert volume.target == target_of()
    assert volume.pod == PublishedPod("shop", "web-1", UID, "web")
    assert volume.attributes == {"secret.db": "secret/app/db#password"}
    assert volume.tokens["vault"].reveal() == "a.b.c"


def test_tokens_may_come_in_the_context_and_are_no_attributes() -> None:
    volume = asked(publish_message(secrets={}, context=CONTEXT | {TOKENS: tokens("d.e.f")}))
    assert volume.tokens["vault"].reveal() == "d.e.f"
    assert TOKENS not in volume.attributes


def test_without_tokens_it_is_a_volume_still() -> None:
    assert asked(publish_message(secrets={})).tokens == {}


def test_a_static_pod_has_a_hash_for_a_uid() -> None:
    uid = "0123456789abcdef0123456789abcdef"
    message = publish_message(context=CONTEXT | {f"{POD}uid": uid}, target=target_of(uid))
    assert asked(message).pod.uid == uid


@pytest.mark.parametrize(
    "message",
    [
        publish_message(volume_id=" "),
        publish_message(volume_id="../x"),
        publish_message(volume_id="a.json"),
        publish_message(volume_id="-a"),
        publish_message(volume_id="a\n"),
        publish_message(volume_id="a" * 129),
        publish_message(target="/etc"),
        publish_message(target=f"{ROOT}/pods"),
        publish_message(target=target_of().replace("/pods/", "/pods/../pods/")),
        publish_message(target=target_of().replace("nemutator", "..")),
        publish_message(target=f"{target_of()}/"),
        publish_message(target=f"{target_of()}\n"),
        publish_message(target=f"/x{target_of()}"),
        publish_message(target=target_of(UID.replace("0a", "0b"))),
        publish_message(target=target_of().replace("nemutator", LONG)),
        publish_message(access_type=1),
        publish_message(mode=3),
        publish_message(context={}),
        publish_message(context=CONTEXT | {f"{POD}name": ""}),
        publish_message(context=CONTEXT | {f"{POD}name": "a/b"}),
        publish_message(context=CONTEXT | {f"{POD}namespace": "Shop"}),
        publish_message(context=CONTEXT | {f"{POD}uid": "../../etc"}),
        publish_message(context=CONTEXT | {"csi.storage.k8s.io/ephemeral": "false"}),
    ],
)
def test_what_is_no_volume_of_a_pod_is_refused(message: bytes) -> None:
    with pytest.raises(InvalidVolumeError):
        asked(message)


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        "null",
        '"text"',
        "[" * 100_000,
        '{"vault": "secret-token"}',
        '{"vault": {}}',
        tokens(""),
        tokens(None),
        tokens("secret token"),
        tokens("x" * 20_000),
        '{"a b": {"token": "secret-token"}}',
    ],
)
def test_tokens_that_are_none_are_refused_and_not_shown(content: str) -> None:
    with pytest.raises(InvalidVolumeError) as refused:
        asked(publish_message(secrets={TOKENS: content}))
    assert "secret" not in str(refused.value)
    cause = refused.value.__cause__ or refused.value.__context__
    assert cause is None or refused.value.__suppress_context__


def test_too_many_tokens_are_refused() -> None:
    content = "{" + ",".join(f'"a{n}": {{"token": "t"}}' for n in range(9)) + "}"
    with pytest.raises(InvalidVolumeError):
        asked(publish_message(secrets={TOKENS: content}))


def test_an_end_names_the_volume_and_its_place() -> None:
    assert ended_volume(parse_unpublish(unpublish_message()), ROOT) == ("csi-1", target_of())
    for bad in (unpublish_message(volume_id="a/b"), unpublish_message(target="/etc")):
        with pytest.raises(InvalidVolumeError):
            ended_volume(parse_unpublish(bad), ROOT)


def test_another_root_has_other_targets() -> None:
    assert is_target(target_of().replace(ROOT, "/data/kubelet"), "/data/kubelet")
    assert not is_target(target_of(), "/data/kubelet")
