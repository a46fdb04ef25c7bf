import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.inspection.command_lines import LONGEST_SCRIPT, script_of


def told(program: str, line: str) -> str | None:
    return script_of(program, [word.encode() for word in line.split(" ")])


@pytest.mark.parametrize(
    ("program", "line", "script"),
    [
        ("/usr/bin/python3.11", "python3 /srv/shop/main.py --token hunter2", "/srv/shop/main.py"),
        ("/usr/bin/python3.11", "python3 -u -Wd -X dev manage.py runserver", "manage.py"),
        ("/usr/bin/python3.11", "/usr/bin/python3 -m gunicorn app:app", "-m gunicorn"),
        (
            "/usr/bin/node",
            "node --max-old-space-size=512 -r dotenv/config dist/api.js",
            "dist/api.js",
        ),
        ("/usr/bin/ruby3.1", "ruby -W0 -Ilib bin/rails server", "bin/rails"),
        ("/usr/bin/perl", "perl -wT /usr/sbin/amavisd", "/usr/sbin/amavisd"),
        ("/usr/bin/php8.2", "php -d memory_limit=1G -f cron.php", "-f cron.php"),
        ("/usr/bin/dash", "sh -eu -o pipefail /entrypoint.sh redis", "/entrypoint.sh"),
        (
            "/opt/jdk/bin/java",
            "java -Xmx1g -Dpassword=hunter2 -jar /app/shop.jar",
            "-jar /app/shop.jar",
        ),
        ("/opt/jdk/bin/java", "java -cp /app/* com.shop.Main hunter2", "com.shop.Main"),
        ("/usr/bin/dotnet", "dotnet /app/Shop.dll", "/app/Shop.dll"),
    ],
)
def test_the_script_of_an_interpreter_is_told(program: str, line: str, script: str) -> None:
    assert told(program, line) == script


@pytest.mark.parametrize(
    ("program", "line"),
    [
        # Code is no name.
        ("/usr/bin/python3", "python3 -c password='hunter2'"),
        ("/bin/bash", "bash -c hunter2"),
        ("/bin/bash", "bash -lc hunter2"),
        ("/usr/bin/node", "node -e hunter2"),
        ("/usr/bin/perl", "perl -e hunter2"),
        ("/usr/bin/ruby", "ruby -e hunter2"),
        ("/usr/bin/php", "php -r hunter2"),
        # What follows an option that is not known may be its value.
        ("/usr/bin/node", "node --password hunter2 api.js"),
        ("/usr/bin/python3", "python3 --password hunter2 main.py"),
        ("/opt/jdk/bin/java", "java -password hunter2 Main"),
        # A command of the interpreter's own, and not a script.
        ("/usr/bin/dotnet", "dotnet hunter2"),
        # Not an interpreter, whatever is linked into it; or one that calls itself another.
        ("/usr/bin/uwsgi", "python3 hunter2"),
        ("/usr/bin/python3", "app hunter2"),
        ("/usr/bin/mysql", "mysql hunter2"),
        # An address, an assignment, a template, a sentence.
        ("/usr/bin/python3", "python3 https://me:hunter2@example.test/x.py"),
        ("/usr/bin/python3", "python3 TOKEN=hunter2"),
        ("/usr/bin/python3", "python3 $hunter2"),
        ("/bin/bash", "bash /dev/fd/3"),
        ("/usr/bin/python3", "python3"),
        ("/usr/bin/python3", "python3 -m"),
        ("/usr/bin/python3", "python3 -"),
    ],
)
def test_nothing_else_of_a_command_line_is_told(program: str, line: str) -> None:
    assert told(program, line) is None


def test_a_word_that_is_too_long_is_not_told_in_part() -> None:
    assert script_of("python3", [b"python3", b"x" * (LONGEST_SCRIPT + 1)]) is None


PROGRAMS = ["python3", "node", "ruby", "perl", "php", "bash", "java", "dotnet", "app"]


@given(st.sampled_from(PROGRAMS), st.lists(st.binary(max_size=30), max_size=6))
def test_whatever_the_words_are_what_is_told_is_short_clean_and_one_of_them(
    program: str, words: list[bytes]
) -> None:
    script = script_of(program, [program.encode(), *words])
    if script is not None:
        assert script.isprintable()
        assert len(script) <= LONGEST_SCRIPT + len("--module ")
        assert script.rpartition(" ")[2].encode() in words


def test_without_words_nothing_is_told() -> None:
    assert script_of("python3", []) is None
