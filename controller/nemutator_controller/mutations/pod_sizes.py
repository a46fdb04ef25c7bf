"""Which pods are too large to plan for.

Every policy goes through the containers, and each of its writes finds its own by name, and then a variable or a
volume: for ten thousand of them a plan would take an hour, in a process that has others to answer.
"""

from nemutator_controller.mutations.edits import TooLargeError
from nemutator_controller.mutations.injection import INIT_CONTAINER
from nemutator_controller.mutations.paths import LONGEST_NAME, Json
from nemutator_controller.mutations.qos import LISTS

MOST_CONTAINERS = 128
"""Containers of a pod, with its init containers."""

MOST_ITEMS = 1_000
"""Items of any other list: variables of a container, volumes, tolerations."""


def check_size(pod: Json) -> None:
    """Raises `TooLargeError` when a plan for *pod* would delay others."""
    spec = pod.get("spec") if isinstance(pod, dict) else None
    if not isinstance(spec, dict):
        return
    containers = [
        each for field in LISTS if type(listed := spec.get(field)) is list for each in listed
    ]
    ours = 0
    for each in containers:
        if type(each) is dict:
            name = each.get("name")
            if name == INIT_CONTAINER:
                ours += 1
            elif type(name) is str and len(name) > LONGEST_NAME:
                # Each glob of each policy would be matched against it.
                raise TooLargeError(f"a container's name has more than {LONGEST_NAME} characters")
    # Our container does not count: the server may ask again about a pod that has it already.
    if len(containers) - ours > MOST_CONTAINERS:
        raise TooLargeError(f"more than {MOST_CONTAINERS} containers")
    for around in (spec, *containers):
        for field, listed in around.items() if type(around) is dict else ():
            if type(listed) is list and len(listed) > MOST_ITEMS and field not in LISTS:
                raise TooLargeError(f"more than {MOST_ITEMS} {field[:40]}")
