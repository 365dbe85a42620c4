"""`bug-report` packs what is needed, masked, says what is in it, and sends nothing."""

from __future__ import annotations

import io
import json
import re
import socket
import tarfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from inline_snapshot import snapshot

from asbuilt.events.attempts import AttemptEnded
from asbuilt.git.identity import ensure_identity
from asbuilt.git.repository import open_repository
from asbuilt.journal.database.schema import STEPS
from asbuilt.journal.database.sqlite import SqliteStore
from asbuilt.journal.events import append, open_plan
from asbuilt.journal.home import open_home
from asbuilt.journal.ids import LOCAL, Address
from tests.git.shop import make_shop

if TYPE_CHECKING:
    from collections.abc import Callable

TOKEN = "ghp_" + "a1B2" * 9
SECRET = "not-for-you-4711"  # noqa: S105 - planted


@pytest.fixture
def shop(tmp_path: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a real repository, in the home of somebody called ada."""
    monkeypatch.setenv("HOME", environ["HOME"])
    environ |= {"USER": "ada", "MY_TOKEN": SECRET, "PATH": "/usr/bin:/bin"}
    (tmp_path / "work").mkdir()
    return make_shop(tmp_path / "work").root


@pytest.fixture
def state(environ: dict[str, str]) -> Path:
    return Path(environ["HOME"]) / ".local/state/asbuilt"


def _unpacked(bundle: Path) -> dict[str, str]:
    with tarfile.open(fileobj=io.BytesIO(bundle.read_bytes())) as archive:
        entries = archive.getmembers()
        assert {(entry.uid, entry.uname, entry.mtime) for entry in entries} == {(0, "", 0)}
        opened = {entry.name.partition("/")[2]: archive.extractfile(entry) for entry in entries}
        return {name: file.read().decode() for name, file in opened.items() if file is not None}


def _run_of_events(shop: Path, state: Path, count: int) -> None:
    repo = ensure_identity(open_repository(shop)).uuid
    with closing(SqliteStore(open_home(state).journal)) as store:
        store.migrate(STEPS)
        for plan, owner in (("plans/rate-limit.md", repo), ("plans/other.md", "elsewhere")):
            address = Address(LOCAL, owner, plan)
            with store.write() as session:
                open_plan(session, address, "plan")
                for number in range(count):
                    says = f"ada found {TOKEN} in {shop.parent.parent}/home/x"
                    ended = AttemptEnded(phase="1", number=number, ending="done", says=says)
                    append(session, address, ended, key=str(number), actor="ada")


def test_the_bundle_is_listed_and_nothing_is_sent(
    asbuilt: Callable[..., str], shop: Path, state: Path
) -> None:
    _run_of_events(shop, state, 3)
    (state / "worker.log").write_text("started\n")
    (state / "crashes").mkdir()
    (state / "crashes" / "1.log").write_text("Traceback\n")
    shown = asbuilt("doctor", "bug-report", "--to", "report.tar.gz")
    assert re.sub(r"\d+ kB", "[SIZE]", shown) == snapshot("""\
exit 0
--- stdout
Wrote report.tar.gz, [SIZE]:
  versions.json  asbuilt, Python, system, SQLite
  doctor.json    what asbuilt doctor says
  settings.json  every setting, and who set it
  journal.json   schema, and how many events of each kind
  events.jsonl   the last 3 events of this repository's plans
  worker.log     the end of the worker's log
  crash.log      the newest crash log
Masked: your home folder, user and host names, e-mail addresses, keys, tokens
and all that looks random. Nothing was sent.
--- stderr
Read it first: tar -xzOf report.tar.gz
""")


def test_nothing_private_is_in_the_bundle(
    asbuilt: Callable[..., str], shop: Path, state: Path, environ: dict[str, str]
) -> None:
    _run_of_events(shop, state, 3)
    (state / "worker.log").write_text(f"{SECRET} of Ada at {environ['HOME']}/x; ada@example.com\n")
    (shop / "asbuilt.toml").write_text(f'[checks]\ntests = "curl https://ada:{TOKEN}@db/x"\n')
    asbuilt("doctor", "bug-report", "--to", "report.tar.gz")
    files = _unpacked(shop / "report.tar.gz")
    assert sorted(files) == [
        "doctor.json",
        "events.jsonl",
        "journal.json",
        "settings.json",
        "versions.json",
        "worker.log",
    ]
    whole = "\n".join(files.values())
    host = socket.gethostname()
    assert [word for word in (TOKEN, SECRET, environ["HOME"], "example.com") if word in whole] == []
    assert (
        re.findall(rf"(?<![A-Za-z0-9])(?:ada|{re.escape(host)})(?![A-Za-z0-9])", whole, re.IGNORECASE) == []
    )
    assert files["worker.log"] == snapshot("[secret] of [user] at ~/x; [e-mail]\n")
    assert json.loads(files["settings.json"])["settings"]["checks.tests"] == snapshot(
        {"value": "curl https://[secret]@db/x", "origin": "asbuilt.toml:2"}
    )
    assert json.loads(files["journal.json"]) == {
        "schema": STEPS[-1].number,
        "events": {"attempt.ended": 6},
    }
    first = json.loads(files["events.jsonl"].splitlines()[0])
    first["at"] = first["data"]["says"] = "..."
    assert first == snapshot(
        {
            "plan": "plans/rate-limit.md",
            "seq": 1,
            "key": "0",
            "kind": "attempt.ended",
            "v": 1,
            "at": "...",
            "actor": "[user]",
            "data": {"phase": "1", "number": 0, "ending": "done", "says": "..."},
        }
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("notify.webhook", "https://hooks.example.org/T0/B0/word"),
        ("notify.slack", "https://hooks.example.org/T0/B0/word"),
        ("notify.ntfy", "https://ntfy.example.org/my-topic"),
        ("notify.quiet", "22:00-07:00"),
        ("store.url", "postgresql://127.0.0.1:1/ledger"),
    ],
)
def test_addresses_that_may_hold_a_login_are_masked_by_their_key_and_wherever_they_stand(
    asbuilt: Callable[..., str], shop: Path, state: Path, key: str, value: str
) -> None:
    asbuilt("config", "set", key, value, "--user")
    state.mkdir(parents=True, exist_ok=True)
    (state / "worker.log").write_text(f"posted to {value}\n")
    asbuilt("doctor", "bug-report", "--to", "report.tar.gz")
    files = _unpacked(shop / "report.tar.gz")
    assert json.loads(files["settings.json"])["settings"][key]["value"] == "[secret]"
    assert "://" not in value or value not in "\n".join(files.values())


def test_a_password_in_a_log_is_masked_in_every_form_that_a_command_gives_it(
    asbuilt: Callable[..., str], shop: Path, state: Path
) -> None:
    state.mkdir(parents=True)
    (state / "worker.log").write_text(
        "DB_PWD=hunter2 run\nmysql -phunter2 db\ncurl -u a:hunter2 x\nx --password hunter2\n"
        "x --password=hunter2\nmachine h login u password hunter2\nsshpass -p hunter2 ssh h\n"
        "PGPASSWORD=hunter2 psql\nAuthorization: Basic hunter2\ndocker login -p hunter2 h\n"
        'redis://:hunter2@h/0\n"client_secret": "hunter2"\n'
    )
    asbuilt("doctor", "bug-report", "--to", "report.tar.gz")
    assert _unpacked(shop / "report.tar.gz")["worker.log"] == (
        "DB_PWD=[secret] run\nmysql -p[secret] db\ncurl -u [secret] x\nx --password [secret]\n"
        "x --password=[secret]\nmachine h login u password [secret]\nsshpass -p [secret] ssh h\n"
        "PGPASSWORD=[secret] psql\nAuthorization: [secret]\ndocker login -p [secret] h\n"
        'redis://[secret]@h/0\n"client_secret": [secret]\n'
    )


def test_only_the_last_events_of_this_repository_are_quoted(
    asbuilt: Callable[..., str], shop: Path, state: Path
) -> None:
    _run_of_events(shop, state, 205)
    asbuilt("doctor", "bug-report", "--to", "report.tar.gz")
    lines = _unpacked(shop / "report.tar.gz")["events.jsonl"].splitlines()
    told = [json.loads(line) for line in lines]
    assert [one["data"]["number"] for one in told] == list(range(5, 205))
    assert {one["plan"] for one in told} == {"plans/rate-limit.md"}


def test_without_a_journal_there_is_less_to_tell(asbuilt: Callable[..., str], shop: Path) -> None:
    asbuilt("doctor", "bug-report", "--to", "report.tar.gz")
    assert sorted(_unpacked(shop / "report.tar.gz")) == ["doctor.json", "settings.json", "versions.json"]


def test_a_damaged_journal_is_reported_not_a_reason_to_stop(
    asbuilt: Callable[..., str], shop: Path, state: Path
) -> None:
    open_home(state).journal.write_bytes(b"not a database at all, but long enough to look like one" * 20)
    assert asbuilt("doctor", "bug-report", "--to", "report.tar.gz").startswith("exit 0\n")
    assert json.loads(_unpacked(shop / "report.tar.gz")["journal.json"]) == snapshot(
        {"trouble": "the journal ~/.local/state/asbuilt/journal.db is damaged: it is not a database any more"}
    )


def test_the_address_of_a_database_goes_without_its_password(asbuilt: Callable[..., str], shop: Path) -> None:
    url = "postgresql://keeper:hunter22@127.0.0.1:1/none"
    assert asbuilt("doctor", "bug-report", "--to", "report.tar.gz", ASBUILT_STORE_URL=url).startswith(
        "exit 0\n"
    )
    files = _unpacked(shop / "report.tar.gz")
    assert json.loads(files["settings.json"])["settings"]["store.url"] == snapshot(
        {"value": "[secret]", "origin": "ASBUILT_STORE_URL"}
    )
    assert [name for name, text in files.items() if "hunter22" in text or "keeper" in text] == []


def test_a_bundle_never_overwrites_a_file(asbuilt: Callable[..., str], shop: Path) -> None:
    (shop / "mine").write_text("mine")
    assert asbuilt("doctor", "bug-report", "--to", "mine") == snapshot("""\
exit 1
--- stderr
error: mine exists already
  Why:  Nothing is ever overwritten.
  Next: ${EDITOR:-vi} mine
        # or choose another name
""")
    assert (shop / "mine").read_text() == "mine"


def test_a_bundle_has_a_name_of_its_own_in_the_current_folder(
    asbuilt: Callable[..., str], shop: Path
) -> None:
    asbuilt("doctor", "bug-report")
    (made,) = shop.glob("*.tar.gz")
    assert re.fullmatch(r"asbuilt-bug-report-\d{8}T\d{6}Z\.tar\.gz", made.name)
