"""Specs of policies, right and wrong, for an API server and for us to judge."""

import random
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

BAD: dict[str, tuple[list[Json], str]] = {
    "no verb": ([{}], "expected exactly one of labels, annotations, resources"),
    "two verbs": (
        [{"labels": {"set": {"a": "b"}}, "annotations": {"set": {"a": "b"}}}],
        "expected exactly one of labels, annotations, resources",
    ),
    "a misspelt field": ([{"lables": {"set": {"a": "b"}}}], 'unknown field "spec.mutations'),
    "our own words": (
        [{"labels": {"set": {"nemutator.io/inject": "enabled"}}}],
        "steer nemutator itself",
    ),
    "two sources": (
        [{"resources": {"requests": {"cpu": {"value": "1", "ratio": 0.5}}}}],
        "expected exactly one of value, ratio, ratioOfLimit, advice: true",
    ),
    "min above max": (
        [{"resources": {"requests": {"cpu": {"ratio": 0.5, "min": "2", "max": "1"}}}}],
        "min is above max",
    ),
    "no quantity": (
        [{"resources": {"requests": {"cpu": {"value": "much"}}}}],
        "should match",
    ),
    "nothing to do": ([], "should have at least 1 items"),
}


TEXTS: tuple[Any, ...] = (
    {"set": {"team": "a"}}, {"add": {"example.org/team": ""}}, {"set": {}}, {},
    {"set": {}, "add": {"a": "b"}}, {"set": {"a b": "c"}}, {"set": {"-a": "c"}},
    {"set": {"Example.org/a": "c"}}, {"set": {"a/b/c": "d"}}, {"set": {"": "x"}},
    {"set": {"a": "not a value!"}}, {"set": {"a": "x" * 64}}, {"set": {"a": 1}},
    {"set": {"n" * 63: "x"}}, {"set": {"n" * 64: "x"}}, {"set": {f"{'p' * 253}/n": "x"}},
    {"set": {str(n): "x" for n in range(33)}, "add": {f"a{n}": "x" for n in range(32)}},
    {"set": {"nemutator.io/inject": "enabled"}}, {"set": {"a": "ä"}}, {"remove": ["a"]},
    {"remove": []}, {"remove": ["a b"]}, {"remove": [""]}, {"remove": ["nemutator.io/skip"]},
    {"remove": ["a"], "set": {"a": "b"}}, {"remove": ["a"], "add": {"b": "c"}}, {"remove": [1]},
    {"remove": ["a"] * 65},
)  # fmt: skip


REPOSITORIES = (
    "ubuntu", "docker.io/library/ubuntu", "docker.io/library/ubuntu:latest", "host:5000", "host:5000/*", "*:5000/a",
    "*:latest", "a/b@sha256:*", "*", "?", "[a-z]", "a/", "/", "@", ":", "a\n/b", "a/b\n",
)  # fmt: skip


QUANTITIES = (
    "1", "0.1", "100m", "1e3", "1E3", "1Gi", "1G", "5n", ".5", "1.", "0", "0m", "-1", "+1", "1 ",
    " 1", "1e400", "1e99", "1e-9", "1Z", "", "m", "Ki", "-", "1_0", "0x1", "٣", "1" * 129, "1e+2",
)  # fmt: skip


AMOUNTS: tuple[Any, ...] = (
    *({"value": each} for each in QUANTITIES), *({"ratio": 2, "min": each} for each in QUANTITIES[:18]),
    {"ratio": 0}, {"ratio": 100}, {"ratio": 100.5}, {"ratio": -1}, {"ratio": "1"}, {"ratio": 1e-9},
    {"advice": True}, {"advice": False}, {"advice": True, "ratio": 1}, {"advice": False, "ratio": 1},
    {"advice": True, "min": "2", "max": "1"}, {"advice": True, "min": "1", "max": "1000m"}, {},
    {"value": 1}, {"ratio": 1, "most": "1"}, {"ratioOfLimit": 0.5}, {"ratioOfLimit": 1.5}, {"ratioOfLimit": 0},
    {"ratioOfLimit": 0.5, "value": "1"}, {"ratioOfLimit": 0.5, "max": "1"},
)  # fmt: skip


