"""Patches whose texts a server compares as it has written them itself."""

import json

from nemutator_controller.kube.objects import Object
from nemutator_controller.kube.resources import Resource

from tests.contract.kube.conftest import Client
from tests.contract.kube.places import Place

MAPS: Resource[Object] = Resource("", "v1", "configmaps", "ConfigMap", Object)


async def test_a_patch_tests_texts_of_any_letters(client: Client, place: Place) -> None:
    here = place.namespace
    text = 'http://x/?a=1&b=<2>\u2028\u2029\b\f\x01\x7f\\ "é'
    maps = {"metadata": {"name": "odd"}, "data": {"url": text, "json": '{"a&b": "<>"}'}}
    await client.write.create(MAPS, here, maps)
    operations: list[dict[str, object]] = [
        {"op": "test", "path": "/data", "value": maps["data"]},
        {"op": "test", "path": "/data/url", "value": text},
        {"op": "replace", "path": "/data/url", "value": f"{text}&"},
        {"op": "test", "path": "/data/url", "value": f"{text}&"},
    ]
    await client.write.json_patch(MAPS, here, "odd", operations)
    raw = json.loads(await client.read.raw(MAPS, here, "odd"))
    assert raw["data"] == {**maps["data"], "url": f"{text}&"}
