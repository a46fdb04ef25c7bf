"""Without a token a pod has no volume and no mount of one."""

import copy
from typing import Any

from nemutator_controller.mutations.edits import Draft
from nemutator_controller.mutations.service_account_token import apply
from nemutator_controller.mutations.switches import Switch

MOUNT = {"name": "kube-api-access-x", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
POD: Any = {
    "spec": {
        "volumes": [
            {"name": "own", "emptyDir": {}},
            {"name": "kube-api-access-x", "projected": {}},
        ],
        "containers": [
            {"name": "app", "volumeMounts": [{"name": "own", "mountPath": "/own"}, MOUNT]},
            {"name": "sidecar"},
        ],
    }
}


def test_the_mounted_token_goes_with_it() -> None:
    draft = Draft(copy.deepcopy(POD), "Pod")
    apply(draft, Switch(set=False), policy="p")
    spec = draft.manifest["spec"]
    assert spec["automountServiceAccountToken"] is False
    assert spec["volumes"] == [{"name": "own", "emptyDir": {}}]
    [app, sidecar] = spec["containers"]
    assert app["volumeMounts"] == [{"name": "own", "mountPath": "/own"}]
    assert sidecar == {"name": "sidecar"}


def test_switched_on_nothing_else_changes() -> None:
    draft = Draft(POD, "Pod")
    apply(draft, Switch(set=True), policy="p")
    assert [edit.path for edit in draft.edits()] == ["automountServiceAccountToken"]


def test_where_that_was_taken_back_the_token_stays() -> None:
    # Each pod has another name for the volume, so only the field itself can be known again.
    draft = Draft(POD, "Pod", leave=frozenset({"automountServiceAccountToken"}))
    apply(draft, Switch(set=False), policy="p")
    assert draft.edits() == ()