SELECTORS: tuple[Any, ...] = (
    {}, {"matchLabels": {"a": "b"}}, {"matchLabels": {"a": ""}}, {"matchLabels": {"a b": "c"}},
    {"matchLabels": {"a": "b c"}}, {"matchLabels": {str(n): "x" for n in range(33)}},
    *(
        {"matchExpressions": [{"key": key, "operator": operator} | values]}
        for key in ("a", "a b", "", "example.org/a", "/a", "in")
        for operator, values in (
            ("In", {"values": ["x"]}), ("NotIn", {"values": ["", "x"]}), ("Exists", {}),
            ("In", {}), ("DoesNotExist", {"values": ["x"]}), ("In", {"values": ["not one!"]}),
            ("In", {"values": ["x"] * 65}), ("Like", {"values": ["x"]}),
        )
    ),
)  # fmt: skip


TOLERATIONS: tuple[Any, ...] = (
    *({"add": [each]} for each in (
        {"key": "a"}, {"key": "a", "operator": "Exists"}, {"operator": "Exists"}, {},
        {"operator": "Exists", "value": "x"}, {"operator": "Exists", "value": ""}, {"key": "a b"},
        {"key": "a", "value": "b c"}, {"key": "example.org/a", "value": "b", "effect": "NoExecute"},
        {"key": "a", "effect": "Never"}, {"key": "a", "tolerationSeconds": 5}, {"key": ""},
        {"key": "a", "effect": "NoExecute", "tolerationSeconds": 5},
        {"key": "a", "effect": "NoExecute", "tolerationSeconds": -1}, {"key": "a", "until": 5},
    )),
    {}, {"add": []}, {"add": [{"key": "a"}] * 33}, {"remove": [{}]}, {"remove": [{"key": "a"}]},
    {"remove": [{"effect": "NoSchedule"}], "add": [{"key": "b"}]}, {"remove": [{"keys": "a"}]},
)  # fmt: skip


NAMES: tuple[Any, ...] = (
    {}, {"set": "a"}, {"add": "a"}, {"set": "a", "add": "b"}, {"set": ""}, {"set": "A"},
    {"set": "a.b-c"}, {"set": "a..b"}, {"set": "-a"}, {"set": "a" * 254}, {"set": 1},
)  # fmt: skip


SIDECARS: tuple[Json, ...] = (
    {}, {"name": "nemutator-init"}, {"name": "a.b"}, {"image": ""}, {"env": [{"name": "A", "value": "x"}]},
    {"env": [{"name": "a b", "value": "x"}]}, {"env": [{"name": "A"}]}, {"requests": {"cpu": "10m"}},
    {"requests": {"gpu": "1"}}, {"limits": {"memory": "much"}}, {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}},
    {"requests": {"cpu": "1"}, "limits": {"cpu": "1000m"}}, {"volumeMounts": [{"name": "a", "mountPath": "data"}]},
    {"requests": {"ephemeral-storage": "2"}, "limits": {"ephemeral-storage": "1"}},
    {"volumeMounts": [{"name": "data", "mountPath": "/data"}]}, {"args": ["-v"], "command": ["x"]},
    {"args": ["x" * 1025]}, {"ports": []}, {"volumeMounts": [{"name": n, "mountPath": "/a"} for n in "ab"]},
    *({"image": each} for each in (" b", "b ", "B", "host:5000/b:1", "a/b@sha256:" + "0" * 64, "b:", "[::1]:5/b", "H/b")),
)  # fmt: skip


