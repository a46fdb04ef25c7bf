"""The verb labels writes labels, in the name of its policy."""

from nemutator_controller.mutations import labels
from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.texts import Texts


def test_a_label_is_an_edit_of_the_policy() -> None:
    draft = Draft({"metadata": {}}, "Pod")
    labels.apply(draft, Texts(set={"team": "a"}), kept=frozenset(), policy="p")
    [edit] = draft.edits()
    assert (edit.path, edit.before, edit.after) == ("metadata.labels[team]", (), ("a",))
    assert (edit.verb, edit.policy) == ("labels", "p")


def test_a_label_to_be_kept_may_be_set_to_what_it_is() -> None:
    manifest = {"metadata": {"labels": {"app": "web", "tier": "1"}}}
    draft = Draft(manifest, "Pod")
    wanted = Texts(set={"app": "web", "tier": "2"})
    kept = labels.selected_by(manifest, "Pod", managed=True)
    [warning] = labels.apply(draft, wanted, kept=kept, policy="p")
    assert draft.edits() == ()
    assert "metadata.labels[tier]: left alone" in warning.why


def test_what_a_bare_pod_is_called_is_nobodys_selector() -> None:
    assert labels.selected_by({"metadata": {"labels": {"a": "b"}}}, "Pod", managed=False) == set()


def test_a_label_to_be_kept_is_not_removed() -> None:
    draft = Draft({"metadata": {"labels": {"app": "web", "old": "1"}}}, "Pod")
    wanted = Texts(remove=("app", "old"))
    [warning] = labels.apply(draft, wanted, kept=frozenset({"app"}), policy="p")
    assert draft.manifest["metadata"]["labels"] == {"app": "web"}
    assert "metadata.labels[app]: left alone" in warning.why


def test_a_label_is_not_added_to_a_template_whose_selector_wants_pods_without_it() -> None:
    expression = {"key": "legacy", "operator": "DoesNotExist"}
    selector = {"matchLabels": {"app": "web"}, "matchExpressions": [expression]}
    template = {"metadata": {"labels": {"app": "web"}}}
    manifest = {"spec": {"selector": selector, "template": template}}
    kept = labels.selected_by(manifest, "Deployment", managed=False)
    wanted = Texts(add={"legacy": "no", "team": "a", "app": "other"})
    draft = Draft(manifest, "Deployment")
    ready = labels.setters(wanted, policy="p")
    [warning] = labels.follow(draft, ready, wanted, kept=kept, policy="p")
    assert warning.why.startswith("policy p: metadata.labels[legacy]: left alone")
    assert [edit.path for edit in draft.edits()] == ["metadata.labels[team]"]


def test_a_label_that_its_workload_does_not_want_is_not_added_to_a_pod() -> None:
    draft = Draft({"metadata": {"labels": {"app": "web", "there": "1"}}}, "Pod")
    wanted = Texts(set={"legacy": "no", "team": "a"}, add={"old": "x", "there": "2", "new": "y"})
    ready = labels.setters(wanted, policy="p")
    unwanted = frozenset({"legacy", "old", "there"})
    kept = frozenset({"app", "there"})
    left = labels.follow(draft, ready, wanted, kept=kept, unwanted=unwanted, policy="p")
    assert draft.manifest["metadata"]["labels"] == {
        "app": "web", "there": "1", "team": "a", "new": "y",
    }  # fmt: skip
    assert [each.reason for each in left] == ["unwanted", "unwanted"]
    assert left[0].why.startswith(
        "policy p: metadata.labels[legacy]: left alone: the selector of its workload wants pods without it"
    )
