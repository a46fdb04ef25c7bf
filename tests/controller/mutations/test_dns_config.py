"""Options of the resolver are set, or added where the pod has none of that name."""

from nemutator_controller.mutations.dns_config import DnsConfig, ResolverOptions, apply, faults
from nemutator_controller.mutations.edits import Draft


def test_options_are_found_by_their_names() -> None:
    options = [{"name": "ndots", "value": "5"}, {"name": "timeout", "value": "3"}]
    draft = Draft({"spec": {"dnsConfig": {"options": options}}}, "Pod")
    wanted = ResolverOptions(
        set={"ndots": "2", "rotate": ""}, add={"timeout": "1", "attempts": "2"}
    )
    apply(draft, DnsConfig(options=wanted), policy="p")
    assert sorted(
        draft.manifest["spec"]["dnsConfig"]["options"], key=lambda each: each["name"]
    ) == [
        {"name": "attempts", "value": "2"},
        {"name": "ndots", "value": "2"},
        {"name": "rotate"},
        {"name": "timeout", "value": "3"},
    ]


def test_nothing_is_a_fault() -> None:
    assert list(faults(DnsConfig())) == ["options: name at least one in set or add"]
    assert list(faults(DnsConfig(options=ResolverOptions(add={"a": ""})))) == []