OTHERS: dict[str, tuple[Any, ...]] = {
    "sidecars": (
        {}, {"add": []}, *({"add": [{"name": "a", "image": "b"} | each]} for each in SIDECARS),
        *({"add": [{"name": each, "image": "b"} for each in both]} for both in ("aa", "ab")),
    ),
    "envFrom": (
        {}, {"add": []}, {"add": [{}]}, {"add": [{"configMap": "a"}]}, {"add": [{"secret": "a", "prefix": "A_"}]},
        {"add": [{"configMap": "a", "secret": "b"}]}, {"add": [{"configMap": "A"}]}, {"add": [{"secret": ""}]},
        {"add": [{"configMap": "a"}], "containers": []}, {"add": [{"configMap": "a", "optional": True}]},
    ),
    "volumes": (
        {}, {"add": []}, *({"add": [{"name": "a", "mountPath": "/a"} | each]} for each in (
            {}, {"configMap": "a"}, {"secret": "a"}, {"configMap": "a", "secret": "b"}, {"secret": "A"},
            {"secret": "a", "name": "a.b"}, {"secret": "a", "name": ""}, {"secret": "a", "mountPath": "a"},
            {"secret": "a", "mountPath": "/a:b"}, {"secret": "a", "mountPath": "/a b/c"}, {"secret": "a", "mode": 1},
        )),
    ),
    "emptyDir": (
        {}, *({"sizeLimit": each} for each in QUANTITIES), {"sizeLimit": "1", "volumes": []},
        {"sizeLimit": "1", "volumes": ["a*"]},
    ),
    "dnsConfig": (
        {}, {"options": {}}, {"options": {"set": {}}}, {"options": {"set": {"ndots": "2"}}},
        {"options": {"add": {"edns0": ""}}}, {"options": {"set": {"": "2"}}}, {"options": {"set": {"a": 2}}},
        {"options": {"set": {str(n): "" for n in range(17)}}},
    ),
    "enableServiceLinks": ({}, {"set": True}, {"set": "no"}),
    "automountServiceAccountToken": ({}, {"set": False}, {"add": False}),
    "runtimeClassName": NAMES,
    "selectors": (
        {}, {"set": {}}, {"rename": {}}, {"set": {"app": "b"}}, {"set": {"a b": "c"}}, {"set": {"a": "b c"}},
        {"rename": {"app": "b"}}, {"rename": {"app": "app"}}, {"rename": {"a": "b", "b": "c"}}, {"rename": {"a b": "c"}},
        {"rename": {"a": "c", "b": "c"}}, {"rename": {"a": "c d"}}, {"rename": {"a": "nemutator.io/x"}},
        {"rename": {"a": "c"}, "set": {"c": "d"}}, {"rename": {"a": "c"}, "set": {"a": "d"}},
        {"rename": {f"a{n}": f"b{n}" for n in range(17)}}, {"set": {"a": 1}}, {"tokens": True}, {"tokens": False},
    ),
    "tolerations": TOLERATIONS,
    "image": (
        {}, {"allowed": []}, {"allowed": ["*"]}, {"allowed": ["a/*"], "offenders": "Refuse"},
        {"allowed": ["*"], "offenders": "Deny"}, {"move": [], "offenders": "Warn"},
        *({"tags": [{"images": ["*"], "set": tag}]} for tag in ("1", "", "a b", "-a", "a" * 129, "v1.0")),
        *({"tags": [{"images": globs, "tags": tags, "set": "1"}]} for globs, tags in (([], ["1"]), (["a/b"], []), (["a/b"], ["1.*"]), (["a"], ["1"]))),
        *({"move": [{"from": one, "to": other}]} for one, other in (
            ("docker.io", "mirror.example:5000/hub"), ("ubuntu", "a.example"), ("a.example", "ubuntu"),
            ("a.example", "a.example"), ("a.example", "a.example/b"), ("a.example", "a.example.org"),
            ("localhost", "host:5000"), ("host:port", "a.example"), ("a.example/", "b.example"),
            ("a.example/B", "b.example"), ("[::1]:5000", "b.example"), ("a.example/a__b--c.d", "b.example"),
            ("a.example/a___b", "b.example"), ("", "b.example"), ("https://a.example", "b.example"),
        )),
        {"move": [{"from": "a.example"}]}, {"tags": [{"images": ["a/b"]}]}, {"pin": ["*"]}, {"pin": []}, {"pin": [""]},
        *({field: [each]} for field in ("pin", "allowed") for each in REPOSITORIES),
    ),
    "env": (
        {}, {"set": []}, {"remove": ["A"]}, {"remove": ["a b"]}, {"remove": [""]}, {"remove": ["A", "A"]},
        *({field: [each]} for field in ("set", "add") for each in (
            {"name": "A"}, {"name": "A", "value": ""}, {"name": "A", "value": "x" * 1025}, {"value": "a"},
            {"name": "a b", "value": "x"}, {"name": "1A", "value": "x"}, {"name": "_a", "value": "ä\n"},
            {"name": "A", "value": "secret/app#token"}, {"name": "A", "value": "vault:x"},
            {"name": "A", "value": ">>vault:a\nb"}, {"name": "A", "value": "a/b"}, {"name": "A", "value": "#a"},
            {"name": "A", "value": "x", "secret": "secret/app#token"}, {"name": "A", "secret": "secret/app#token"},
            {"name": "A", "secret": "secret/app"}, {"name": "A", "secret": "secret#a"}, {"name": "A", "secret": ""},
            {"name": "A", "secret": "../app#a"}, {"name": "A", "secret": "a/../b#a"}, {"name": "A", "secret": "a/b#"},
            {"name": "A", "valueFrom": {}}, {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "a"}}},
            {"name": "A", "valueFrom": {"fieldRef": {}}},
            {"name": "A", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b", "optional": True}}},
            {"name": "A", "valueFrom": {"configMapKeyRef": {"name": "a"}}},
            *({"name": "A", "valueFrom": {"fieldRef": {"fieldPath": path}}} for path in (
                "metadata.name", "metadata.labels", "metadata.labels['a.b/C_d']", "metadata.annotations['a b']", "spec.nodeName",
                "spec.replicas", "status.podIPs", "status.phase", "metadata.uid\n",
            )),
            *({"name": "A", "valueFrom": {"secretKeyRef": {"name": name, "key": key}}} for name, key in (
                ("a.b", ".k"), ("A", "k"), ("a", ".."), ("a", "..k"), ("a", "."), ("a", "k\n"), ("a", "a b"), ("a", "-_.K"),
            )),
            {"name": "A", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}, "fieldRef": {"fieldPath": "a"}}},
        )),
        {"set": [{"name": "A", "value": "1"}], "add": [{"name": "A", "value": "1"}]},
        {"set": [{"name": "A", "value": "1"}], "remove": ["A"]}, {"add": [{"name": "A", "value": "1"}] * 33},
        {"set": [{"name": f"A{n}", "value": "1"} for n in range(32)], "add": [{"name": "B", "value": "1"}]},
    ),
    "affinity": (
        {}, {"nodeAffinity": {}}, {"nodeAffinity": {"required": []}}, {"podAffinity": {"preferred": []}},
        *({"nodeAffinity": {"required": [each]}} for each in (
            {"key": "a", "operator": "In", "values": ["b"]}, {"key": "a", "operator": "Exists"},
            {"key": "a", "operator": "In"}, {"key": "a", "operator": "Gt", "values": ["1"]}, {"key": "a b", "operator": "Exists"},
        )),
        *({"nodeAffinity": {"preferred": [{"weight": weight, "matchExpressions": listed}]}} for weight, listed in (
            (1, [{"key": "a", "operator": "Exists"}]), (0, [{"key": "a", "operator": "Exists"}]), (1, []),
            (101, [{"key": "a", "operator": "Exists"}]), (1, [{"key": "a", "operator": "In", "values": ["b c"]}]),
        )),
        *({near: {"required": [each]}} for near in ("podAffinity", "podAntiAffinity") for each in (
            {"topologyKey": "zone", "labelSelector": {}}, {"topologyKey": "", "labelSelector": {}}, {"topologyKey": "zone"},
            {"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "b c"}}}, {"topologyKey": "a b", "labelSelector": {}},
        )),
        {"podAffinity": {"preferred": [{"weight": 3, "topologyKey": "zone", "labelSelector": {}}]}},
        {"podAffinity": {"preferred": [{"topologyKey": "zone", "labelSelector": {}}]}},
    ),
    "topologySpreadConstraints": (
        {}, {"add": []}, *({"add": [{"topologyKey": "zone", "labelSelector": {}} | each]} for each in (
            {}, {"maxSkew": 0}, {"maxSkew": 2, "whenUnsatisfiable": "DoNotSchedule"}, {"topologyKey": "a b"},
            {"whenUnsatisfiable": "Never"}, {"matchLabelKeys": ["a"]}, {"matchLabelKeys": ["a b"]}, {"matchLabelKeys": [""]},
        )),
        {"add": [{"topologyKey": "zone"}]},
    ),
    "securityContext": (
        {}, {"pod": {}}, {"container": {}}, {"pod": {"runAsNonRoot": True}}, {"pod": {"runAsUser": -1}},
        {"pod": {"fsGroup": 2**31 - 1}}, {"pod": {"fsGroup": 2**31}}, {"pod": {"privileged": True}},
        {"container": {"privileged": False}}, {"container": {"capabilities": {"drop": []}}}, {"container": {"capabilities": {}}},
        {"container": {"capabilities": {"drop": ["ALL"]}}}, {"container": {"seccompProfile": {"type": "Localhost"}}},
        {"containers": ["a"]}, {"pod": {"runAsUser": "1"}}, {"pod": {}, "container": {"runAsUser": 1}},
    ),
    "priorityClassName": NAMES,
    "schedulerName": NAMES,
    "imagePullPolicy": (
        {}, {"set": "Always"}, {"set": "always"}, {"set": "Never", "containers": ["a*"]},
        {"set": "Never", "containers": []},
    ),
    "imagePullSecrets": (
        {}, {"add": []}, {"add": ["a"]}, {"add": ["A"]}, {"remove": ["a"]}, {"add": ["a"] * 17},
        {"add": ["a"], "remove": ["b"]}, {"add": ["a"], "remove": ["a"]},
    ),
}  # fmt: skip


