"""NodeOversells as a resource of the API server."""

from nemutator_controller.kube.resources import Resource
from nemutator_controller.oversell.model import GROUP, KIND, PLURAL, VERSION
from nemutator_controller.oversell.status_rows import NodeOversellObject

NODE_OVERSELLS = Resource(GROUP, VERSION, PLURAL, KIND, NodeOversellObject, namespaced=False)
