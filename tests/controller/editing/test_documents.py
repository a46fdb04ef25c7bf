from nemutator_controller.editing.documents import StoredPolicy, listed, opened, previewed, saved
from nemutator_controller.editing.previews import PolicyPreview, PreviewedObject
from nemutator_controller.mutations.decisions import Edit, pod_subject


def test_policies_are_listed_by_name_with_what_they_do_and_what_is_wrong() -> None:
    good = StoredPolicy(
        name="b",
        spec={"mode": "Preview", "mutations": [{"labels": {"set": {"a": "b"}}}]},
        version="7",
    )
    bad = StoredPolicy(name="a", spec={"mode": "Never"}, version="8", condition="not followed")
    first, second = listed([good, bad])["items"]
    assert (first["name"], first["mode"], first["condition"]) == ("a", "", "not followed")
    assert "mode" in first["fault"]
    assert (second["mode"], second["apply_to"], second["verbs"]) == ("Preview", "pod", ["labels"])
    assert second["document"] == {
        "apiVersion": "nemutator.io/v1alpha1",
        "kind": "MutationPolicy",
        "metadata": {"name": "b"},
        "spec": good.spec,
    }


def test_a_preview_names_objects_and_edits() -> None:
    edit = Edit(path="metadata.labels[a]", before=(), after=("b",), verb="labels", policy="p")
    one = PreviewedObject(subject=pod_subject("shop", "web-1"), edits=(edit,), warnings=("w",))
    document = previewed(PolicyPreview(objects=3, changed=1, items=(one,)), mode="Apply", more=True)
    assert (document["objects"], document["changed"], document["more"]) == (3, 1, True)
    assert document["mode"] == "Apply"
    [item] = document["items"]
    assert item["object"] == {"kind": "Pod", "namespace": "shop", "name": "web-1"}
    assert item["edits"][0]["after"] == ("b",) or item["edits"][0]["after"] == ["b"]
    assert (item["refused"], item["warnings"]) == ("", ["w"])


def test_what_was_saved_is_named() -> None:
    assert saved("p", "changed")["outcome"] == "changed"


def test_an_opened_policy_is_text_whatever_is_wrong_with_it() -> None:
    bad = opened(StoredPolicy(name="a", spec={"mode": "Never", "x": "\u202e"}, version="8"))
    assert bad["text"] == (
        "apiVersion: nemutator.io/v1alpha1\nkind: MutationPolicy\nmetadata:\n  name: a\n"
        'spec:\n  mode: Never\n  x: "\\u202E"\n'
    )
    assert (bad["version"], "mode" in bad["fault"]) == ("8", True)
