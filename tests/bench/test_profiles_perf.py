from tests.bench.profiles_perf import samples

PRINTED = """\
12145 14708.034536:
	          2bbd73 gc_collect_main (/usr/lib/my program)
	              1d [unknown] ([unknown])

18590 14708.044603:
	          198a24 [unknown] (/usr/bin/go kinds)
"""


def test_each_sample_has_its_process_its_time_and_its_frames() -> None:
    first, second = samples(PRINTED.splitlines())
    assert first == (12145, 14708.034536, [(0x2BBD73, "/usr/lib/my program"), (0x1D, "[unknown]")])
    assert second == (18590, 14708.044603, [(0x198A24, "/usr/bin/go kinds")])


def test_what_has_no_frames_is_a_sample_too() -> None:
    assert list(samples(["7 1.5: ", ""])) == [(7, 1.5, [])]
