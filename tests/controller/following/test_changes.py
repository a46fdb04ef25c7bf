from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest
from nemutator_common import names
from nemutator_controller.following.changes import MetadataChange, change_of, restamped
from nemutator_controller.following.live_policies import followed_by_what_runs
from nemutator_controller.journal.reversal_steps import steps_back
from nemutator_controller.mutations.decisions import Decision, Edit, pod_subject
from nemutator_controller.mutations.edits import apply_edits
from nemutator_controller.mutations.known_tokens import NOT_READ, KnownTokens
from nemutator_controller.mutations.paths import WORKLOADS, PathError
from nemutator_controller.mutations.stamps import Stamp, in_full, stamp_of, stamping
from nemutator_controller.policies.plans import Situation
from nemutator_controller.policies.snapshot import snapshot_of

from tests.fakes.followed_pods import live, running_pod, workload

SUBJECT = pod_subject("shop", "web-1", "u-web-1")
TEAM = "metadata.labels[team]"


def _known(tokens: dict[str, str] | None) -> KnownTokens | None:
    return None if tokens is None else KnownTokens(tokens)


def change(
    pod: Any,
    *,
    tokens: dict[str, str] | None = None,
    unread: bool = False,
    taken_back: str = "",
    gone: Collection[str] = (),
    **specs: Any,
) -> MetadataChange | None:
    kind = pod["kind"] if isinstance(pod.get("kind"), str) else "Pod"
    situation = Situation(
        subject=replace(SUBJECT, kind=kind, name="web" if kind != "Pod" else "web-1"),
        namespace_labels={},
        tokens=KnownTokens({}, NOT_READ) if unread else _known(tokens),
        reversed=frozenset([taken_back] if taken_back else ()),
    )
    known = snapshot_of(specs)
    names_of = followed_by_what_runs(dict.fromkeys(gone, 0.0), known)
    return change_of(pod, situation, known.for_pods, names_of)


def changed(pod: Any, **more: Any) -> MetadataChange:
    found = change(pod, **more)
    assert found is not None
    return found


def followed(pod: Any, **more: Any) -> Any:
    """The pod after its change, stamp and all."""
    found = changed(pod, **more)
    stamp = restamped(pod, pod["kind"], "d1", found)
    assert stamp is not None
    return apply_edits(pod, (*found.edits, stamp), pod["kind"])


def labels(pod: Any) -> Any:
    return pod["metadata"].get("labels")


def test_a_running_pod_follows_a_policy_in_all_that_it_says_next() -> None:
    first = followed(running_pod(labels={"app": "web"}), team=live(team="a", tier="web"))
    assert labels(first) == {"app": "web", "team": "a", "tier": "web"}
    second = followed(first, team=live(team="b"))
    assert labels(second) == {"app": "web", "team": "b"}
    assert changed(second, team=live(team="b")).edits == ()
    elsewhere = live(team="b") | {"match": {"namespaces": ["bank"]}}
    last = followed(second, team=elsewhere)
    assert labels(last) == {"app": "web"}
    assert names.MUTATION not in last["metadata"].get("annotations", {})


def test_a_token_that_changes_reaches_what_it_stands_in() -> None:
    pod = running_pod(annotations={"color": "nemu_anno_value_color"})
    policy = live(team="nemu_label_value_team")
    known = {"nemu_anno_value_color": "blue", "nemu_label_value_team": "a"}
    first = followed(pod, tokens=known, team=policy)
    assert (first["metadata"]["annotations"]["color"], labels(first)) == ("blue", {"team": "a"})
    known = {"nemu_anno_value_color": "red", "nemu_label_value_team": "b"}
    second = followed(first, tokens=known, team=policy)
    assert (second["metadata"]["annotations"]["color"], labels(second)) == ("red", {"team": "b"})


def test_a_token_that_is_gone_takes_what_it_gave_with_it() -> None:
    pod = running_pod(annotations={"color": "nemu_anno_value_color"}, labels={"team": "before"})
    policy = live(team="nemu_label_value_team", nemu_label_key="x")
    known = {
        "nemu_anno_value_color": "blue",
        "nemu_label_value_team": "a",
        "nemu_label_key": "color",
    }
    first = followed(pod, tokens=known, team=policy)
    assert labels(first) == {"team": "a", "color": "x"}
    second = followed(first, tokens={}, team=policy)
    # No placeholder is written into what runs.
    assert second["metadata"] == pod["metadata"]


