"""A VerticalPodAutoscaler as a SizingPolicy, and what differs: pure.

What a SizingPolicy cannot say as narrowly leaves it in mode Off, so that nothing is changed that the autoscaler would
not have changed; a person decides.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nemutator_common import names
from nemutator_controller.kube.quantities import QuantityError, parse_quantity
from nemutator_controller.mutations.chosen_names import is_name
from nemutator_controller.policies.model import PolicyError
from nemutator_controller.updating.model import sizing_of

VPA = "VerticalPodAutoscaler"
GROUP = "autoscaling.k8s.io/"
LONGEST_NAME = 253
USUAL_REPLICAS = 2
"""Of a workload with fewer pods, VPA's updater changes none where the autoscaler says nothing else (`--min-replicas`)."""

_MODES = {
    "Off": "Off",
    "Initial": "Initial",
    "Recreate": "Evict",
    "Auto": "Evict",
    "InPlaceOrRecreate": "Evict",
    "InPlace": "InPlace",
}
_RESOURCES = ("cpu", "memory")
_WITHOUT_COUNTERPART = (
    "evictAfterOOMSeconds",
    "oomBumpUpRatio",
    "oomMinBumpUp",
    "pruningGracePeriodSeconds",
)
"""Of the policies for updates and containers."""

Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Imported:
    name: str
    """Of the autoscaler, with its namespace."""
    policy: Json
    differences: Sequence[str]
    fault: str = ""
    """Why the policy is none that a server would take."""


@dataclass(frozen=True, slots=True)
class _Containers:
    names: tuple[str, ...]
    """Those that are sized; empty: all."""
    resources: Json
    unsayable: Sequence[str]


def imported(documents: Iterable[Any]) -> list[Imported]:
    """Those of all autoscalers in *documents*, which may be Lists."""
    return [_imported(each) for document in documents for each in _autoscalers(document)]


def _autoscalers(document: Any) -> Iterator[Json]:
    found = _map(document)
    kind = found.get("kind")
    if kind == VPA and str(found.get("apiVersion", "")).startswith(GROUP):
        yield found
    elif isinstance(kind, str) and kind.endswith("List"):
        for item in _list(found.get("items")):
            # Items of a typed list do not repeat what they are.
            head = {"kind": VPA, "apiVersion": found.get("apiVersion")} if kind != "List" else {}
            if kind in ("List", f"{VPA}List"):
                yield from _autoscalers({**head, **_map(item)})


def _imported(autoscaler: Json) -> Imported:
    meta, spec = _map(autoscaler.get("metadata")), _map(autoscaler.get("spec"))
    namespace, name = _text(meta.get("namespace")) or "default", _text(meta.get("name"))
    # No namespace has a dot: so no two autoscalers make a policy of the same name.
    called = f"{namespace}.{name}"
    target, update = _map(spec.get("targetRef")), _map(spec.get("updatePolicy"))
    containers = _containers(_list(_map(spec.get("resourcePolicy")).get("containerPolicies")))
    given = update.get("updateMode")
    word = "Auto" if given is None or given == "" else _word(given)
    mode = _MODES.get(word, "Off")
    differences = list(_differences(spec, update, is_off=word == "Off"))
    if word not in _MODES:
        differences.append(f"updateMode {word} is not known: mode Off")
    replicas = _replicas(update)
    if mode in ("Evict", "InPlace") and replicas is None:
        replicas = USUAL_REPLICAS
        differences.append(
            f"it names no minReplicas: {USUAL_REPLICAS}, unless your updater has another --min-replicas"
        )
    elif mode == "Evict" and replicas == 1:
        differences.append("the only pod of a workload is never evicted")
    unsayable = list(containers.unsayable)
    if unsayable and mode != "Off":
        differences += [f"{why}: mode Off in the place of {mode}" for why in unsayable]
        mode = "Off"
    policy: dict[str, Any] = {
        "match": {
            "namespaces": [namespace],
            "kinds": [_text(target.get("kind"))],
            "names": [_text(target.get("name"))],
        },
        "mode": mode,
        "resources": {
            **({"containers": list(containers.names)} if containers.names else {}),
            **containers.resources,
        },
    }
    if replicas is not None:
        policy["minReplicas"] = replicas
    return Imported(
        f"{namespace}/{name}",
        {
            "apiVersion": f"{names.DOMAIN}/v1alpha1",
            "kind": "SizingPolicy",
            "metadata": {"name": called},
            "spec": policy,
        },
        differences,
        _fault(name, called, policy),
    )


