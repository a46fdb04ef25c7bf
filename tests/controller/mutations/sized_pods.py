"""A pod and what its resources could be, for tests of resources."""

from hypothesis import strategies as st
from nemutator_controller.mutations.advisor import WithoutAdvice, WorkloadRef
from nemutator_controller.mutations.resources import Amount, Circumstances

from tests.controller.mutations.pods import Json

WEB = WorkloadRef("default", "Deployment", "web")
UNSTAMPED = Circumstances(WEB, WithoutAdvice("no advice has come from the brain yet"))


def pod(resources: Json, name: str = "app") -> Json:
    return {"spec": {"containers": [{"name": name, "resources": resources}]}}


amounts = st.sampled_from(["1m", "100m", "1", "7", "64Mi"])
wishes = st.one_of(
    amounts.map(lambda value: Amount(value=value)),
    st.sampled_from([0.1, 0.5, 1.0, 3.0]).map(lambda ratio: Amount(ratio=ratio)),
)