COMPARED: tuple[Json, ...] = (
    {}, {"values": ["x"]}, {"values": []}, {"amount": "1Gi"}, {"values": ["x"], "amount": "1"},
)  # fmt: skip


CONDITIONS: tuple[Any, ...] = (
    *({"field": field, "operator": "Exists"} for field in (
        "hostNetwork", "metadata.labels[app.kubernetes.io/name]", "containers[*].ports[*].hostPort", "a.", ".a", "",
        "containers[name=app].image", "a[b", "a[]", "a[*", "containers[0].image", "containers[app]",
        "volumes[a].name", "containers[*].env[A]", "a.env[0]", "myenv[0]", "labels[0]", "metadata.labels[0]", "env.a[0]", "a\n", "a" * 254, "volumes[*].hostPath.path", "a b", "ä",
    )),
    *({"field": "a", "operator": operator, **more} for operator in ("In", "NotIn", "Exists", "DoesNotExist", "Above", "Below", "Is")
      for more in COMPARED),
    *({"field": "a", "operator": "Above", "amount": each} for each in QUANTITIES),
    {"field": "a", "operator": "In", "values": [""]}, {"operator": "Exists"}, {"field": "a"},
    {"field": "a", "operator": "In", "values": ["x"] * 65}, {"field": "a", "operator": "Exists", "not": 1},
)  # fmt: skip


