import time

import msgspec
from nemutator_controller.access.bearers import Accounts
from nemutator_controller.access.signed_tokens import agent_of, unproven
from nemutator_controller.access.signing_keys import key_set
from nemutator_controller.kube.objects import Pod

from tests.bench import brain_scale_shape as shape
from tests.bench.brain_scale_tokens import published, token_of


def test_each_agent_of_the_bench_is_proven_and_bound_to_a_pod_of_its_node() -> None:
    keys = key_set(published().discovery, published().keys)
    for node in (0, 7, shape.NODES - 1):
        sent = unproven(token_of(node))
        assert sent is not None
        assert sent.is_signed_by(keys.keys[sent.key_id])
        accounts = Accounts(shape.AGENT, "nobody")
        agent = agent_of(sent.payload, accounts, issuer=keys.issuer, now=time.time())
        assert agent is not None
        number = shape.pods_of(node)[0]
        [line] = shape.pods(number, number + 1)
        pod = msgspec.json.decode(line, type=Pod)
        assert pod.is_running
        assert (agent.pod.namespace, agent.pod.name, agent.pod.uid, agent.pod.node) == (
            pod.metadata.namespace,
            pod.metadata.name,
            pod.metadata.uid,
            pod.spec.node_name,
        )
