"""The policies that the guide recommends are policies, and the grades in them are those that the brain writes."""

import re

import yaml
from nemutator_common import names
from nemutator_controller.policies.model import policy_from_document
from nemutator_controller.policies.season_policies import SEASON_KIND, season_policy_of

from tests.house.tree import REPOSITORY


def test_the_policies_of_the_guide_have_no_faults() -> None:
    text = (REPOSITORY / "docs" / "neighbours.md").read_text()
    documents = [yaml.safe_load(each) for each in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)]
    brains = [each for each in documents if each["kind"] == SEASON_KIND]
    found = [policy_from_document(each) for each in documents if each not in brains]
    assert [each.name for each in found] == ["batch-away-from-victims", "aggressors-to-the-pool"]
    assert all(each.actions for each in found)
    assert str(names.VICTIM_NOW) in str(documents[0])
    [brain] = [season_policy_of(each["metadata"]["name"], each["spec"]) for each in brains]
    assert brain.spec.aggressors is not None
    assert brain.spec.aggressors.mode == "Preview"
