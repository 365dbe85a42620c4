"""Look at a page in Chromium: pictures in light and dark, wide and narrow, and what is wrong with it.

`just looks FILE [FOLDER]`. It speaks to the browser over a pipe, so nothing has to be installed but Chromium.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

if TYPE_CHECKING:
    from types import TracebackType

NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
SIZES: Final = {"wide": (1280, 900), "narrow": (360, 740)}
SCHEMES: Final = ("light", "dark")
_WIDEST: Final = Path(__file__).with_name("overflow.js").read_text(encoding="utf-8")


class Look(NamedTuple):
    """How a page looks at one size and in one scheme."""

    name: str
    png: bytes
    overflows: tuple[str, ...]
    """Pieces of the page that stick out of the screen."""


class Browser:
    """One Chromium without a window."""

    def __init__(self, program: str) -> None:
        self._ids = count(1)
        self._folder = tempfile.TemporaryDirectory(prefix="asbuilt-looks-", ignore_cleanup_errors=True)
        there, self._out = os.pipe()
        self._in, back = os.pipe()
        shell = 'exec "$0" "$@" 3<&"$IN" 4>&"$OUT"'
        flags = (
            "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
            "--remote-debugging-pipe", f"--user-data-dir={self._folder.name}", "about:blank",
        )  # fmt: skip
        self._process = subprocess.Popen(
            ["bash", "-c", shell, program, *flags],
            env={**os.environ, "IN": str(there), "OUT": str(back)},
            pass_fds=(there, back),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(there)
        os.close(back)
        self._read = os.fdopen(self._in, "rb")
        self._rest = b""
        self.said: list[dict[str, Any]] = []
        """What the page has told of itself: errors, requests, warnings."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.ask("Browser.close")
        self._process.wait(30)
        self._read.close()
        os.close(self._out)
        self._folder.cleanup()

    def ask(self, method: str, session: str | None = None, **params: object) -> dict[str, Any]:
        """Call a method of the browser and wait for its answer."""
        number = next(self._ids)
        call = {"id": number, "method": method, "params": params}
        if session:
            call["sessionId"] = session
        os.write(self._out, json.dumps(call).encode() + b"\0")
        while True:
            told = self._next()
            if told.get("id") == number:
                if "error" in told:
                    raise ValueError(f"{method}: {told['error']}")
                result: dict[str, Any] = told["result"]
                return result
            self.said.append(told)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            more = self._read.read1(1 << 20)
            if not more:
                raise ValueError("the browser is gone")
            self._rest += more
        told, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(told)
        return found

    def look(self, file: Path) -> tuple[list[Look], list[str]]:
        """Look at a file in every size and scheme: pictures, and what is wrong with it."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        session = str(self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable", session)
        self.said.clear()
        own = file.absolute().as_uri()
        looks = [self._look(session, own, size, scheme) for size in SIZES for scheme in SCHEMES]
        troubles = [
            json.dumps(one["params"])[:300]
            for one in self.said
            if one.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown", "Network.loadingFailed")
        ]
        asked = [one for one in self.said if one.get("method") == "Network.requestWillBeSent"]
        urls = {str(one["params"]["request"]["url"]) for one in asked} - {own}
        # A picture that the page carries itself is loaded too, and nobody is asked for it.
        troubles += [f"it asks for {url}" for url in sorted(urls) if not url.startswith("data:image/")]
        return looks, troubles

    def _look(self, session: str, own: str, size: str, scheme: str) -> Look:
        width, height = SIZES[size]
        self.ask(
            "Emulation.setDeviceMetricsOverride", session,
            width=width, height=height, deviceScaleFactor=1, mobile=width < 500,
        )  # fmt: skip
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.ask("Emulation.setEmulatedMedia", session, features=features)
        # A page may choose its colours with a script when it is loaded, and keep its choice.
        self._evaluate(session, "location.protocol === 'about:' || localStorage.clear()")
        self.ask("Page.navigate", session, url=own)
        self._evaluate(session, "new Promise(done => requestAnimationFrame(() => setTimeout(done, 300)))")
        overflows = tuple(self._evaluate(session, _WIDEST))
        shot = self.ask("Page.captureScreenshot", session, captureBeyondViewport=True)
        return Look(f"{size}-{scheme}", base64.b64decode(shot["data"]), overflows)

    def _evaluate(self, session: str, script: str) -> Any:  # noqa: ANN401 - whatever the page says
        asked = {"expression": script, "awaitPromise": True, "returnByValue": True}
        return self.ask("Runtime.evaluate", session, **asked)["result"].get("value")


def find_browser() -> str | None:
    """Find a Chromium; None when there is none."""
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def main(file: str, folder: str = "looks") -> int:
    """Take the pictures, and say what is wrong."""
    program = find_browser()
    if program is None:
        print(f"NOT RUN: none of {', '.join(NAMES)} is installed")
        return 3
    with Browser(program) as browser:
        looks, troubles = browser.look(Path(file))
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    for look in looks:
        (place / f"{look.name}.png").write_bytes(look.png)
        troubles += [f"{look.name}: {one} sticks out" for one in look.overflows]
    print(*troubles or ["nothing is wrong"], sep="\n")
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
