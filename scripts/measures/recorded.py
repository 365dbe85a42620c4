"""A worker that writes down every process that it starts, and one that starts them again.

`record HOME STORE OUT` is a whole worker. `replay HOME STORE IN STEPS` is the engine alone: as many steps,
and in them the same programs with the same words, in the same order.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, Any, Final

sys.path[:0] = [str(Path(__file__).resolve().parents[place]) for place in (1, 2)]

from asbuilt.flows.engine.dbos import step  # noqa: E402 - the folders are on the path only now
from asbuilt.journal.ids import LOCAL  # noqa: E402
from measures.bare import Bare  # noqa: E402

_HOST: Final = "asbuilt.agents.host.main"
_LOOK_S: Final = 0.01
_LIMIT_S: Final = 120.0


def record(out: Path) -> None:
    """Let every process start be written down before it happens."""
    real = subprocess.Popen

    class Recorded(real):  # type: ignore[misc, valid-type]  # the class that it stands in for
        def __init__(self, args: Any, **options: Any) -> None:  # noqa: ANN401 - whatever Popen takes
            argv = [os.fsdecode(part) for part in args]
            folder = Path(argv[-1]) if _HOST in argv else None
            if folder is not None:
                shutil.copytree(folder, out.with_suffix(".hosts") / folder.name, symlinks=True)
            noted = {
                "argv": argv,
                "env": dict(options.get("env") or os.environ),
                "cwd": str(options.get("cwd") or "/"),
                "stdin": _given(options.get("stdin")),
                "fds": list(options.get("pass_fds", ())),
                "alone": bool(options.get("start_new_session")),
                "pid": os.getpid(),
                "folders": _folders([*argv, *(options.get("env") or {}).values()]),
                "host": str(folder) if folder else "",
            }
            with out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(noted) + "\n")
            super().__init__(args, **options)

    setattr(subprocess, "Popen", Recorded)  # noqa: B010 - a type cannot be assigned to


def _given(stdin: Any) -> str:  # noqa: ANN401 - whatever Popen takes
    """Read what a program is given, and put the place back."""
    if not hasattr(stdin, "read"):
        return ""
    file: IO[bytes] = stdin
    data = file.read()
    file.seek(0)
    return base64.b64encode(data).decode()


def _folders(words: list[str]) -> list[str]:
    """Name the folders that a command line counts on: some are made for it and gone afterwards."""
    paths = [word.rpartition("=")[2] for word in words if "/" in word and "\n" not in word]
    real = [path for path in paths if path.startswith("/") and len(path) < 4_000]
    return sorted({path if Path(path).is_dir() else str(Path(path).parent) for path in real})


def reserve(numbers: list[int]) -> None:
    """Keep descriptor numbers out of use: a database would be closed with its number."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number in numbers:
        os.dup2(nothing, number)
    if nothing not in numbers:
        os.close(nothing)


def start(noted: dict[str, Any], hosts: Path) -> int:
    """Start a program as it was started, and wait for its end."""
    for folder in noted["folders"]:
        if folder.startswith(tempfile.gettempdir()):
            Path(folder).mkdir(parents=True, exist_ok=True)
    if noted["host"]:
        shutil.copytree(hosts / Path(noted["host"]).name, noted["host"], symlinks=True, dirs_exist_ok=True)
    argv = [str(os.getpid()) if part == str(noted["pid"]) else part for part in noted["argv"]]
    ends: list[int] = []
    for number in noted["fds"]:
        ours, theirs = os.pipe()
        os.dup2(theirs, number, inheritable=True)
        ends += [ours, theirs]
    done = subprocess.run(
        argv,
        env=noted["env"],
        cwd=noted["cwd"],
        input=base64.b64decode(noted["stdin"]),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=noted["alone"],
        pass_fds=noted["fds"],
        check=False,
    )
    for end in ends:
        os.close(end)
    reserve(noted["fds"])
    result, until = Path(noted["host"] or "/") / "result.json", time.monotonic() + _LIMIT_S
    while noted["host"] and not result.exists() and time.monotonic() < until:
        time.sleep(_LOOK_S)
    return done.returncode


def main() -> None:
    """Be one of the two workers."""
    kind, home, where, file = sys.argv[1], sys.argv[2], sys.argv[3], Path(sys.argv[4])
    if kind == "record":
        record(file)
        sys.argv = ["worker", home, where]
        from tests.journeys import worker  # noqa: PLC0415 - what it starts is to be seen

        worker.main()
        return
    steps = int(sys.argv[5])
    starts = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    hosts = file.with_suffix(".hosts")
    reserve(sorted({number for noted in starts for number in noted["fds"]}))

    def segment(org: str, repo: str, run: str, n: int) -> None:
        del org, repo, run, n
        done = 0
        for number in range(1, steps + 1):
            upto = len(starts) * number // steps
            step(f"step {number}", lambda some: [start(one, hosts) for one in some], starts[done:upto])
            done = upto

    engine = Bare(where, Path(home), worker="bare")
    engine.launch(segment)
    began = time.monotonic()
    engine.begin("replay", (LOCAL, "", "", 1)).get_result(polling_interval_sec=0.05)
    file.with_suffix(".took").write_text(f"{time.monotonic() - began}", encoding="ascii")
    engine.close()


if __name__ == "__main__":
    main()
