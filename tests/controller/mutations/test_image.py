"""Images come from where a policy says, in the version that it says, and others offend."""

from typing import Any

import msgspec
import pytest
from nemutator_controller.mutations import image_pull_policy
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.image import (
    ImageFinding,
    ImageRules,
    Offender,
    UnpinnedImage,
    apply,
    faults,
)
from nemutator_controller.mutations.image_digests import NO_DIGESTS, NoDigest
from nemutator_controller.mutations.image_pull_policy import PullPolicy
from nemutator_controller.mutations.path_texts import parse_path

DIGEST = "sha256:" + "0123456789abcdef" * 4
OTHER = "sha256:" + "a" * 64
UBUNTU = {"images": ["docker.io/library/ubuntu"], "tags": ["14.*", "latest"], "set": "20.04"}
MIRROR = {"from": "docker.io", "to": "mirror.example:5000/hub"}


def rules(**fields: Any) -> ImageRules:
    return msgspec.convert(fields, ImageRules)


class Known:
    """An `ImageDigests`."""

    def digest(self, image: str) -> str | NoDigest:
        found = {"docker.io/library/ubuntu:20.04": DIGEST, "m.example/library/ubuntu:1": OTHER}
        return found.get(image) or NoDigest("awaited", f"{image} is looked up")


def made(image: Any, **fields: Any) -> tuple[Any, list[ImageFinding]]:
    draft = Draft({"spec": {"containers": [{"name": "app", "image": image}]}}, "Pod")
    found = apply(draft, rules(**fields), Known(), policy="p")
    return draft.manifest["spec"]["containers"][0]["image"], found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("ubuntu:14.04", "docker.io/library/ubuntu:20.04"),
        ("ubuntu", "docker.io/library/ubuntu:20.04"),
        ("docker.io/library/ubuntu:14.10", "docker.io/library/ubuntu:20.04"),
        ("ubuntu:20.04", "ubuntu:20.04"),
        ("ubuntu:18.04", "ubuntu:18.04"),
        ("team/ubuntu:14.04", "team/ubuntu:14.04"),
        ("", ""),
        (3, 3),
    ],
)
def test_a_version_is_forced(before: Any, after: Any) -> None:
    assert made(before, tags=[UBUNTU]) == (after, [])


def test_a_digest_stays_and_is_named() -> None:
    image, [warning] = made(f"ubuntu:14.04@{DIGEST}", tags=[UBUNTU])
    assert image == f"ubuntu:14.04@{DIGEST}"
    assert warning == (
        "policy p: containers[name=app].image: its tag is left alone: the image is pinned by its digest"
    )
    moved, _ = made(f"ubuntu:14.04@{DIGEST}", move=[MIRROR])
    assert moved == f"mirror.example:5000/hub/library/ubuntu:14.04@{DIGEST}"


def test_the_first_prefix_that_fits_counts_and_the_reason_names_it() -> None:
    own = {"from": "docker.io/team", "to": "own.example"}
    assert made("team/app:1", move=[own, MIRROR])[0] == "own.example/app:1"
    draft = Draft({"spec": {"containers": [{"name": "app", "image": "ubuntu"}]}}, "Pod")
    apply(draft, rules(tags=[UBUNTU], move=[own, MIRROR]), NO_DIGESTS, policy="p")
    [edit] = draft.edits()
    assert edit.after == ("mirror.example:5000/hub/library/ubuntu:20.04",)
    assert edit.reason == "tag latest → 20.04; docker.io → mirror.example:5000/hub"


def test_a_tag_gets_the_digest_that_it_names_where_it_comes_from_in_the_end() -> None:
    everything = {"pin": ["*"]}
    assert made("ubuntu:20.04", **everything) == (f"docker.io/library/ubuntu:20.04@{DIGEST}", [])
    assert made("ubuntu:14.04", tags=[UBUNTU], **everything)[0].endswith(f":20.04@{DIGEST}")
    mirror = {"from": "docker.io", "to": "m.example"}
    moved, _ = made("ubuntu:1", move=[mirror], **everything)
    assert moved == f"m.example/library/ubuntu:1@{OTHER}"
    # It is pinned by its author, or the policy is for others.
    assert made(f"ubuntu@{OTHER}", **everything) == (f"ubuntu@{OTHER}", [])
    assert made("ubuntu:20.04", pin=["m.example/*"]) == ("ubuntu:20.04", [])


def test_the_reason_names_the_tag_that_was_pinned() -> None:
    draft = Draft({"spec": {"containers": [{"name": "app", "image": "ubuntu"}]}}, "Pod")
    apply(draft, rules(tags=[UBUNTU], pin=["*"]), Known(), policy="p")
    [edit] = draft.edits()
    assert edit.reason == "tag latest → 20.04; what 20.04 names"


def test_what_is_not_known_stays_unpinned_and_is_named() -> None:
    image, [found] = made("ubuntu", pin=["*"])
    assert image == "ubuntu"
    why = (
        "policy p: containers[name=app].image: not pinned:"
        " docker.io/library/ubuntu:latest is looked up"
    )
    assert found == UnpinnedImage(why, "awaited")
    # The other rules are followed all the same.
    moved, [found] = made("ubuntu", pin=["*"], move=[MIRROR])
    assert moved == "mirror.example:5000/hub/library/ubuntu"
    assert isinstance(found, UnpinnedImage)


def test_what_is_not_allowed_offends() -> None:
    allowed = {"allowed": ["mirror.example:5000/*"]}
    assert made("ubuntu", **allowed, move=[MIRROR])[1] == []
    why = "policy p: containers[name=app].image: docker.io/library/ubuntu is not an allowed source"
    assert made("ubuntu", **allowed)[1] == [Offender("p", why, "warned")]
    [refused] = made("ubuntu", **allowed, offenders="Refuse")[1]
    assert isinstance(refused, Offender)
    assert refused.result == "refused"


