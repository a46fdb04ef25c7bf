import msgspec
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.kube.objects import Container
from nemutator_controller.kube.runtime_flags import MOST, runtime_flags
from nemutator_controller.kube.workload_objects import TemplatePodSpec


def test_the_words_are_found_in_variables_options_and_commands() -> None:
    environment = [
        ("GOMEMLIMIT", "512MiB"),
        ("GOMAXPROCS", "4"),
        ("JAVA_TOOL_OPTIONS", "-Dpassword=secret -Xmx1g"),
        ("PASSWORD", "-Xmx9g"),
    ]
    words = ["sh", "-c", "exec java -XX:MaxRAMPercentage=75.0 -jar app.jar"]
    assert runtime_flags(environment, words) == (
        "GOMEMLIMIT=512MiB",
        "GOMAXPROCS=4",
        "-Xmx1g",
        "-XX:MaxRAMPercentage=75.0",
    )


def test_the_last_of_a_kind_comes_last() -> None:
    assert runtime_flags([], ["-Xmx1g", "-Xmx2g", "-Xmx1g"]) == ("-Xmx2g", "-Xmx1g")


def test_what_somebody_else_fills_in_is_not_known() -> None:
    assert runtime_flags([("GOMEMLIMIT", "$(LIMIT)"), ("GOMAXPROCS", "")], ["-Xmx$HEAP"]) == ()


def test_of_a_template_nothing_else_of_its_start_is_kept() -> None:
    reference = {"resourceFieldRef": {"resource": "limits.memory"}}
    document = {
        "name": "app",
        "image": "x",
        "env": [
            {"name": "TOKEN", "value": "secret"},
            {"name": "GOMAXPROCS", "value": "2"},
            {"name": "GOMEMLIMIT", "valueFrom": reference},
        ],
        "args": ["--password=secret"],
    }
    found = msgspec.convert({"containers": [document, {"name": "side"}]}, TemplatePodSpec)
    assert found.runtime == (("app", ("GOMAXPROCS=2",)),)
    assert found.containers == (Container(name="app", image="x"), Container(name="side"))
    assert "secret" not in repr(found)


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=60))), st.lists(st.text()))
def test_whatever_is_written_there_is_no_failure(
    environment: list[tuple[str, str]], words: list[str]
) -> None:
    assert len(runtime_flags(environment, words)) <= MOST
