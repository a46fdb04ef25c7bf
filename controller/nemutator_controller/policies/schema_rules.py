"""What the schema of MutationPolicy says beside its types: meanings, bounds and rules in CEL.

By `Struct.field` or `Struct` of the model. The API server evaluates CEL within a cost limit, in which each
call counts and a pattern costs nothing: so only what no pattern can say is a rule.
"""

from collections.abc import Mapping
from typing import Any

from nemutator_common import names

from nemutator_controller.kube import quantities
from nemutator_controller.mutations.chosen_names import NAME
from nemutator_controller.mutations.env import REFERENCE, SECRET_LIKE, VARIABLE
from nemutator_controller.mutations.image_references import PREFIX, TAG
from nemutator_controller.mutations.injection import INIT_CONTAINER
from nemutator_controller.mutations.known_tokens import KEY
from nemutator_controller.mutations.resources import QUANTITY
from nemutator_controller.mutations.texts import LONGEST_KEY, MOST
from nemutator_controller.mutations.volumes import LABEL, MOUNT_PATH
from nemutator_controller.policies.field_conditions import FIELD
from nemutator_controller.policies.model import GROUP
from nemutator_controller.policies.time_windows import TIME
from nemutator_controller.policies.verbs import VERBS

Schema = dict[str, Any]

