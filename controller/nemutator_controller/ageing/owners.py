"""Whose process it is, on a machine outside of a cluster."""

from nemutator_controller.ageing.model import AgedWorkload, WindowSource

SHORT_ID = 12
"""Characters of a container's id that its runtime's own tools show."""

_UNITS = (".service", ".scope", ".socket", ".mount", ".swap")


class ByGroup:
    """`WorkloadOwners` by the path of the control group, all that is known there.

    The namespace is the path's first element, as everywhere off clusters.
    """

    def of(self, source: WindowSource) -> AgedWorkload | None:
        parts = [part for part in source.group.split("/") if part]
        if source.container_id is not None:
            kind, owner = "container", source.container_id[:SHORT_ID]
        elif parts and parts[-1].endswith(_UNITS):
            kind, owner = "unit", parts[-1]
        else:
            kind, owner = "group", parts[-1] if parts else "/"
        return AgedWorkload(parts[0] if parts else "/", kind, owner, "-", source.program)
