"""A custom resource for the suite: what the server knows of it is its CustomResourceDefinition."""

from typing import Any, Final

from nemutator_controller.kube.objects import Object
from nemutator_controller.kube.resources import Resource

from tests.contract.kube.waiting import until
from tests.fakes.kube.conversation import Conversation

Json = dict[str, Any]

GROUP: Final = "contract.nemutator.io"
RESOURCE: Final = Resource(GROUP, "v1", "gadgets", "Gadget", Object)

_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"gadgets.{GROUP}"},
    "spec": {
        "group": GROUP,
        "scope": "Namespaced",
        "names": {
            "kind": "Gadget",
            "listKind": "GadgetList",
            "plural": "gadgets",
            "singular": "gadget",
        },
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": True,
                    }
                },
            }
        ],
    },
}


def gadget(name: str, **spec: object) -> Json:
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "Gadget",
        "metadata": {"name": name},
        "spec": spec,
    }


async def define_gadgets(api: Conversation) -> None:
    """Have them served; on a real server they may be already, and stay."""
    code, answer = await api.ask("POST", _DEFINITIONS, _DEFINITION)
    assert code in (201, 409), answer

    async def served() -> bool:
        # Until then it is text, `404 page not found`.
        return await api.code("GET", f"/apis/{GROUP}/v1/gadgets") == 200

    await until(served, "the server serves gadgets")