MEANINGS: Mapping[str, str] = {
    "Spec.match": "Which pods: all that is given must fit; empty: every pod.",
    "Spec.applyTo": "pod, the default: new pods. template: the pod's template in new and changed workloads."
    " live: new pods, and labels and annotations of pods that run.",
    "Spec.when": "At which times and in which seasons it is followed; always, if this is absent.",
    "When.windows": "In UTC; one of them is enough.",
    "When.season": "Seasons in which it is followed; one of them is enough.",
    "When.of": "The workload whose season counts; that of the cluster, if this is absent.",
    "TimeWindow.days": "Those on which it begins; every day, if none is named.",
    "TimeWindow.from": "A time like 22:00.",
    "TimeWindow.to": "On the next day when it is not after the beginning.",
    "Spec.mode": "Apply changes pods. Preview, the default, computes and logs what would be done.",
    "Spec.mutations": "What is done, in this order.",
    "Match.namespaceSelector": "On labels of the namespace.",
    "Match.podSelector": "On labels of the pod.",
    "Match.namespaces": "Globs on names of namespaces, like team-*.",
    "Match.excludedNamespaces": "Globs; a namespace that one of them names is left alone.",
    "Match.names": "Globs on the pod's name, or its workload's.",
    "Match.excludedNames": "Globs; what one of them names is left alone.",
    "Match.images": "Globs on repositories in full, like docker.io/library/*; one is enough.",
    "Match.ownerKinds": "Kinds of the workload that makes the pod, like DaemonSet.",
    "Match.annotations": "Globs on values, by key; the pod must have all of them.",
    "Match.users": "Globs on who creates the pod.",
    "Match.fields": "Conditions on fields of the pod, all of which must hold.",
    "FieldCondition.field": "Like hostNetwork, metadata.labels[app], containers[*].securityContext.privileged; [*]:"
    " one is enough.",
    "FieldCondition.operator": "In, NotIn: globs in values. Above, Below: an amount. Exists, DoesNotExist.",
    "FieldCondition.values": "Globs on what stands there, as text.",
    "FieldCondition.amount": "A quantity, like 500m, 1Gi or 8080.",
    "Spec.tokens": "Values of placeholders in these pods; they go before those of the token store.",
    "PolicyToken.key": "A placeholder, like nemu_label_value_team.",
    "Match.percent": "A share of all workloads, always the same ones.",
    "Texts.set": "Keys and values, whatever stood there before.",
    "Texts.add": "Keys and values, where nothing stands.",
    "Texts.remove": "Keys that are taken away.",
    "ChosenName.set": "Replaces what is there.",
    "ChosenName.add": "Where nothing stands.",
    "ImageRules.containers": "Globs on names of containers; init containers, too.",
    "ImageRules.tags": "Versions; the first rule that fits counts. Digests stay.",
    "ImageRules.move": "Mirrors; the first prefix that fits counts.",
    "ImageRules.allowed": "Globs on repositories in full; all others are offenders.",
    "ImageRules.offenders": "Warn, the default, lets the pod in; Refuse does not.",
    "EnvRules.containers": "Globs on names of containers; init containers, too.",
    "EnvRules.set": "Replaces a value in its place; what has valueFrom keeps it.",
    "EnvRules.add": "At the end, where none of that name stands.",
    "EnvRules.remove": "Names; one that others refer to by $(NAME) stays.",
    "Variable.secret": "In Vault, as mount/path#key: the pod declares it, and must be injected.",
    "SecurityDefaults.pod": "For the pod, where its author has said nothing.",
    "SecurityDefaults.containers": "Globs on names of containers; init containers, too.",
    "SecurityDefaults.container": "For these, where neither they nor the pod have said anything.",
    "SpreadRules.add": "Where the pod has none of the same topologyKey and whenUnsatisfiable.",
    "NodeRules.required": "On labels of nodes, in each term of the pod.",
    "NodeRules.preferred": "Terms with a weight.",
    "PodRules.required": "Terms on labels of pods; all must hold.",
    "PodRules.preferred": "Terms with a weight.",
    "ImageRules.pin": "Globs on repositories in full, whose tags get the digests beside them that they name.",
    "TagRule.images": "Globs on repositories in full, like docker.io/library/ubuntu.",
    "TagRule.tags": "Globs on the tag; latest where none is written.",
    "TagRule.set": "The tag that they get.",
    "Move.from": "A registry in full, with or without folders: docker.io, host:5000/team.",
    "Move.to": "What stands in place of that.",
    "PullPolicy.containers": "Globs on names of containers; init containers, too.",
    "PullSecrets.add": "Names of secrets in the pod's namespace.",
    "PullSecrets.remove": "Names of secrets that are not to be used.",
    "Toleration.key": "Of the taint; empty, with Exists: every taint.",
    "Toleration.effect": "Absent: every effect.",
    "Toleration.tolerationSeconds": "How long NoExecute is put up with; absent: for ever.",
    "Tolerations.add": "Where the pod has none of the same key, operator, value and effect.",
    "Tolerations.pressureUpTo": f"The highest grade of the taint {names.PRESSURE} that is put up with. The taint follows the pressure of its node.",
    "Tolerations.remove": "Those that have all the given fields; this comes before what is added.",
    "SelectorRules.rename": "New keys, by the old ones: in selectors of new workloads, and in their templates.",
    "SelectorRules.set": "New values, by the keys as they are called then.",
    "SelectorRules.tokens": "Whether the token store says more of both, for the keys that it lists.",
    "VariableSources.add": "Where the container has none of the same name and prefix.",
    "VariableSources.containers": "Globs on names of containers; init containers, too.",
    "VariableSource.configMap": "Its name, in the pod's namespace.",
    "VariableSource.secret": "Its name, in the pod's namespace.",
    "VariableSource.prefix": "Of the variables' names.",
    "VariableSource.optional": "Whether a container starts without it.",
    "EmptyDirs.sizeLimit": "A quantity, where the volume has none, and is not in memory.",
    "MountedVolumes.add": "Mounted to be read only.",
    "MountedVolumes.containers": "Globs on names of containers; init containers, too.",
    "Sidecars.add": "Where the pod has no container of that name.",
    "Sidecar.requests": "Without them the pod's quality-of-service class may change.",
    "Sidecar.limits": "What it may use at most.",
    "SidecarMount.name": "Of a volume of the pod.",
    "EmptyDirs.volumes": "Globs on names of volumes.",
    "ResolverOptions.set": "Values of options by name; an empty one is written as none.",
    "ResolverOptions.add": "The same, where the pod does not have that option.",
    "ContainerResources.containers": "Globs on names of containers; init containers are left alone.",
    "ContainerResources.requests": "What containers ask for. Never above their limits.",
    "ContainerResources.limits": "What containers may use at most. Never below their requests.",
    "ContainerResources.qos": "Keep leaves a pod alone that would change its quality-of-service class.",
    "Amount.value": "A quantity, like 250m or 1Gi.",
    "Amount.ratio": "A share of what the pod asks for in the same place; absent there, no change.",
    "Amount.ratioOfLimit": "Of a request: a share of its limit; absent there, no change.",
    "Amount.advice": "What the container has been seen to need; unknown, no change.",
    "Amount.min": "Not less than this quantity.",
    "Amount.max": "Not more than this quantity.",
    "Amount.raiseLimit": "Of a request: a limit that is there and lower is raised to it.",
}

