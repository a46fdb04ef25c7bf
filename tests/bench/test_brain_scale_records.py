from nemutator_common.shipping.report_columns import ReportColumns
from nemutator_common.wire import Ack, Report
from nemutator_common.wire_columns import COLUMNS_FORM

from tests.bench.brain_scale_agents import at, report_of
from tests.bench.brain_scale_records import made_record

POINTS = 4


def form() -> ReportColumns:
    made = ReportColumns()
    made.acknowledged(Ack("e1", 0, form=COLUMNS_FORM, only_containers=True))
    return made


def test_a_record_of_later_is_what_the_agent_would_make_then() -> None:
    base, now = report_of(7), 1.7e9
    anew, again = form(), form()
    first = made_record(again.record(at(base, now, POINTS)))
    for later in (now, now + 61.5, now + 3_600):
        wanted, found = anew.record(at(base, later, POINTS)), first.at(later)
        assert times_and_rest(again, found) == times_and_rest(anew, wanted)


def times_and_rest(form: ReportColumns, record: bytes) -> tuple[float, list[tuple[float, ...]]]:
    """When it was taken, and its points: the snapshot says by itself when it was made, and nobody looks."""
    report: Report = form.report(record)
    return made_record(record).head.taken_at, [
        (one.from_at, one.to_at, one.cpu_cores, float(one.memory_bytes)) for one in report.summaries
    ]
