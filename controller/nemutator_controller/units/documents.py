"""What sizing a unit answers."""

from dataclasses import dataclass

from nemutator_common import names

from nemutator_controller.units.unit_plans import SizedUnit, UnitValue


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedUnitDocument:
    apiVersion: str = names.API_VERSION  # noqa: N815 - Kubernetes spells it so
    kind: str = "SizedUnit"
    unit: str
    outcome: str
    id: str
    """Of the mutation; empty when nothing was changed."""
    file: str
    before: str | None
    """The content of that file before; null without one."""
    content: str
    values: tuple[UnitValue, ...]
    warnings: tuple[str, ...]


def sized_unit(sized: SizedUnit) -> SizedUnitDocument:
    plan = sized.plan
    return SizedUnitDocument(
        unit=plan.unit,
        outcome=sized.outcome,
        id=sized.decision,
        file=plan.file,
        before=plan.before[0] if plan.before else None,
        content=plan.content,
        values=plan.values,
        warnings=plan.warnings,
    )