_QUANTITY: Schema = {"pattern": QUANTITY.pattern, "maxLength": quantities.LONGEST}
LABEL_VALUE: Schema = {
    "type": "string",
    "pattern": r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$",
    "maxLength": 63,
}

_LABEL_KEY: Schema = {
    "pattern": (
        r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
        r"([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$"
    ),
    "maxLength": LONGEST_KEY,
}
_VARIABLE: Schema = {"pattern": VARIABLE.pattern, "maxLength": 128}
_TAINT_KEY: Schema = _LABEL_KEY | {"pattern": f"^$|{_LABEL_KEY['pattern']}"}
_NAME: Schema = {"pattern": NAME.pattern}
_OBJECT_NAME: Schema = {"type": "string", "pattern": NAME.pattern, "maxLength": 253}

_AMOUNTS: Schema = {
    "properties": {
        name: {"type": "string"} | _QUANTITY for name in ("cpu", "memory", "ephemeral-storage")
    }
}

BOUNDS: Mapping[str, Schema] = {
    "LabelSelector.matchLabels": {"additionalProperties": LABEL_VALUE},
    "FieldCondition.field": {"pattern": FIELD.pattern},
    "FieldCondition.amount": _QUANTITY,
    "PolicyToken.key": {"pattern": KEY.pattern},
    "Expression.key": _LABEL_KEY,
    "Expression.values": {"items": LABEL_VALUE},
    "Amount.value": _QUANTITY,
    "Amount.min": _QUANTITY,
    "Amount.max": _QUANTITY,
    "Texts.set": {"maxProperties": MOST},
    "Texts.add": {"maxProperties": MOST},
    "Texts.remove": {"items": {"type": "string"} | _LABEL_KEY},
    "PullSecrets.add": {"items": _OBJECT_NAME},
    "PullSecrets.remove": {"items": _OBJECT_NAME},
    "SpreadConstraint.topologyKey": _LABEL_KEY,
    "SpreadConstraint.matchLabelKeys": {"items": {"type": "string"} | _LABEL_KEY},
    "PodTerm.topologyKey": _LABEL_KEY,
    "PreferredPods.topologyKey": _LABEL_KEY,
    "SecurityDefaults.pod": {"minProperties": 1},
    "SecurityDefaults.container": {"minProperties": 1},
    "EnvRules.remove": {"items": {"type": "string", "minLength": 1} | _VARIABLE},
    "Variable.name": _VARIABLE,
    "Variable.secret": {"pattern": REFERENCE.pattern},
    "TagRule.set": {"pattern": TAG.pattern},
    "Move.from": {"pattern": PREFIX.pattern},
    "Move.to": {"pattern": PREFIX.pattern},
    "ChosenName.set": _NAME,
    "ChosenName.add": _NAME,
    "SelectorRules.rename": {"additionalProperties": {"type": "string"} | _LABEL_KEY},
    "SelectorRules.set": {"additionalProperties": LABEL_VALUE},
    "EmptyDirs.sizeLimit": _QUANTITY,
    "Sidecar.name": {"pattern": LABEL},
    "Sidecar.requests": _AMOUNTS,
    "Sidecar.limits": _AMOUNTS,
    "SidecarVariable.name": _VARIABLE,
    "SidecarMount.name": {"pattern": LABEL},
    "SidecarMount.mountPath": {"pattern": MOUNT_PATH},
    "MountedVolume.name": {"pattern": LABEL},
    "MountedVolume.configMap": _NAME,
    "MountedVolume.secret": _NAME,
    "MountedVolume.mountPath": {"pattern": MOUNT_PATH},
    "VariableSource.configMap": _NAME,
    "VariableSource.secret": _NAME,
    "TimeWindow.from": {"pattern": TIME},
    "TimeWindow.to": {"pattern": TIME},
    "Toleration.key": _TAINT_KEY,
    "Toleration.value": LABEL_VALUE,
}

