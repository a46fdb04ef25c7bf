import math

import pytest
from nemutator_common.errors import OperatorError
from nemutator_ctl.inventory_answers import (
    ShownUse,
    cores,
    mebibytes,
    namespace_answer,
    node_answer,
    per_second,
    workload_answer,
)

from tests.ctl.inventories import namespaces, node, nodes, use, workload, workloads


def test_answers_are_read_with_what_a_later_brain_adds() -> None:
    assert node_answer(nodes(node("n1", later=1))).items[0].name == "n1"
    assert workload_answer(workloads(workload("web", later=1))).items[0].kind == "Deployment"
    assert namespace_answer(namespaces("shop")).items[0].quotas == {"q": {"cpu": "3 of 10"}}


@pytest.mark.parametrize("answer", [node_answer, workload_answer, namespace_answer])
@pytest.mark.parametrize("document", [None, [], {}, {"items": [{}]}, {"items": 3}])
def test_another_shape_is_one_message(answer: object, document: object) -> None:
    assert callable(answer)
    with pytest.raises(OperatorError, match="not understood"):
        answer(document)


def test_a_number_that_is_none_is_refused() -> None:
    with pytest.raises(OperatorError):
        node_answer(nodes(node("n1", used=use(math.nan, 1))))


def test_amounts_are_short_and_what_is_not_known_is_a_dash() -> None:
    assert (cores(ShownUse(0.25, None)), mebibytes(ShownUse(None, 3 << 20))) == ("250m", "3Mi")
    assert cores(ShownUse(None, None)) == mebibytes(ShownUse(None, None)) == "-"
    assert (per_second(None), per_second(2048.0), per_second(20 << 20)) == ("-", "2Ki/s", "20Mi/s")
