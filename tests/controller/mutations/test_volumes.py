"""Files are mounted once, and what a pod has in the same place stays."""

import copy
from typing import Any

import pytest
from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.volumes import MountedVolume, MountedVolumes, apply, faults

CERTS = MountedVolume(name="certs", config_map="company-ca", mount_path="/etc/ssl/company")


def after(spec: Any, *volumes: MountedVolume) -> tuple[Any, list[str]]:
    draft = Draft({"spec": copy.deepcopy(spec)}, "Pod")
    warnings = apply(draft, MountedVolumes(add=volumes or (CERTS,)), policy="p")
    return draft.manifest["spec"], warnings


def test_a_volume_is_added_and_mounted_in_each_container() -> None:
    spec, warnings = after({"containers": [{"name": "a"}, {"name": "b"}]})
    assert spec["volumes"] == [{"name": "certs", "configMap": {"name": "company-ca"}}]
    mount = {"name": "certs", "mountPath": "/etc/ssl/company", "readOnly": True}
    assert [each["volumeMounts"] for each in spec["containers"]] == [[mount], [mount]]
    assert warnings == []
    # As the API server shows it, it is left as it is.
    spec["volumes"][0]["configMap"]["defaultMode"] = 420
    assert after(spec) == (spec, [])


def test_a_secret_is_named_as_the_api_names_it() -> None:
    secret = MountedVolume(name="keys", secret="own", mount_path="/keys")
    spec, _ = after({"containers": []}, secret)
    assert spec["volumes"] == [{"name": "keys", "secret": {"secretName": "own"}}]


def test_another_volume_or_mount_of_the_pod_stays() -> None:
    other = {"containers": [{"name": "a"}], "volumes": [{"name": "certs", "emptyDir": {}}]}
    spec, [warning] = after(other)
    assert spec == other
    assert warning == "policy p: volumes[name=certs]: left alone: the pod has another one"
    mounted = {"name": "own", "mountPath": "/etc/ssl/company"}
    spec, _ = after({"containers": [{"name": "a", "volumeMounts": [mounted]}]})
    assert spec["containers"][0]["volumeMounts"] == [mounted]


@pytest.mark.parametrize("where", ["/etc/ssl/company/", "/etc//ssl/./company", "etc/ssl/company"])
@pytest.mark.parametrize(
    ("field", "key"), [("volumeMounts", "mountPath"), ("volumeDevices", "devicePath")]
)
def test_what_is_there_by_another_spelling_or_as_a_device_stays(
    field: str, key: str, where: str
) -> None:
    own = {"name": "a", field: [{"name": "own", key: where}, "odd"]}
    spec, warnings = after({"containers": [own]})
    assert (spec["containers"], warnings) == ([own], [])


def test_nothing_is_mounted_around_what_the_container_mounts() -> None:
    mounts = [{"name": "own", "mountPath": "/etc/ssl/company/extra"}]
    spec, [warning] = after({"containers": [{"name": "a", "volumeMounts": mounts}]})
    assert spec["containers"][0]["volumeMounts"] == mounts
    assert "left alone: /etc/ssl/company/extra is in it" in warning
    mounts = [
        {"name": "own", "mountPath": "/etc/ssl"},
        {"name": "own", "mountPath": "/etc/ssl/company2"},
    ]
    spec, warnings = after({"containers": [{"name": "a", "volumeMounts": mounts}]})
    assert (len(spec["containers"][0]["volumeMounts"]), warnings) == (3, [])


def test_a_volume_that_was_taken_back_is_mounted_nowhere() -> None:
    # An API server refuses a pod that mounts what it does not have.
    draft = Draft(
        {"spec": {"containers": [{"name": "new"}]}}, "Pod", leave=frozenset({"volumes[name=certs]"})
    )
    assert apply(draft, MountedVolumes(add=(CERTS,)), policy="p") == []
    assert draft.edits() == ()


@pytest.mark.parametrize(
    ("sources", "fault"),
    [
        ({}, "add[0]: expected exactly one of configMap, secret"),
        ({"config_map": "a", "secret": "b"}, "add[0]: expected exactly one of configMap, secret"),
        ({"config_map": "A"}, "add[0]: expected small letters, digits, dots and dashes"),
    ],
)
def test_what_cannot_be_meant_is_a_fault(sources: Any, fault: str) -> None:
    volume = MountedVolume(name="a", mount_path="/a", **sources)
    assert list(faults(MountedVolumes(add=(volume,)))) == [fault]
