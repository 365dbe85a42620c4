"""Drive an interface as a person does: a page in Chromium, or a program in a terminal (tmux).

    drive.py page URL STEP...
    drive.py terminal COMMAND STEP...

A step is one argument: `click TEXT`, `type TEXT`, `key NAME`, `see TEXT`, `miss TEXT`. `click` takes visible
text, or a CSS selector that starts with `#`, `.` or `[`. `see` waits 5 s for a text; `miss` fails if it is
visible after 1 s. Pictures of a page go to $ASBUILT_PICTURES. The arguments are added to $ASBUILT_TRIES, one
JSON list a line. Standard library only, run by its path.

Rule: the exit code is 0 only if every step worked; the output ends with what is visible.
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
from typing import Any, Final

_SEE_S: Final = 5.0
_MISS_S: Final = 1.0
_LOOK_S: Final = 0.1
_START_S: Final = 60.0
_VISIBLE: Final = 4_000
_STEPS: Final = ("click", "type", "key", "see", "miss")
_CHROMIUM: Final = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--no-proxy-server", "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
    "--window-size=1280,800", "--remote-debugging-pipe",
)  # fmt: skip
_KEYS: Final = {"Enter": ("\r", 13), "Tab": ("", 9), "Escape": ("", 27), "Backspace": ("", 8)}
_PLACE: Final = """((wanted) => {
  const seen = (one) => one.getClientRects().length > 0 && getComputedStyle(one).visibility !== "hidden";
  const said = (one) => (one.value || one.getAttribute("aria-label") || one.innerText || "").trim();
  const all = /^[#.[]/.test(wanted)
    ? [...document.querySelectorAll(wanted)]
    : [...document.querySelectorAll("button,a,input,label,summary,select,textarea,[role],body *")]
        .filter((one) => said(one) === wanted || one.placeholder === wanted);
  const found = all.filter(seen)[0];
  if (!found) return null;
  found.scrollIntoView({block: "center"});
  const box = found.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
})"""


class Failed(Exception):
    """A step did not work; the text says why."""


class Page:
    """A page in Chromium, driven through a pipe."""

    def __init__(self, url: str, folder: str) -> None:
        names = ("chromium", "chromium-browser", "google-chrome")
        program = next(filter(None, map(shutil.which, names)), None)
        if program is None:
            raise Failed("no Chromium is installed; Debian's package chromium has it")
        (read, theirs), (mine, write) = os.pipe(), os.pipe()
        # Chromium reads commands from descriptor 3 and writes answers to 4.
        script = f'exec 3<&{read} 4>&{write}; exec "$@"'
        argv = [program, *_CHROMIUM, f"--user-data-dir={folder}", "about:blank"]
        self._process = subprocess.Popen(  # noqa: S603  starting it is what this is for
            ["/bin/bash", "-c", script, "sh", *argv], pass_fds=(read, write), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "HOME": folder},
        )  # fmt: skip
        os.close(read)
        os.close(write)
        self._out, self._in = theirs, mine
        self._number, self._kept, self._shots = 0, b"", 0
        pages = self._ask("Target.getTargets")["targetInfos"]
        target = next(page["targetId"] for page in pages if page["type"] == "page")
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._ask("Page.enable")
        answer = self._ask("Page.navigate", url=url)
        if "errorText" in answer:
            raise Failed(f"{url} does not open: {answer['errorText']}")
        _until(lambda: self._value("document.readyState") == "complete", _START_S)

    _session = ""

    def click(self, text: str) -> None:
        """Click the middle of an element, as a person does: what covers it gets the click."""
        if not _until(lambda: self._place(text), _SEE_S):
            raise Failed("nothing like it is visible")
        x, y = self._place(text)
        for kind in ("mousePressed", "mouseReleased"):
            self._ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def _place(self, text: str) -> Any:  # noqa: ANN401  JSON
        return self._value(f"{_PLACE}({json.dumps(text)})")

    def type(self, text: str) -> None:
        """Type into the element that has the focus."""
        self._ask("Input.insertText", text=text)

    def key(self, name: str) -> None:
        """Press a key."""
        text, code = _KEYS.get(name, ("", 0))
        for kind in ("keyDown", "keyUp"):
            names = {"type": kind, "key": name, "code": name}
            self._ask("Input.dispatchKeyEvent", **names, windowsVirtualKeyCode=code, text=text)

    def visible(self) -> str:
        """Return the text that is visible."""
        return str(self._value("document.body ? document.body.innerText : ''"))

    def picture(self, folder: str) -> None:
        """Leave a picture."""
        self._shots += 1
        data = self._ask("Page.captureScreenshot", format="png")["data"]
        Path(folder, f"{self._shots:02}.png").write_bytes(base64.b64decode(data))

    def close(self) -> None:
        """End Chromium."""
        self._process.kill()
        self._process.wait()

    def _value(self, expression: str) -> Any:  # noqa: ANN401  JSON
        return self._ask("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:  # noqa: ANN401  JSON
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            line, found, rest = self._kept.partition(b"\0")
            if not found:
                piece = os.read(self._in, 1 << 16)
                if not piece:
                    raise Failed("Chromium ended")
                self._kept += piece
                continue
            self._kept, answer = rest, json.loads(line)
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise Failed(str(answer["error"].get("message")))
                return dict(answer["result"])


class Terminal:
    """A program in a terminal of 100 by 30 characters."""

    def __init__(self, command: str, folder: str) -> None:
        if shutil.which("tmux") is None:
            raise Failed("tmux is not installed; Debian's package tmux has it")
        self._argv = ("tmux", "-S", f"{folder}/tmux", "-u", "-f", "/dev/null")
        # A program that has ended leaves its last screen.
        self._run("set", "-g", "remain-on-exit", "on", ";", "new", "-d", "-x", "100", "-y", "30", command)

    def click(self, text: str) -> None:
        """Fail: a terminal is driven by keys."""
        raise Failed(f"a terminal has nothing to click ({text}); use type and key")

    def type(self, text: str) -> None:
        """Type a text."""
        self._run("send-keys", "-l", "--", text)

    def key(self, name: str) -> None:
        """Press a key by its name in tmux: Enter, Up, C-c."""
        self._run("send-keys", "--", name)

    def visible(self) -> str:
        """Return the screen."""
        return self._run("capture-pane", "-p").rstrip()

    def picture(self, folder: str) -> None:
        """Leave none: the output has the screen."""

    def close(self) -> None:
        """End the program."""
        self._run("kill-server")

    def _run(self, *words: str) -> str:
        done = subprocess.run([*self._argv, *words], capture_output=True, text=True, check=False)  # noqa: S603  the same
        if done.returncode:
            raise Failed(done.stderr.strip())
        return done.stdout


def _until(true: Any, limit_s: float) -> bool:  # noqa: ANN401  a callable
    end = time.monotonic() + limit_s
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(_LOOK_S)
    return True


def _step(driven: Page | Terminal, verb: str, text: str) -> None:
    if verb == "see" and not _until(lambda: text in driven.visible(), _SEE_S):
        raise Failed(f"not visible within {_SEE_S:.0f} s")
    if verb == "miss":
        time.sleep(_MISS_S)
        if text in driven.visible():
            raise Failed("it is visible")
    if verb in ("click", "type", "key"):
        getattr(driven, verb)(text)


def main(arguments: list[str]) -> int:
    """Start the interface, perform the steps, print what came of each."""
    match arguments:
        case ["page" | "terminal" as kind, target, *steps] if all(
            line.split(" ")[0] in _STEPS for line in steps
        ):
            pass
        case _:
            sys.stderr.write(__doc__ or "")
            return 2
    _note(arguments)
    pictures, failed = os.environ.get("ASBUILT_PICTURES"), False
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        driven: Page | Terminal | None = None
        step = f"open {target}"
        try:
            driven = Page(target, folder) if kind == "page" else Terminal(target, folder)
            for step in steps:
                if pictures:
                    driven.picture(pictures)
                _step(driven, *step.partition(" ")[::2])
                sys.stdout.write(f"ok      {step}\n")
        except Failed as why:
            failed = True
            sys.stdout.write(f"FAILED  {step}: {why}\n")
        if driven is not None:
            time.sleep(_LOOK_S)
            if pictures:
                driven.picture(pictures)
            sys.stdout.write(f"--- visible now\n{driven.visible()[:_VISIBLE]}\n")
            driven.close()
    return int(failed)


def _note(arguments: list[str]) -> None:
    """Add this try to the list, and print its number."""
    file = os.environ.get("ASBUILT_TRIES")
    if file:
        with Path(file).open("a+", encoding="ascii") as opened:
            opened.write(json.dumps(arguments) + "\n")
            opened.seek(0)
            sys.stdout.write(f"try {len(opened.readlines())}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