GLOBS: tuple[Any, ...] = (
    ["*"],
    [],
    [""],
    ["x" * 253],
    ["x" * 254],
    ["*"] * 64,
    ["*"] * 65,
    "x",
    [1],
)


def specs() -> Iterator[Json]:
    """Every part once by itself, and some by dice together."""
    one = {"labels": {"set": {"team": "a"}}}
    yield from (
        {"mutations": [{verb: each}]}
        for verb in ("labels", "annotations", "nodeSelector")
        for each in TEXTS
    )
    yield from (
        {"mutations": [{verb: each}], "applyTo": "template"}
        for verb in OTHERS
        for each in OTHERS[verb]
    )
    yield {"mutations": [{"selectors": {"set": {"app": "b"}}}]}
    yield from (
        {"when": {"windows": each}, "mutations": [one]}
        for each in (
            [], [{"from": "22:00", "to": "06:00"}], [{"from": "24:00", "to": "06:00"}], [{"from": "22:00"}],
            [{"from": "22:00", "to": "06:00", "days": ["Mon"]}], [{"from": "22:00", "to": "06:00", "days": ["Day"]}],
        )
    )  # fmt: skip
    yield from ({"when": each, "mutations": [one]} for each in ({}, {"season": "peak"}))
    yield from ({"applyTo": each, "mutations": [one]} for each in ("pod", "Template", ""))
    resources: list[Any] = [{"requests": {"cpu": each}} for each in AMOUNTS]
    resources += [
        {"limits": {"cpu": {"ratioOfLimit": 0.5}}}, {"limits": {"ephemeral-storage": {"ratioOfLimit": 0.5}}},
        {"limits": {"cpu": {"value": "1"}}, "requests": {"cpu": {"ratioOfLimit": 0.5}}},
        {}, {"requests": {}}, {"limits": {}, "requests": {"cpu": {"value": "1"}}},
        {"requests": {"gpu": {"value": "1"}}}, {"limits": {"ephemeral-storage": {"value": "1Gi"}}},
        {"requests": {"cpu": {"value": "1"}}, "qos": "Change"},
        {"requests": {"cpu": {"value": "1"}}, "qos": "Best"},
        *({"requests": {"cpu": {"value": "1"}}, "containers": each} for each in GLOBS),
    ]  # fmt: skip
    yield from ({"mutations": [{"resources": each}]} for each in resources)
    fields = [
        ("podSelector", SELECTORS), ("namespaceSelector", SELECTORS[:6]), ("names", GLOBS),
        ("images", (*GLOBS[:5], *([each] for each in REPOSITORIES))),
        ("ownerKinds", (*GLOBS[:5], ["Job", "job"], ["[A-D]*Set"], ["?ob"])), ("users", GLOBS[:5]),
        ("percent", (0, 10, 100, 101, -1, "10", 1.5)),
        ("fields", tuple([each] for each in CONDITIONS)),
        ("annotations", ({"a": "*"}, {"a b": "*"}, {"a": ""}, {"example.org/a": "x*"}, {"a": 1}, {})),
    ]  # fmt: skip
    for field, values in fields:
        yield from ({"match": {field: each}, "mutations": [one]} for each in values)
    yield from ({"mode": mode, "mutations": [one]} for mode in ("Apply", "Preview", "", "apply"))
    yield from ({"mutations": [one] * count} for count in (0, 32, 33))
    yield from ({}, {"mutations": [{}]}, {"mutations": [one | {"annotations": TEXTS[0]}]})
    yield from (
        {"tokens": each, "mutations": [one]}
        for each in (
            [], [{"key": "nemu_a", "value": "b"}], [{"key": "a", "value": "b"}], [{"key": "nemu_a", "value": ""}],
            [{"key": "nemu_a\n", "value": "b"}], [{"key": "nemu_image_host:5000/a@b", "value": "x" * 1024}],
            [{"key": "nemu_a"}], [{"key": "nemu_a", "value": "x" * 1025}], [{"key": "nemu_a", "value": "b"}] * 65,
        )
    )  # fmt: skip
    dice = random.Random(7)
    for _ in range(60):
        verbs = {"labels": TEXTS[:6], "resources": resources, "annotations": TEXTS[:6]}
        verb = dice.choice(list(verbs))
        yield {
            "match": {"podSelector": dice.choice(SELECTORS), "names": dice.choice(GLOBS[:4])},
            "mutations": [{verb: dice.choice(verbs[verb])}, one],
        }
