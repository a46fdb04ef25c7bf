"""The tokens of the agents of `brain-scale`, signed with a key that its API server publishes.

Each is bound to a pod that is on the agent's node in any case: the cluster of the bench has no others.
"""

import functools
import time

from cryptography.hazmat.primitives.asymmetric import ec
from nemutator_controller.kube.reviews import PublishedKeys

from tests.bench import brain_scale_shape as shape
from tests.fakes.issuers import Issuer, claims, token

LASTS_S = 86_400
KEY = ec.derive_private_key(7, ec.SECP256R1())
"""The same in each process of the bench; it is nobody's secret."""


@functools.cache
def token_of(node: int) -> str:
    """*mark* is for reviews: whoever makes them does not look at signatures."""
    pod = shape.pods_of(node)[0]
    workload = pod // shape.PODS_PER_WORKLOAD
    now = time.time()
    bound = {
        "namespace": f"team-{workload % shape.NAMESPACES}",
        "node": {"name": shape.node_name(node), "uid": f"uid-of-node-{node}"},
        "pod": {"name": f"app-{workload}-5d4f8c7b9-{pod}", "uid": shape.uid(pod)},
        "serviceaccount": {"name": "nemutator-agent", "uid": "account-uid"},
    }
    more = {"sub": shape.AGENT, "mark": shape.node_name(node), "exp": int(now) + LASTS_S}
    return token(KEY, {**claims(now=now), **more, "kubernetes.io": bound})


def published() -> PublishedKeys:
    return Issuer(KEY).published()
