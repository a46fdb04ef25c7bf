"""The policies that the guide recommends are policies, and they name marks as the brain writes them."""

import re

import yaml
from nemutator_common import names
from nemutator_controller.policies.model import policy_from_document

from tests.house.tree import REPOSITORY


def test_the_policies_of_the_guide_have_no_faults() -> None:
    text = (REPOSITORY / "docs" / "placement.md").read_text()
    documents = [
        yaml.safe_load(each) for each in re.findall(r"```yaml\n(apiVersion.*?)```", text, re.DOTALL)
    ]
    found = [policy_from_document(each) for each in documents]
    assert [each.name for each in found] == [
        "shop-where-there-is-room",
        "batch-puts-up-with-pressure",
        "shop-near-whom-it-talks-to",
    ]
    assert str(names.PLACEMENT_GRADE) in str(documents[0])