def test_what_cannot_be_read_is_left_alone_and_is_no_allowed_source() -> None:
    image, [warning] = made("Not An Image", move=[MIRROR])
    assert image == "Not An Image"
    assert isinstance(warning, str)
    assert "left alone: 'Not An Image': expected registry/" in warning
    [offender] = made("Not An Image", allowed=["*"])[1]
    assert isinstance(offender, Offender)


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({}, "tags: name at least one rule"),
        ({"move": [MIRROR], "offenders": "Refuse"}, "offenders: without allowed there are none"),
        ({"tags": [UBUNTU | {"set": "a b"}]}, "tags[0].set: expected a tag"),
        ({"tags": [UBUNTU | {"images": ["*", "ubuntu"]}]}, "tags[0].images[1]: 'ubuntu' fits no"),
        ({"allowed": ["mirror.example:5000"]}, "allowed[0]: 'mirror.example:5000' fits no"),
        ({"pin": ["a.b/c:*", "a.b/c:1"]}, "pin[1]: 'a.b/c:1' fits no repository"),
        ({"move": [{"from": "ubuntu", "to": "a.b"}]}, "move[0].from: expected a registry in full"),
        ({"move": [{"from": "a.b", "to": "a.b/"}]}, "move[0].to: expected a registry in full"),
        ({"move": [{"from": "a.b", "to": "a.b/c"}]}, "move[0].to: it is below from"),
        ({"move": [{"from": "a.b", "to": "a.b"}]}, "move[0].to: it is below from"),
    ],
)
def test_what_cannot_work_is_named(fields: Any, fault: str) -> None:
    assert any(each.startswith(fault) for each in faults(rules(**fields)))
    assert list(faults(rules(move=[{"from": "a.b", "to": "a.bc"}]))) == []


@pytest.mark.parametrize(
    ("image", "pulled", "after"),
    [
        # As an API server has filled it in.
        ("ubuntu", "Always", "IfNotPresent"),
        ("ubuntu:latest", "Always", "IfNotPresent"),
        ("ubuntu:14.04", "IfNotPresent", "IfNotPresent"),
        # As somebody has written it.
        ("ubuntu:14.04", "Always", "Always"),
        ("ubuntu", "IfNotPresent", "IfNotPresent"),
        ("ubuntu", "Never", "Never"),
        # The image stays.
        ("alpine", "Always", "Always"),
    ],
)
def test_the_pull_policy_is_the_usual_one_of_the_new_image_where_it_was_that_of_the_old(
    image: str, pulled: str, after: str
) -> None:
    container = {"name": "app", "image": image, "imagePullPolicy": pulled}
    draft = Draft({"spec": {"containers": [container]}}, "Pod")
    assert apply(draft, rules(tags=[UBUNTU]), Known(), policy="p") == []
    assert draft.manifest["spec"]["containers"][0]["imagePullPolicy"] == after


def test_of_the_newest_an_image_is_pulled_always_again() -> None:
    container = {"name": "app", "image": "ubuntu:14.04", "imagePullPolicy": "IfNotPresent"}
    draft = Draft({"spec": {"containers": [container]}}, "Pod")
    for tag in ("20.04", "latest"):
        rule = {"images": ["*"], "set": tag}
        assert apply(draft, rules(tags=[rule]), Known(), policy=tag) == []
    assert [(edit.path, edit.after, edit.policy) for edit in draft.edits()] == [
        ("containers[name=app].image", ("docker.io/library/ubuntu:latest",), "latest"),
        ("containers[name=app].imagePullPolicy", ("Always",), "latest"),
    ]


def test_the_pull_policy_that_a_policy_wants_stays() -> None:
    container = {"name": "app", "image": "ubuntu", "imagePullPolicy": "IfNotPresent"}
    draft = Draft({"spec": {"containers": [container]}}, "Pod")
    image_pull_policy.apply(draft, PullPolicy(set="Always"), policy="o")
    assert apply(draft, rules(tags=[UBUNTU]), Known(), policy="p") == []
    assert draft.manifest["spec"]["containers"][0]["imagePullPolicy"] == "Always"


def test_where_the_image_was_taken_back_its_pull_policy_stays() -> None:
    container = {"name": "app", "image": "ubuntu", "imagePullPolicy": "Always"}
    draft = Draft(
        {"spec": {"containers": [container]}},
        "Pod",
        leave=frozenset({"containers[name=app].image"}),
    )
    apply(draft, rules(tags=[UBUNTU]), Known(), policy="p")
    assert draft.edits() == ()


def test_a_reason_says_all_that_one_policy_has_made_of_an_image() -> None:
    draft = Draft({"spec": {"containers": [{"name": "app", "image": "ubuntu:14.04"}]}}, "Pod")
    draft.set(
        parse_path("containers[name=app].image"),
        "ubuntu:14.10",
        Author("image", "tokens", "nemu_image_ubuntu"),
    )
    apply(draft, rules(tags=[UBUNTU]), Known(), policy="p")
    apply(draft, rules(move=[MIRROR]), Known(), policy="p")
    [edit] = draft.edits()
    assert (
        edit.reason == "nemu_image_ubuntu; tag 14.10 → 20.04; docker.io → mirror.example:5000/hub"
    )
    apply(
        draft, rules(move=[{"from": "mirror.example:5000", "to": "b.example"}]), Known(), policy="q"
    )
    [edit] = draft.edits()
    assert edit.reason == "mirror.example:5000 → b.example; in place of what policy p writes"
