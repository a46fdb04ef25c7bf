"""The paths of the API about what is changed: by policies, by people, and of pods that run."""

from typing import Any

from nemutator_controller.access.permissions import API
from nemutator_controller.app import api_shapes as shapes
from nemutator_controller.console.open_api import (
    KIND,
    LIMIT,
    NAME,
    NAMESPACE,
    WORKLOAD,
    ApiPath,
    QueryWord,
    asked,
    posted,
)
from nemutator_controller.editing.endpoint import EditedPolicy
from nemutator_controller.evictions.documents import EvictionBody
from nemutator_controller.rolling.documents import RollBody
from nemutator_controller.tokens.documents import TokenDocument, TokenListDocument
from nemutator_controller.tokens.endpoint import TokenBody
from nemutator_controller.units.documents import SizedUnitDocument

CHANGE_PATHS = (
    asked(
        "mutations",
        "mutations",
        "What was changed, the newest first.",
        shapes.MUTATION_LIST,
        NAMESPACE,
        NAME,
        LIMIT,
        WORKLOAD,
        QueryWord("policy", str, "By this policy."),
        QueryWord("since", float, "Seconds since 1970."),
        QueryWord("until", float, "The same."),
        QueryWord("standing", bool, "Only what is not taken back."),
        narrows=True,
    ),
    asked(
        "mutations/{id}",
        "mutations",
        "One mutation, and what was taken back of it.",
        shapes.MUTATION,
    ),
    posted(
        "mutations/{id}/rollback",
        ("update", "mutations"),
        "Takes it back.",
        (shapes.ROLLBACK, shapes.ROLLBACK_PLAN),
        QueryWord("plan", bool, "Only say what would be done."),
        QueryWord("evict", bool, "Evict the pod where that is needed."),
        QueryWord("dry_run", bool, "Have the API server check it."),
        QueryWord("policy", str, "Only what this policy has made."),
        QueryWord("pod", str, "NAMESPACE/NAME, with the id `marked`."),
    ),
    asked(
        "tombstones",
        "mutations",
        "What stays taken back.",
        shapes.TOMBSTONE_LIST,
        NAMESPACE,
        WORKLOAD,
        QueryWord("path", str, "This field alone."),
    ),
    posted(
        "tombstones/forget",
        ("update", "mutations"),
        "Has policies followed there again.",
        shapes.TOMBSTONE_LIST,
        NAMESPACE,
        QueryWord("workload", str, "KIND/NAME.", required=True),
        QueryWord("path", str, "This field alone."),
    ),
    asked(
        "missed-pods",
        "mutations",
        "Pods that admission has missed.",
        shapes.MISSED_POD_LIST,
        NAMESPACE,
        narrows=True,
    ),
    asked("policies", "mutationpolicies", "MutationPolicies.", shapes.POLICY_LIST),
    asked(
        "policies/{name}",
        "mutationpolicies",
        "One of them, and as YAML to be edited.",
        shapes.OPENED_POLICY,
    ),
    posted(
        "policies",
        ("update", "mutationpolicies"),
        "Saves one, if nobody has changed it since.",
        shapes.POLICY_SAVED,
        body=EditedPolicy,
    ),
    posted(
        "policies/preview",
        ("get", "mutationpolicies"),
        "What one would change of what runs now.",
        shapes.POLICY_PREVIEW,
        body=EditedPolicy,
    ),
    asked(
        "tokens",
        "tokens",
        "Values of placeholders.",
        TokenListDocument,
        LIMIT,
        QueryWord("key", str, "This one alone."),
    ),
    posted("tokens", ("update", "tokens"), "Sets or removes one.", TokenDocument, body=TokenBody),
    asked(
        "objects",
        "objects",
        "What was applied without a cluster.",
        shapes.OBJECT_LIST,
        KIND,
        NAMESPACE,
        NAME,
    ),
    posted(
        "objects",
        ("create", "objects"),
        "Applies a manifest without a cluster.",
        shapes.APPLIED,
        body=dict[str, Any],
    ),
    posted(
        "units/{unit}/size",
        ("update", "objects"),
        "Gives a unit of systemd what is advised, without a cluster.",
        SizedUnitDocument,
        QueryWord("plan", bool, "Only say what would be done."),
    ),
    ApiPath(
        method="DELETE",
        path=f"{API}objects",
        verb="delete",
        resource="objects",
        summary="Deletes what was applied.",
        query=(KIND, NAMESPACE, NAME),
        answers=shapes.DELETED,
    ),
    # Pods that run.
    asked(
        "evictions",
        "evictions",
        "Requests for evictions.",
        shapes.EVICTION_LIST,
        NAMESPACE,
        LIMIT,
        narrows=True,
    ),
    posted(
        "evictions",
        ("create", "evictions"),
        "Plans evictions, or asks for them.",
        (shapes.EVICTION, shapes.EVICTION_PLAN),
        NAMESPACE,
        body=EvictionBody,
        status=202,
        narrows=True,
    ),
    asked(
        "evictions/{id}",
        "evictions",
        "One request, and its pods.",
        shapes.EVICTION,
        NAMESPACE,
        narrows=True,
    ),
    posted(
        "evictions/{id}/cancel",
        ("update", "evictions"),
        "Cancels what is left of one.",
        shapes.EVICTION,
    ),
    asked("rolls", "rolls", "Slow rolls.", shapes.ROLL_LIST, NAMESPACE, LIMIT, narrows=True),
    posted(
        "rolls",
        ("create", "rolls"),
        "Plans a slow roll, or begins it.",
        (shapes.ROLL, shapes.ROLL_PLAN),
        NAMESPACE,
        body=RollBody,
        status=202,
        narrows=True,
    ),
    asked("rolls/{id}", "rolls", "One roll.", shapes.ROLL, NAMESPACE, narrows=True),
    posted(
        "rolls/{id}/stop", ("update", "rolls"), "Ends one.", shapes.ROLL, NAMESPACE, narrows=True
    ),
)
