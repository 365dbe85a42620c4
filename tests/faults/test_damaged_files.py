from __future__ import annotations

import json
import os
import random
import shutil
import signal
from typing import TYPE_CHECKING

import pytest

from asbuilt.events.attempts import AttemptEnded
from asbuilt.events.runs import TroubleMet
from tests.journeys.shop import LONG, SCRIPT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.faults.plant import Plant

pytestmark = pytest.mark.crash
SEEDS = range(8 if LONG else 1)


def _chance(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311


def emptied(file: Path) -> None:
    os.truncate(file, 0)


def halved(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def cut_short(file: Path) -> None:
    os.truncate(file, 60)


def turned_to_noise(file: Path) -> None:
    """Overwrite all of it where it lies, as a disk does."""
    with file.open("r+b") as opened:
        opened.write(_chance(1).randbytes(file.stat().st_size))


def flipped(file: Path, *, seed: int = 1) -> None:
    """Turn one bit over."""
    data = bytearray(file.read_bytes())
    at = _chance(seed).randrange(len(data))
    data[at] ^= 1 << at % 8
    with file.open("r+b") as opened:
        opened.write(data)


def lost(file: Path) -> None:
    file.unlink()


def without_its_log(file: Path) -> None:
    for ending in ("-wal", "-shm"):
        file.with_name(file.name + ending).unlink(missing_ok=True)


OF_DATABASES: tuple[Callable[[Path], None], ...] = (emptied, halved, cut_short, turned_to_noise)


COMMANDS = (("status", "plan"), ("worker", "--foreground"), ("run", "plan"), ("doctor",))


def _kept(plant: Plant, name: str) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in plant.home.glob(f"{name}*") if file.suffix != ".db-shm"}


def test_a_damaged_journal_is_refused_with_the_way_back_and_never_written_over(plant: Plant) -> None:
    run = plant.parked()
    plant.kill()
    plant.store.close()
    whole = _kept(plant, "journal.db")
    for damage in OF_DATABASES if LONG else (emptied, turned_to_noise):
        damage(plant.home / "journal.db")
        without_its_log(plant.home / "journal.db")
        damaged = _kept(plant, "journal.db")
        for command in COMMANDS if LONG else COMMANDS[:2]:
            said = plant.typed(*command)
            assert said.code == 1, (damage, command, said)
            assert "is damaged" in said.words, (damage, command, said)
            assert "restore a copy" in said.words, (damage, command, said)
        assert _kept(plant, "journal.db") == damaged, damage
        for name, data in whole.items():
            (plant.home / name).write_bytes(data)
    assert plant.typed("run", "plan").code == 0
    plant.landed(run)


def test_a_journal_that_lost_its_log_and_with_it_its_tables_is_not_made_anew(plant: Plant) -> None:
    run = plant.parked()
    plant.kill()
    whole = _kept(plant, "journal.db")
    plant.store.close()
    (plant.home / "journal.db").write_bytes(whole["journal.db"])
    without_its_log(plant.home / "journal.db")
    said = plant.typed("run", "plan")
    assert (said.code, "its tables are gone" in said.words) == (1, True)
    for name, data in whole.items():
        (plant.home / name).write_bytes(data)
    assert plant.typed("run", "plan").code == 0
    plant.landed(run)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("damage", (halved, emptied, flipped, lost) if LONG else (flipped,))
def test_a_damaged_blob_is_found_by_its_digest_and_the_run_waits_in_words(
    plant: Plant, damage: Callable[[Path], None], seed: int
) -> None:
    run = plant.parked()
    plant.kill()
    blobs, away = plant.home / "blobs", plant.home.parent / "blobs.away"
    shutil.copytree(blobs, away)
    chosen = _chance(seed).choice(sorted(blobs.glob("??/*")))
    for file in blobs.glob("??/*") if seed == 0 else [chosen]:
        flipped(file, seed=seed) if damage is flipped else damage(file)
    said = plant.typed("status", "plan")
    assert "bug in asbuilt" not in said.words, said
    plant.start()
    plant.hasten(run)
    plant.until(lambda: plant.events(TroubleMet) or plant.run(run).is_over)
    shutil.rmtree(blobs)
    shutil.copytree(away, blobs)
    plant.hasten(run)
    plant.landed(run)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("damage", [halved, flipped] if LONG else [halved])
def test_a_plan_damaged_while_its_run_waits_is_never_landed_over(
    plant: Plant, damage: Callable[[Path], None], seed: int
) -> None:
    run = plant.parked()
    plan = plant.checkout / "plan.md"
    flipped(plan, seed=seed) if damage is flipped else os.truncate(plan, _chance(seed).randrange(400))
    left = plan.read_bytes()
    assert plant.before is not None
    plant.before.announce("plan.md")
    plant.typed("run", "plan")
    state, reason = plant.over(run)
    assert state in ("landed", "failed")
    assert "broke off" not in reason
    if state == "failed":
        assert plan.read_bytes() == left
        assert plant.log() == ["start"]
        plant.git("checkout", "--", "plan.md")
        plant.before.announce("plan.md")
        assert plant.typed("land", "plan").code == 0
    assert plant.log()[-2:] == ["Greet", "start"]


OF_ATTEMPTS = ("brief.json", "host.json", "beat", "starts", "events.jsonl")


@pytest.mark.parametrize("torn", [*((name,) for name in OF_ATTEMPTS), OF_ATTEMPTS] if LONG else [OF_ATTEMPTS])
def test_torn_files_of_an_attempt_cost_a_start_at_most(plant: Plant, torn: tuple[str, ...]) -> None:
    plant.turn('phase = "1"\nrole = "implement"', '{ say = "here" }', "{ hang = true }")
    plant.lands("greet.py", "plan.md")
    run = plant.request(mode="phase")
    plant.start()
    folder = plant.attempt(run, "1.1")
    events = folder / "events.jsonl"
    plant.until(lambda: events.exists() and b'"said"' in events.read_bytes())
    host = int(json.loads((folder / "host.json").read_bytes())["pid"])
    for name in torn:
        halved(folder / name)
    assert plant.typed("status", "plan").code == 0
    plant.script.write_text(SCRIPT, encoding="utf-8")
    os.kill(host, signal.SIGKILL)
    plant.landed(run)


def test_a_torn_result_is_a_crash_and_another_attempt_lands(plant: Plant) -> None:
    plant.turn('phase = "1"\nrole = "implement"', "{ sleep = 2 }", '{ say = "done" }')
    plant.lands("greet.py", "plan.md")
    run = plant.request(mode="phase")
    plant.start()
    folder = plant.attempt(run, "1.1")
    plant.until((folder / "host.json").exists)
    plant.kill()
    plant.until((folder / "result.json").exists)
    halved(folder / "result.json")
    plant.script.write_text(SCRIPT, encoding="utf-8")
    plant.start()
    plant.landed(run)
    assert [event.ending for event in plant.events(AttemptEnded)] == ["crashed", "done"]
