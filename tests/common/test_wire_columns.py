from nemutator_common.wire import Summary
from nemutator_common.wire_columns import MAGIC, POINT_COLUMNS, PREFIX, RecordHead, arrays_size

from tests.fakes.batches import NOW, busy_report


def test_each_column_is_a_field_of_a_summary() -> None:
    assert set(POINT_COLUMNS) <= set(Summary.__slots__)


def test_a_prefix_is_aligned_for_numbers() -> None:
    assert PREFIX.size == 12
    assert len(MAGIC) == 4


def test_the_arrays_of_a_record_have_a_number_and_two_times_and_columns() -> None:
    head = RecordHead(
        taken_at=NOW, machine=busy_report().machine, workloads=1, processes=0, missing=0,
        points=10, columns=("cpu_cores", "memory_bytes"),
    )  # fmt: skip
    assert arrays_size(head) == 10 * (4 + 8 + 8 + 8 + 8)
