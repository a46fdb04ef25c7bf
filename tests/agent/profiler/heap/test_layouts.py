import pytest
from nemutator_agent.profiler.heap.layouts import Layout, UnknownLayoutError, layout_of


@pytest.mark.parametrize(
    ("version", "layout"),
    [
        ("go1.18", Layout(4, 0)),
        ("go1.19.8", Layout(4, 1)),
        ("go1.26.8 X:nodwarf5", Layout(4, 1)),
        ("go1.27rc1", Layout(2, 1)),
        ("go1.99", Layout(2, 1)),
    ],
)
def test_each_version_has_its_layout(version: str, layout: Layout) -> None:
    assert layout_of(version) == layout


@pytest.mark.parametrize(
    ("version", "named"),
    [
        ("go1.17.13", "Go 1.17 is older"),
        ("", "'' is no release"),
        ("devel go1.27-abc", "'devel go1.27-abc' is no release"),
        ("go1.1234", "is no release"),
    ],
)
def test_what_is_not_known_is_named(version: str, named: str) -> None:
    with pytest.raises(UnknownLayoutError, match=named):
        layout_of(version)
