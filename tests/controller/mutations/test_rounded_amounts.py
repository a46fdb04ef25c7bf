"""A share of an amount is in the unit that people have written, and what is asked for is whole."""

import pytest
from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.mutations.advisor import Name
from nemutator_controller.mutations.rounded_amounts import share, whole_above, whole_below


@pytest.mark.parametrize(
    ("whole", "ratio", "part"),
    [
        ("1Gi", 0.8, "820Mi"),
        ("250m", 0.5, "125m"),
        ("1", 0.1, "100m"),
        ("3", 0.1, "300m"),
        ("100M", 0.5, "50M"),
        ("1e3", 0.5, "500"),
        ("-1Gi", 0.5, "-512Mi"),
    ],
)
def test_a_share_keeps_the_unit(whole: str, ratio: float, part: str) -> None:
    assert str(share(parse_quantity(whole), ratio)) == part


@pytest.mark.parametrize(
    ("wanted", "resource", "above", "below"),
    [
        ("1500u", "cpu", "2m", "1m"),
        ("1500m", "memory", "2", "1"),
        ("1Ki", "cpu", "1024", "1024"),
        ("1Gi", "memory", "1Gi", "1Gi"),
    ],
)
def test_what_is_asked_for_is_whole(wanted: str, resource: Name, above: str, below: str) -> None:
    amount = parse_quantity(wanted)
    assert str(whole_above(amount, resource)) == above
    assert str(whole_below(amount, resource)) == below
