"""What the schema of MutationPolicy says in CEL, by `Struct` of the model: rules, each with its sentence.

The API server evaluates CEL within a cost limit, in which each call counts and a pattern costs nothing: so only what
no pattern can say (`schema_bounds.py`) is a rule.
"""

from collections.abc import Mapping

from nemutator_controller.mutations.env import SECRET_LIKE
from nemutator_controller.mutations.injection import INIT_CONTAINER
from nemutator_controller.mutations.texts import LONGEST_KEY, MOST
from nemutator_controller.policies.field_conditions import KEY_OF_LIST
from nemutator_controller.policies.model import GROUP
from nemutator_controller.policies.verbs import VERBS

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
            )
            + " || has(self.familiars) || has(self.talkers)",
            "name at least one term in nodeAffinity, podAffinity or podAntiAffinity, or familiars or talkers",
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
            f"!self.field.matches(r'{KEY_OF_LIST}')",
            "field: a list has no keys: write containers[*], or containers[name=app] for one of its items",
        ),
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
