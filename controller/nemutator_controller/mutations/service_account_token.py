"""The verb `automountServiceAccountToken`: whether a pod can speak to the API server by itself.

The API server has mounted the token before it asks us about a pod: so its volume goes with it.
"""

from nemutator_controller.mutations.chosen_containers import chosen
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import ItemStep, field_path, named
from nemutator_controller.mutations.switches import Switch

VERB = "automountServiceAccountToken"

VOLUME = "kube-api-access-"
"""How the API server begins the names of such volumes."""


def apply(draft: Draft, wanted: Switch, *, policy: str) -> None:
    author = Author(VERB, policy)
    field = field_path(VERB)
    draft.set(field, wanted.set, author)
    if wanted.set or draft.leaves(field):
        return
    volumes = [each for found in draft.value(field_path("volumes")) for each in found or ()]
    for name in [each.get("name") for each in volumes if isinstance(each, dict)]:
        if isinstance(name, str) and name.startswith(VOLUME):
            for path, _ in list(chosen(draft, ("*",))):
                draft.put(path / "volumeMounts" / ItemStep("name", name), (), author)
            draft.put(named("volumes", name), (), author)
