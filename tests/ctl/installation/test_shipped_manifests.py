from nemutator_common import __version__
from nemutator_ctl.installation import files
from nemutator_ctl.installation.shipped_manifests import is_on


def test_a_part_is_on_when_each_group_has_a_value_that_is_true() -> None:
    values = {"a": {"enabled": True}, "b": {"enabled": False}}
    assert is_on((), values)
    assert is_on([["a.enabled"]], values)
    assert is_on([["a.enabled", "b.enabled"]], values)
    assert not is_on([["a.enabled"], ["b.enabled"]], values)
    assert not is_on([["c.enabled"]], values)


def test_what_is_shipped_has_the_version_of_the_command() -> None:
    shipped = files.shipped()
    assert shipped.version == __version__
    assert shipped.documents[0][1]["kind"] == "Namespace"
    assert {each["kind"] for each in shipped.definitions} == {"CustomResourceDefinition"}
