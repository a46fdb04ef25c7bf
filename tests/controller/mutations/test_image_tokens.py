"""Images get what the token store has for their names: a tag or another image, once, and in no other place."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.mutations.decisions import Subject
from nemutator_controller.mutations.edits import Draft, apply_edits
from nemutator_controller.mutations.image_tokens import bad_image, may_have_tokens, replace_images
from nemutator_controller.mutations.known_tokens import KnownTokens
from nemutator_controller.mutations.stamps import merged, stamp_of, stamping, written
from nemutator_controller.policies.plans import Situation, plan

DIGEST = "sha256:" + "a" * 64


def pod(*images: Any) -> Any:
    containers = [{"name": f"c{at}", "image": image} for at, image in enumerate(images)]
    return {"metadata": {"name": "web"}, "spec": {"containers": containers}}


def replaced(image: Any, **tokens: str) -> tuple[Any, list[str]]:
    draft = Draft(pod(image), "Pod")
    known = KnownTokens({f"nemu_image_{key}": value for key, value in tokens.items()})
    stay = replace_images(draft, known)
    return draft.manifest["spec"]["containers"][0]["image"], [str(each) for each in stay]


@pytest.mark.parametrize(
    ("image", "tokens", "after"),
    [
        ("ubuntu:14.04", {"ubuntu": "20.04"}, "docker.io/library/ubuntu:20.04"),
        ("ubuntu", {"ubuntu": "20.04"}, "docker.io/library/ubuntu:20.04"),
        ("docker.io/library/ubuntu:14.04", {"ubuntu": "20.04"}, "docker.io/library/ubuntu:20.04"),
        ("ubuntu:14.04", {"docker.io/library/ubuntu": "20.04"}, "docker.io/library/ubuntu:20.04"),
        ("host:5000/team/img:1", {"host:5000/team/img": "2"}, "host:5000/team/img:2"),
        ("host:5000/team/img", {"host:5000/team/img": "2"}, "host:5000/team/img:2"),
        ("team/app:1", {"team/app": "mirror.example/team/app:2"}, "mirror.example/team/app:2"),
        ("app:1", {"app": f"a.example/app@{DIGEST}"}, f"a.example/app@{DIGEST}"),
        (f"app@{DIGEST}", {"app": "a.example/app:2"}, "a.example/app:2"),
        # What its author has written goes before what it means.
        ("library/ubuntu:1", {"library/ubuntu": "2", "ubuntu": "3"}, "docker.io/library/ubuntu:2"),
        ("ubuntu:20.04", {"ubuntu": "20.04"}, "ubuntu:20.04"),
        ("debian:12", {"ubuntu": "20.04"}, "debian:12"),
        ("Not An Image", {"ubuntu": "20.04"}, "Not An Image"),
        ("", {"ubuntu": "20.04"}, ""),
        (None, {"ubuntu": "20.04"}, None),
        (7, {"ubuntu": "20.04"}, 7),
    ],
)
def test_an_image_gets_the_version_of_its_token(image: Any, tokens: Any, after: Any) -> None:
    assert replaced(image, **tokens) == (after, [])


def test_with_the_version_of_a_token_comes_its_usual_pull_policy() -> None:
    container = {"name": "app", "image": "ubuntu", "imagePullPolicy": "Always"}
    draft = Draft({"spec": {"containers": [container]}}, "Pod")
    assert replace_images(draft, KnownTokens({"nemu_image_ubuntu": "22.04"})) == []
    assert draft.manifest["spec"]["containers"][0]["imagePullPolicy"] == "IfNotPresent"


@pytest.mark.parametrize(
    ("image", "value", "why"),
    [
        (f"app@{DIGEST}", "2", "pinned by its digest"),
        ("app:1", "not an image!", "expected a tag like 20.04"),
        ("app:1", "nemu_image_other", "a placeholder, too"),
    ],
)
def test_what_does_not_fit_leaves_the_image_and_is_named(image: str, value: str, why: str) -> None:
    after, [said] = replaced(image, app=value)
    assert after == image
    assert "nemu_image_app" in said
    assert why in said


def test_a_value_is_a_tag_or_an_image() -> None:
    assert bad_image("20.04") == bad_image("host:5000/a/b@" + DIGEST) == ""
    assert bad_image("a b")


TOKENS = KnownTokens({"nemu_image_ubuntu": "20.04", "nemu_image_host:5000/a": "b.example/a"})


@given(st.sampled_from(["ubuntu", "docker.io/library/ubuntu:1", "host:5000/a:2", "debian", "a b"]))
def test_what_is_sent_says_whether_the_pod_is_worth_a_look(image: str) -> None:
    sent = json.dumps(pod(image)).encode()
    draft = Draft(pod(image), "Pod")
    replace_images(draft, TOKENS)
    assert may_have_tokens(sent, TOKENS) is bool(draft.edits())


def test_policies_move_what_the_token_has_made_and_a_second_time_changes_nothing() -> None:
    subject = Subject(api_version="v1", kind="Pod", namespace="d", name="web")
    situation = Situation(subject=subject, tokens=TOKENS)
    manifest = pod("ubuntu:14.04")
    planned = plan(manifest, situation, [])
    [edit] = planned.edits
    assert (edit.verb, edit.policy, edit.reason) == ("image", "tokens", "token nemu_image_ubuntu")
    made = apply_edits(manifest, planned.edits, "Pod")
    stamp = merged(stamp_of(made, "Pod"), "id", planned.edits, new=True)
    again = apply_edits(made, [stamping((), written(stamp))], "Pod")
    assert plan(again, situation, []).edits == ()


def test_a_pod_may_skip_it_or_want_it_previewed() -> None:
    subject = Subject(api_version="v1", kind="Pod", namespace="d", name="web")
    situation = Situation(subject=subject, tokens=TOKENS)
    manifest = pod("ubuntu:14.04")
    manifest["metadata"]["annotations"] = {"nemutator.io/skip-mutation": "image"}
    assert plan(manifest, situation, []).edits == ()
    manifest["metadata"]["annotations"] = {"nemutator.io/skip-mutation": "patch"}
    planned = plan(manifest, situation, [])
    assert planned.edits == ()
    assert [each.path for each in planned.previewed] == ["containers[name=c0].image"]
