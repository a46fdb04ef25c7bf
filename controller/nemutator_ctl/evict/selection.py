"""Which pods are meant, as a selector: by what people say, and by the grade that the brain has written on them."""

from nemutator_common import names

WORST = 4
"""The highest grade."""


def selector_of(labels: str, least_grade: int | None) -> str:
    """*labels*, and of aggressors those of at least that grade."""
    if least_grade is None:
        return labels
    grades = ",".join(map(str, range(least_grade, WORST + 1)))
    return ",".join(filter(None, (labels, f"{names.AGGRESSOR_NOW} in ({grades})")))
