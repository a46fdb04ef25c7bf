"""Which texts of a review may be others without another plan: those that `policies/readings.py` leaves out of what is read of a
pod, and those that are known beside it, as names and amounts of containers are."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from nemutator_controller.admission.json_texts import JsonPath, JsonText
from nemutator_controller.admission.known_plans import PlanKey
from nemutator_controller.admission.plan_contents import TOKEN_VOLUME
from nemutator_controller.mutations.amount_trials import LONGEST_KNOWN, Texts
from nemutator_controller.mutations.injection import DIRECTORY_NAME, INIT_CONTAINER
from nemutator_controller.mutations.pod_sizes import MOST_ITEMS
from nemutator_controller.mutations.qos import COUNTED, LISTS, standing
from nemutator_controller.policies.readings import UnreadFields

Json = Any

_POD: JsonPath = ("request", "object")
_OF_SPEC = ("serviceAccountName", "serviceAccount", "hostname", "subdomain", "nodeName")
"""More that nobody reads, and that often differs between workloads."""

_Standing = Sequence[tuple[bool, bool]]


class AmountTexts(NamedTuple):
    """Where amounts of one container stand, by their places among all texts."""

    requests: tuple[tuple[str, int], ...]
    limits: tuple[tuple[str, int], ...]
    standing: _Standing
    """What they are for the pod's class: other ones are that, too."""

    def of(self, texts: Sequence[str]) -> Texts | None:
        """Those that are found in *texts*; None: they are something else for the pod's class, or cannot be known again."""
        requests = tuple([(name, texts[at]) for name, at in self.requests])
        limits = tuple([(name, texts[at]) for name, at in self.limits])
        for _, text in (*requests, *limits):
            if len(text) > LONGEST_KNOWN:
                return None
        return (requests, limits) if _standing(requests, limits) == self.standing else None


class UnreadTexts(NamedTuple):
    texts: Sequence[JsonText]
    """In the order of the review. The rest says at which of them what stands."""
    uid: int
    request_name: int | None
    name: int | None
    generate_name: int | None
    owner_name: int | None
    """Of whoever controls the pod."""
    labels: Sequence[tuple[str, int]]
    volumes: Sequence[int]
    """Which the API server has added."""
    names: Sequence[int]
    """Of containers, in the order of those of the plan's key, as amounts."""
    amounts: Sequence[AmountTexts]


def unread_texts(
    texts: Sequence[JsonText], pod: Json, unread: UnreadFields, key: PlanKey, *, owned: bool
) -> UnreadTexts | None:
    """Those of *texts*, which are those of the review about *pod*, whose plan is found by *key*; None: it is not written as
    expected. *owned*: a workload has made it, which is known beside it."""
    is_named = owned and unread.pod_names
    chosen = [each for each in texts if _may_differ(each.path, pod, unread, key, is_named=is_named)]
    at = {each.path: index for index, each in enumerate(chosen)}
    metadata, spec = (*_POD, "metadata"), (*_POD, "spec")
    owners = pod["metadata"].get("ownerReferences") or ()
    controller = next(
        (index for index, each in enumerate(owners) if each.get("controller") is True), -1
    )
    volumes = [at[each.path] for each in chosen if _is_token_volume(each.path, pod)]
    labels = [(path[-1], index) for path, index in at.items() if path[:-1] == (*metadata, "labels")]
    uid = at.get(("request", "uid"))
    names: list[int | None] = []
    amounts: list[AmountTexts | None] = []
    for field in LISTS:
        for index, container in enumerate(pod["spec"].get(field) or ()):
            path = (*spec, field, index)
            if key.names is not None:
                names.append(at.get((*path, "name")))
            if key.amounts is not None:
                amounts.append(_amounts(container, (*path, "resources"), at))
    if uid is None or None in names or None in amounts:
        return None
    return UnreadTexts(
        texts=chosen,
        uid=uid,
        request_name=at.get(("request", "name")),
        name=at.get((*metadata, "name")),
        generate_name=at.get((*metadata, "generateName")),
        owner_name=at.get((*metadata, "ownerReferences", controller, "name")),
        labels=[(str(label), index) for label, index in labels],
        volumes=volumes,
        names=[each for each in names if each is not None],
        amounts=[each for each in amounts if each is not None],
    )


def _may_differ(
    path: JsonPath, pod: Json, unread: UnreadFields, key: PlanKey, *, is_named: bool
) -> bool:
    match path:
        case ("request", "uid"):
            return True
        case ("request", "name") | ("request", "object", "metadata", "name" | "generateName"):
            return is_named
        case ("request", "object", "metadata", "ownerReferences", _, "name" | "uid"):
            return is_named
        case ("request", "object", "metadata", "managedFields", _, "time"):
            return True
        case ("request", "object", "metadata", "labels", label):
            return label not in unread.but_labels
        case (
            "request",
            "object",
            "spec",
            "containers" | "initContainers" as field,
            int(at),
            *rest,
        ):
            listed = pod["spec"][field]
            return type(listed[at]) is dict and _in_container(rest, listed[at], key)
        case ("request", "object", "spec", "volumes", _, "name"):
            return _is_token_volume(path, pod)
        case ("request", "object", "spec", str(field)):
            return field in _OF_SPEC
    return False


def _in_container(path: Sequence[str | int], container: Mapping[str, Json], key: PlanKey) -> bool:
    if container.get("name") == INIT_CONTAINER:
        return False
    match path:
        case ["image"]:
            return True
        case ["env", *_]:
            return len(container["env"]) <= MOST_ITEMS
        case ["name"]:
            return key.names is not None
        case ["resources", "requests" | "limits", _]:
            return key.amounts is not None
        case ["volumeMounts", int(at), "name"]:
            return _is_token_mount(container["volumeMounts"], at)
    return False


def _is_token_volume(path: JsonPath, pod: Json) -> bool:
    match path:
        case ("request", "object", "spec", "volumes", int(at), "name"):
            volume = pod["spec"]["volumes"][at]
            return "csi" not in volume and volume["name"].startswith(TOKEN_VOLUME)
        case ("request", "object", "spec", str(field), int(index), "volumeMounts", int(at), "name"):
            return field in LISTS and _is_token_mount(pod["spec"][field][index]["volumeMounts"], at)
    return False


def _is_token_mount(mounts: Sequence[Mapping[str, Json]], at: int) -> bool:
    where = mounts[at].get("mountPath")
    return (
        len(mounts) <= MOST_ITEMS
        and mounts[at]["name"].startswith(TOKEN_VOLUME)
        and type(where) is str
        and DIRECTORY_NAME not in where
    )


def _amounts(
    container: Mapping[str, Json], path: JsonPath, at: Mapping[JsonPath, int]
) -> AmountTexts | None:
    resources = container.get("resources") or {}
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    found = [
        [(name, at.get((*path, side, name))) for name in section]
        for side, section in (("requests", requests), ("limits", limits))
    ]
    places = [tuple([(name, index) for name, index in each if index is not None]) for each in found]
    if list(map(len, places)) != list(map(len, found)):
        return None
    asked = _standing(tuple(requests.items()), tuple(limits.items()))
    return AmountTexts(places[0], places[1], asked)


def _standing(requests: Sequence[tuple[str, str]], limits: Sequence[tuple[str, str]]) -> _Standing:
    most, least = dict(limits), dict(requests)
    return [standing(most.get(name), least.get(name)) for name in COUNTED]