def test_tokens_that_have_not_been_read_take_nothing_away() -> None:
    policy = live(team="nemu_label_value_team")
    first = followed(running_pod(), tokens={"nemu_label_value_team": "a"}, team=policy)
    assert change(first, tokens=None, unread=True, team=policy) is None
    # What needs no token does not wait for them.
    assert changed(first, unread=True, team=live(team="b")).edits


def test_what_a_deleted_policy_has_written_goes_back() -> None:
    before = running_pod(labels={"team": "before"})
    first = followed(before, team=live(team="a", tier="web"))
    assert change(first) is None
    last = followed(first, gone={"team"})
    assert last["metadata"]["labels"] == before["metadata"]["labels"]
    assert names.MUTATION not in last["metadata"].get("annotations", {})


def test_what_somebody_else_has_written_of_a_deleted_policy_stays() -> None:
    first = followed(running_pod(), team=live(team="a", tier="web", owner="ops"))
    first["metadata"]["labels"]["tier"] = "theirs"
    first["metadata"]["managedFields"] = [
        {
            "manager": "argocd",
            "operation": "Apply",
            "time": "2026-01-01T00:00:00Z",
            "fieldsV1": {"f:metadata": {"f:labels": {"f:owner": {}}}},
        }
    ]
    found = changed(first, gone={"team"})
    assert [edit.path for edit in found.edits] == [TEAM]
    assert set(found.left) == {"metadata.labels[tier]", "metadata.labels[owner]"}


def test_a_policy_that_is_previewed_by_now_takes_nothing_back() -> None:
    first = followed(running_pod(), team=live(team="a"))
    assert change(first, team=live(team="b") | {"mode": "Preview"}) is None


def test_only_metadata_is_written_and_only_of_live_policies() -> None:
    mutations = [{"labels": {"set": {"team": "a"}}}, {"tolerations": {"add": [{"key": "spot"}]}}]
    policy = {"applyTo": "live", "mode": "Apply", "mutations": mutations}
    other = {"mode": "Apply", "mutations": [{"labels": {"set": {"other": "x"}}}]}
    found = changed(running_pod(), team=policy, other=other)
    assert [edit.path for edit in found.edits] == [TEAM]
    assert change(running_pod(), other=other) is None


def test_what_somebody_else_has_written_since_stays() -> None:
    first = followed(running_pod(), team=live(team="a"))
    first["metadata"]["labels"]["team"] = "theirs"
    found = changed(first, team=live(team="b"))
    assert (found.edits, found.left) == ((), (TEAM,))
    del first["metadata"]["labels"]["team"]
    found = changed(first, team=live(team="b"))
    assert (found.edits, found.left) == ((), (TEAM,))


@pytest.mark.parametrize("word", ["true", "patch", "labels"])
def test_a_pod_may_say_that_it_does_not_follow(word: str) -> None:
    pod = running_pod(annotations={names.SKIP_MUTATION: word})
    found = change(pod, team=live(team="a"))
    assert found is None or found.edits == ()


def test_what_was_taken_back_stays_so() -> None:
    assert changed(running_pod(), taken_back=TEAM, team=live(team="a")).edits == ()


def test_a_policy_that_is_previewed_writes_nothing() -> None:
    assert change(running_pod(), team=live(team="a") | {"mode": "Preview"}) is None


def test_a_stamp_says_all_that_we_have_changed_from_the_beginning() -> None:
    first = followed(running_pod(labels={"team": "before"}), team=live(team="a", tier="web"))
    found = changed(first, team=live(team="b", tier="web"))
    assert {each.path: (each.before, each.after) for each in found.stamped} == {
        TEAM: (("before",), ("b",)),
        "metadata.labels[tier]": ((), ("web",)),
    }
    assert [(each.before, each.after) for each in found.edits] == [(("a",), ("b",))]