DEFAULTS: Mapping[str, str] = {"Spec.applyTo": "pod", "Spec.mode": "Preview"}
"""What the API server writes where nothing is given, so that people see it."""

_ESCAPED = "ephemeral__dash__storage"
"""As CEL has to write `ephemeral-storage`."""

_BOTH = "[has(self.set) ? self.set : {}, has(self.add) ? self.add : {}]"
_REMOVED = "(has(self.remove) ? self.remove : [])"
_VARIABLES = (
    "((has(self.set) ? self.set.map(each, each.name) : [])"
    " + (has(self.add) ? self.add.map(each, each.name) : [])"
    f" + {_REMOVED})"
)
_ADD_OR_REMOVE = (
    "(has(self.add) && self.add.size() > 0) || (has(self.remove) && self.remove.size() > 0)",
    "name at least one in add or remove",
)

RULES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "PolicyMutation": (
        (
            f"[{', '.join(f'has(self.{verb})' for verb in VERBS)}].filter(given, given).size() == 1",
            f"expected exactly one of {', '.join(VERBS)}",
        ),
    ),
    "Texts": (
        (
            f"{_BOTH}.exists(each, each.size() > 0) || {_REMOVED}.size() > 0",
            "name at least one key in set, add or remove",
        ),
        (
            (
                "(has(self.set) ? self.set.size() : 0) + (has(self.add) ? self.add.size() : 0)"
                f" + {_REMOVED}.size() <= {MOST}"
            ),
            f"more than {MOST} keys",
        ),
        (
            f"{_REMOVED}.all(key, {_BOTH}.all(each, !(key in each)))",
            "a key that is removed is set or added, too",
        ),
        (
            f"{_REMOVED}.all(key, !key.startsWith('{GROUP}/'))",
            f"words of {GROUP} steer nemutator itself; use other keys",
        ),
        (
            (
                f"{_BOTH}.all(each, each.all(key, key.size() <= {LONGEST_KEY}"
                " && !format.qualifiedName().validate(key).hasValue()))"
            ),
            "expected keys as Kubernetes takes them: letters, digits, - _ . up to 63",
        ),
        (
            f"{_BOTH}.all(each, each.all(key, !key.startsWith('{GROUP}/')))",
            f"words of {GROUP} steer nemutator itself; use other keys",
        ),
    ),
    "ImageRules": (
        (
            (
                "(has(self.tags) && self.tags.size() > 0) || (has(self.move) && self.move.size() > 0)"
                " || has(self.pin) || has(self.allowed)"
            ),
            "name at least one rule in tags, move, pin or allowed",
        ),
        (
            "has(self.allowed) || !has(self.offenders) || self.offenders == 'Warn'",
            "without allowed there are no offenders",
        ),
    ),
    "EnvRules": (
        (
            (
                "(has(self.set) && self.set.size() > 0) || (has(self.add) && self.add.size() > 0)"
                " || (has(self.remove) && self.remove.size() > 0)"
            ),
            "name at least one in set, add or remove",
        ),
        (
            f"{_VARIABLES}.all(name, {_VARIABLES}.filter(other, other == name).size() == 1)",
            "the same name stands twice among set, add and remove",
        ),
    ),
    "Variable": (
        (
            "[has(self.value), has(self.valueFrom), has(self.secret)].filter(each, each).size() == 1",
            "expected exactly one of value, valueFrom, secret",
        ),
        (
            f"!has(self.value) || !self.value.matches(r'(?s){SECRET_LIKE.pattern}')",
            "value: this looks like a reference to a secret: write it in secret",
        ),
    ),
    "ValueSource": (
        (
            (
                "[has(self.fieldRef), has(self.configMapKeyRef), has(self.secretKeyRef)]"
                ".filter(each, each).size() == 1"
            ),
            "expected exactly one of fieldRef, configMapKeyRef, secretKeyRef",
        ),
    ),
    "AffinityRules": (
        (
            " || ".join(
                f"(has(self.{near}) && has(self.{near}.{kind}) && self.{near}.{kind}.size() > 0)"
                for near in ("nodeAffinity", "podAffinity", "podAntiAffinity")
                for kind in ("required", "preferred")
            ),
            "name at least one term in nodeAffinity, podAffinity or podAntiAffinity",
        ),
    ),
    "SecurityDefaults": (
        ("has(self.pod) || has(self.container)", "name at least one field in pod or container"),
    ),
    "Move": (
        (
            "self.to != self.from && !self.to.startsWith(self.from + '/')",
            "to is below from, and would be moved again",
        ),
    ),
    "Spec": (
        (
            (
                "(has(self.applyTo) && self.applyTo == 'template')"
                " || !self.mutations.exists(each, has(each.selectors))"
            ),
            "applyTo: a pod has no selectors: expected template",
        ),
    ),
    "VariableSource": (
        (
            "has(self.configMap) != has(self.secret)",
            "expected exactly one of configMap, secret",
        ),
    ),
    "Sidecar": (
        (f"self.name != '{INIT_CONTAINER}'", f"name: {INIT_CONTAINER} is nemutator's own"),
        *(
            (
                (
                    f"!has(self.requests) || !has(self.limits) || !has(self.requests.{name})"
                    f" || !has(self.limits.{name})"
                    f" || !quantity(self.requests.{name}).isGreaterThan(quantity(self.limits.{name}))"
                ),
                f"requests.{name}: above its limit",
            )
            for name in ("cpu", "memory", _ESCAPED)
        ),
    ),
    "MountedVolume": (
        (
            "has(self.configMap) != has(self.secret)",
            "expected exactly one of configMap, secret",
        ),
    ),
    "EmptyDirs": (
        (
            "quantity(self.sizeLimit).isGreaterThan(quantity('0'))",
            "sizeLimit: expected more than 0",
        ),
    ),
    "ResolverOptions": (
        (
            "(!has(self.set) || !('' in self.set)) && (!has(self.add) || !('' in self.add))",
            "expected names of options",
        ),
    ),
    "DnsConfig": (
        (
            (
                "has(self.options) && ((has(self.options.set) && self.options.set.size() > 0)"
                " || (has(self.options.add) && self.options.add.size() > 0))"
            ),
            "name at least one option in set or add",
        ),
    ),
    "SelectorRules": (
        (
            (
                "(has(self.rename) && self.rename.size() > 0) || (has(self.set) && self.set.size() > 0)"
                " || (has(self.tokens) && self.tokens)"
            ),
            "name at least one key in set or rename, or say tokens: true",
        ),
        (
            (
                f"!has(self.set) || self.set.all(key, key.size() <= {LONGEST_KEY}"
                " && !format.qualifiedName().validate(key).hasValue()"
                " && !(has(self.rename) && key in self.rename))"
            ),
            "expected keys of labels, and of those that are renamed the new ones",
        ),
        (
            (
                f"!has(self.rename) || self.rename.all(key, key.size() <= {LONGEST_KEY}"
                " && !format.qualifiedName().validate(key).hasValue()"
                f" && !self.rename[key].startsWith('{GROUP}/') && !(self.rename[key] in self.rename)"
                " && self.rename.all(other, other == key || self.rename[other] != self.rename[key]))"
            ),
            "expected keys of labels, each renamed once and to another one",
        ),
    ),
    "ChosenName": (("has(self.set) != has(self.add)", "expected exactly one of set, add"),),
    "Toleration": (
        (
            (
                "(has(self.operator) && self.operator == 'Exists')"
                " ? !has(self.value) || self.value == '' : has(self.key) && self.key != ''"
            ),
            "Equal takes a key, Exists takes no value",
        ),
        (
            "!has(self.tolerationSeconds) || (has(self.effect) && self.effect == 'NoExecute')",
            "tolerationSeconds: only NoExecute takes it",
        ),
    ),
    "TolerationPattern": (
        (
            "has(self.key) || has(self.operator) || has(self.value) || has(self.effect)",
            "name at least one field",
        ),
    ),
    "Tolerations": (
        (
            "has(self.pressureUpTo) || (has(self.add) && self.add.size() > 0) || (has(self.remove) && self.remove.size() > 0)",
            "name at least one in add or remove, or pressureUpTo",
        ),
    ),
    "PullSecrets": (
        _ADD_OR_REMOVE,
        (
            "!has(self.add) || !has(self.remove) || self.add.all(name, !(name in self.remove))",
            "a name that is removed is added, too",
        ),
    ),
    "Match": (
        (
            (
                "!has(self.annotations) || self.annotations.all(key,"
                f" key.size() <= {LONGEST_KEY} && !format.qualifiedName().validate(key).hasValue())"
            ),
            "expected annotations' keys as Kubernetes takes them",
        ),
    ),
    "When": (
        (
            "(has(self.windows) && self.windows.size() > 0) || (has(self.season) && self.season.size() > 0)",
            "name at least one of windows and season",
        ),
    ),
    "FieldCondition": (
        (
            "(self.operator in ['In', 'NotIn']) == (has(self.values) && self.values.size() > 0)",
            "In and NotIn take values, others take none",
        ),
        (
            "(self.operator in ['Above', 'Below']) == has(self.amount)",
            "Above and Below take an amount, others take none",
        ),
    ),
    "ContainerResources": (
        (
            "has(self.requests) || has(self.limits)",
            "name at least one amount in requests or limits",
        ),
        (
            "!has(self.limits) || "
            + " && ".join(
                f"(!has(self.limits.{name}) || !has(self.limits.{name}.ratioOfLimit))"
                for name in ("cpu", "memory", _ESCAPED)
            ),
            "only requests are a share of limits: ratioOfLimit",
        ),
    ),
    "Amount": (
        (
            (
                "[has(self.value), has(self.ratio), has(self.ratioOfLimit), has(self.advice) && self.advice]"
                ".filter(given, given).size() == 1"
            ),
            "expected exactly one of value, ratio, ratioOfLimit, advice: true",
        ),
        (
            (
                "!has(self.min) || !has(self.max) || "
                "!quantity(self.min).isGreaterThan(quantity(self.max))"
            ),
            "min is above max",
        ),
        *(
            (
                f"!has(self.{field}) || quantity(self.{field}).isGreaterThan(quantity('0'))",
                f"{field}: expected more than 0",
            )
            for field in ("value", "min", "max")
        ),
    ),
    "Expression": (
        (
            "(self.operator in ['In', 'NotIn']) == (has(self.values) && self.values.size() > 0)",
            "In and NotIn take values, Exists and DoesNotExist take none",
        ),
    ),
    "LabelSelector": (
        (
            (
                "!has(self.matchLabels) || self.matchLabels.all(key,"
                " !format.qualifiedName().validate(key).hasValue())"
            ),
            "expected labels' keys as Kubernetes takes them",
        ),
    ),
}
