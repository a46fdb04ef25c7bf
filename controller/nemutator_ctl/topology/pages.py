"""The topology of any number of nodes, page by page: all of it at once may be 600 MB."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nemutator_ctl.answers import not_understood
from nemutator_ctl.api import Api
from nemutator_ctl.nodes import TOPOLOGY_PATH, ShownNode, decode


@dataclass(frozen=True, slots=True)
class TopologyPage:
    document: dict[str, Any]
    nodes: Sequence[ShownNode]

    @property
    def found(self) -> Sequence[ShownNode]:
        """Those of the nodes where there is what was asked for."""
        return [node for node in self.nodes if node.workloads or node.processes]


class Seen:
    """What there is in all pages, without the pages."""

    def __init__(self) -> None:
        self.any_node = False
        self.anything = False
        """Whether there was what was asked for on some node."""
        self.namespaces: set[str] = set()

    def take(self, document: dict[str, Any]) -> TopologyPage:
        page = TopologyPage(document, decode(document))
        self.any_node = self.any_node or bool(page.nodes)
        self.anything = self.anything or bool(page.found)
        for node in page.nodes:
            self.namespaces.update(node.namespaces)
        return page


NOT_PAGED = "not a page of a topology"


def pages(api: Api, query: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """The pages as the brain answers them; an older brain answers with one, which has everything."""
    after = ""
    while True:
        page = api.get(TOPOLOGY_PATH, {**query, "continue": after} if after else query)
        if not isinstance(page, dict):
            raise not_understood(NOT_PAGED)
        following = page.get("next", "")
        # Nodes come in the order of their names: otherwise this would never end.
        if not isinstance(following, str) or (following and following <= after):
            raise not_understood(NOT_PAGED)
        yield page
        if not following:
            return
        after = following