def _replicas(update: Json) -> int | None:
    found = update.get("minReplicas")
    if not isinstance(found, int) or isinstance(found, bool):
        return None
    return found if 1 <= found <= 10_000 else None


def _fault(name: str, called: str, policy: Json) -> str:
    if not name:
        return "it has no name"
    match = policy["match"]
    if not (match["kinds"][0] and match["names"][0]):
        return "it has no targetRef with a kind and a name"
    if len(called) > LONGEST_NAME or not is_name(called):
        return f"{called[:80]!r} is no name of a policy"
    try:
        sizing_of(called, policy)
    except PolicyError as error:
        return str(error)
    return ""


def _differences(spec: Json, update: Json, *, is_off: bool) -> Iterator[str]:
    if update.get("evictionRequirements"):
        yield "evictionRequirements have no counterpart: raising and lowering are given alike"
    if spec.get("recommenders"):
        yield "its recommender is not asked: the advice is nemutator's"
    if spec.get("startupBoost"):
        yield "startupBoost has no counterpart"
    policies = _list(_map(spec.get("resourcePolicy")).get("containerPolicies"))
    for field in _WITHOUT_COUNTERPART:
        if any(field in _map(one) for one in (update, *policies)):
            yield f"{field} has no counterpart"
    if any(_map(one).get("controlledValues") != "RequestsOnly" for one in policies or [{}]):
        yield (
            "limits are not scaled with requests: of CPU they stay, and a memory limit is raised where it is"
            " too low"
        )
    if not is_off:
        yield "while the VerticalPodAutoscaler is there and not Off, its workload is left to it: delete it"


def _containers(policies: Sequence[Any]) -> _Containers:
    rules: dict[str, Json] = {}
    for one in map(_map, policies):
        container = _text(one.get("containerName")) or "*"
        # Of several for one container VPA takes the first, of several for all others the last.
        if container == "*" or container not in rules:
            rules[container] = one
    rest = rules.get("*", {})
    named = {name: rule for name, rule in rules.items() if name != "*"}
    is_rest_on = not _is_off(rest)
    on = {name: rule for name, rule in named.items() if not _is_off(rule)}
    unsayable: list[str] = []
    if is_rest_on and len(on) < len(named):
        off = ", ".join(sorted(set(named) - set(on)))
        unsayable.append(f"containers that are left alone cannot be named ({off}): name the others")
    if not is_rest_on and not on:
        unsayable.append("all of its containers are Off")
    wanted = [*on.values(), *([rest] if is_rest_on else [])]
    shapes = [_resources(rule) for rule in wanted] or [_resources({})]
    if any(shape != shapes[-1] for shape in shapes):
        unsayable.append("containers differ in bounds or resources, and a policy has one of each")
    return _Containers(() if is_rest_on else tuple(sorted(on)), shapes[-1], unsayable)


def _resources(rule: Json) -> Json:
    controlled = rule.get("controlledResources")
    found: dict[str, Any] = {}
    for resource in _RESOURCES:
        if isinstance(controlled, list) and resource not in controlled:
            found[resource] = {"enabled": False}
            continue
        bounds = {
            word: str(_map(rule.get(field))[resource])
            for word, field in (("min", "minAllowed"), ("max", "maxAllowed"))
            if isinstance(_map(rule.get(field)).get(resource), str | int | float)
        }
        # People write it to be rid of the autoscaler's own floor; a policy has none.
        if _is_nothing(bounds.get("min", "")):
            del bounds["min"]
        if bounds:
            found[resource] = bounds
    return found


def _is_nothing(amount: str) -> bool:
    try:
        return not parse_quantity(amount).nanos
    except QuantityError:
        return False


def _map(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else []


def _word(value: Any) -> str:
    """What *value* says; without quotes, YAML reads Off as false."""
    return "Off" if value is False else _text(value) or repr(value)[:40]


def _is_off(rule: Json) -> bool:
    mode = rule.get("mode")
    return mode is not None and _word(mode) == "Off"


def _text(value: Any) -> str:
    return value[:LONGEST_NAME] if isinstance(value, str) else ""
