from nemutator_controller.editing.previews import MOST_LISTED, RunningObject, edited, preview
from nemutator_controller.mutations.decisions import Edit, Subject, pod_subject
from nemutator_controller.mutations.edits import apply_edits
from nemutator_controller.mutations.stamps import merged, stamp_of, stamping, written
from nemutator_controller.policies.plans import FORGOTTEN
from nemutator_controller.policies.snapshot import snapshot_of

from tests.fakes.manifests import Json

TEAM = "metadata.labels[team]"
CPU = "containers[name=app].resources.requests.cpu"


def spec(team: str = "blue", **changed: object) -> Json:
    return {"mode": "Apply", "mutations": [{"labels": {"set": {"team": team}}}], **changed}


def pod(name: str = "web-1", **labels: str) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "labels": labels},
        "spec": {
            "containers": [{"name": "app", "image": "a", "resources": {"requests": {"cpu": "1"}}}]
        },
    }


def running(document: Json) -> RunningObject:
    name = document["metadata"]["name"]
    return RunningObject(
        subject=pod_subject("shop", name), document=document, namespace_labels={"tier": "web"}
    )


def changes(document: Json, before: Json, after: Json, name: str = "teams") -> list[Edit]:
    now = snapshot_of(before)
    [policy] = snapshot_of({name: after}).sound
    found = preview([running(document)], now, edited(now, policy), defaulted=True)
    assert found.objects == 1
    return [edit for item in found.items for edit in item.edits]


def test_a_new_policy_shows_what_it_would_write() -> None:
    [edit] = changes(pod(), {}, spec())
    assert (edit.path, edit.before, edit.after, edit.policy) == (TEAM, (), ("blue",), "teams")


def test_an_edited_policy_shows_what_differs_from_what_it_wrote() -> None:
    [edit] = changes(pod(), {"teams": spec()}, spec("green"))
    assert (edit.before, edit.after) == (("blue",), ("green",))


def test_what_it_does_not_write_any_more_goes_back() -> None:
    [edit] = changes(
        pod(), {"teams": spec()}, spec(mutations=[{"annotations": {"set": {"a": "b"}}}])
    )[1:]
    assert (edit.path, edit.before, edit.after) == (TEAM, ("blue",), ())
    assert edit.reason == "not any more"


def test_a_policy_that_says_the_same_changes_nothing() -> None:
    assert changes(pod(), {"teams": spec()}, spec()) == []
    assert changes(pod(), {"teams": spec()}, spec(mode="Preview")) == []


def test_what_is_stamped_is_planned_as_it_was_before_us() -> None:
    edit = Edit(path=TEAM, before=("red",), after=("blue",), verb="labels", policy="teams")
    document = pod(team="red")
    stamp = stamping((), written(merged(None, "d1", [edit])))
    stamped = apply_edits(document, [edit, stamp], "Pod")
    assert stamp_of(stamped, "Pod") is not None
    assert changes(stamped, {"teams": spec()}, spec()) == []
    [changed] = changes(stamped, {"teams": spec()}, spec("green"))
    assert (changed.before, changed.after) == (("blue",), ("green",))


def test_a_stamp_without_its_edits_is_said_and_not_guessed() -> None:
    stamped = apply_edits(pod(), [stamping((), '{"id":"d1"}')], "Pod")
    now = snapshot_of({})
    [policy] = snapshot_of({"teams": spec()}).sound
    found = preview([running(stamped)], now, edited(now, policy), defaulted=True)
    assert [item.warnings for item in found.items] == [(FORGOTTEN,)]


def test_policies_of_others_stay_in_their_order() -> None:
    before = {"a": spec("first"), "z": spec("last")}
    assert changes(pod(), before, spec("between"), name="m") == []
    [edit] = changes(pod(), before, spec("later"), name="zz")
    assert (edit.before, edit.after) == (("last",), ("later",))


def test_only_what_it_matches_is_shown_and_a_crowd_is_counted() -> None:
    now = snapshot_of({})
    chosen = spec(match={"podSelector": {"matchLabels": {"app": "web"}}})
    [policy] = snapshot_of({"teams": chosen}).sound
    crowd = [running(pod(f"web-{n}", app="web" if n else "db")) for n in range(MOST_LISTED + 9)]
    found = preview(crowd, now, edited(now, policy), defaulted=True)
    assert (found.objects, found.changed) == (MOST_LISTED + 9, MOST_LISTED + 8)
    assert len(found.items) == MOST_LISTED
    assert found.items[0].subject.name == "web-1"


def test_a_template_is_planned_for_policies_of_templates_alone() -> None:
    workload = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"template": {"metadata": {}, "spec": {"containers": [{"name": "app"}]}}},
    }
    subject = Subject(api_version="apps/v1", kind="Deployment", namespace="shop", name="web")
    one = RunningObject(subject=subject, document=workload, namespace_labels=None)
    now = snapshot_of({})
    for words, count in (("pod", 0), ("template", 1)):
        [policy] = snapshot_of({"teams": spec(applyTo=words)}).sound
        assert preview([one], now, edited(now, policy), defaulted=True).changed == count


def test_an_object_of_another_shape_is_named_and_the_others_are_planned() -> None:
    now = snapshot_of({})
    [policy] = snapshot_of(
        {"teams": spec(mutations=[{"resources": {"requests": {"cpu": {"ratio": 0.5}}}}])}
    ).sound
    objects = [running({**pod(), "spec": 3}), running(pod("web-2"))]
    found = preview(objects, now, edited(now, policy), defaulted=True)
    first, second = found.items
    assert "not shaped like a Pod" in first.warnings[0]
    assert [edit.path for edit in second.edits] == [CPU]