def test_a_pod_whose_stamp_has_no_room_is_left_alone() -> None:
    full = running_pod(annotations={names.MUTATION: '{"id": "d0"}'})
    assert change(full, team=live(team="a")) is None
    several = {f"key-{number}": "v" * 60 for number in range(60)}
    found = changed(running_pod(), team=live(**several))
    assert restamped(running_pod(), "Pod", "d1", found) is None


@pytest.mark.parametrize("kind", WORKLOADS)
def test_a_workload_follows_in_its_own_metadata_and_never_in_its_template(kind: str) -> None:
    before = workload(kind, labels={"tier": "old", "color": "nemu_label_value_color"})
    policy = live(team="a", tier="web") | {
        "match": {"podSelector": {"matchLabels": {"app": "web"}}}
    }
    first = followed(before, tokens={"nemu_label_value_color": "blue"}, team=policy)
    assert labels(first) == {"tier": "web", "color": "blue", "team": "a"}
    assert first["spec"] == before["spec"]
    other = live(team="b") | {"match": {"podSelector": {"matchLabels": {"app": "other"}}}}
    last = followed(first, team=other)
    assert labels(last) == labels(before) | {"color": "blue"}
    assert last["spec"] == before["spec"]


def test_a_workload_is_taken_back_from_the_journal() -> None:
    before = workload(labels={"tier": "old"})
    found = changed(before, team=live(team="a", tier="web"))
    after = followed(before, team=live(team="a", tier="web"))
    subject = replace(SUBJECT, kind="Deployment", name="web")
    decision = Decision(
        id="d1", at=0, request_uid="", operation="LIVE", mode="apply", subject=subject,
        edits=found.stamped,
    )  # fmt: skip
    steps = steps_back([decision], after, "Deployment", running=True)
    assert {(step.edit.path, step.verdict, step.way) for step in steps} == {
        ("workload.metadata.labels[team]", "reverse", "patch"),
        ("workload.metadata.labels[tier]", "reverse", "patch"),
    }


def test_what_was_done_to_its_template_stays_in_the_stamp_of_a_workload() -> None:
    template = Edit(path=TEAM, before=(), after=("t",), verb="labels", policy="team")
    stamped = [template, stamping((), in_full(Stamp("d0", (template,))) or "", kind="Deployment")]
    before = apply_edits(workload(), stamped, "Deployment")
    # The policy has been one for templates before.
    after = followed(before, team=live(team="a"))
    stamp = stamp_of(after, "Deployment")
    assert stamp is not None
    assert [each.path for each in stamp.edits or ()] == [TEAM, f"workload.{TEAM}"]
    assert after["spec"] == before["spec"]


def test_a_workload_whose_pods_do_not_follow_does_not_either() -> None:
    one = workload()
    one["spec"]["template"]["metadata"]["annotations"] = {names.SKIP: "true"}
    assert changed(one, team=live(team="a")).edits == ()


@pytest.mark.parametrize("broken", [{}, {"metadata": []}, {"metadata": {"labels": []}}])
def test_what_is_not_shaped_like_its_kind_is_refused(broken: Any) -> None:
    with pytest.raises(PathError):
        change({"kind": "Deployment", "spec": {}} | broken, team=live(team="a"))


def test_what_another_policys_placeholder_has_written_before_stays() -> None:
    known = {"nemu_label_value_team": "a"}
    other = live(team="nemu_label_value_team") | {"applyTo": "pod"}
    # Until now such an edit was the token store's.
    edit = Edit(path=TEAM, before=(), after=("a",), verb="labels", policy="tokens")
    text = in_full(Stamp("d0", (edit,)))
    pod = running_pod(labels={"team": "a"}, annotations={names.MUTATION: text})
    found = followed(pod, tokens=known, other=other, tier=live(tier="web"))
    assert labels(found) == {"team": "a", "tier": "web"}


def test_a_policys_placeholder_goes_with_its_policy() -> None:
    known = {"nemu_label_value_team": "a"}
    first = followed(running_pod(), tokens=known, team=live(team="nemu_label_value_team"))
    assert labels(first) == {"team": "a"}
    assert not labels(followed(first, tokens=known, gone=["team"]))
