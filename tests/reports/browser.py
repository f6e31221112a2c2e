"""Debian's Chromium, driven through its debugging pipe: what a page asks the network for, says, shows and
measures."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = next((found for name in ("chromium", "chromium-browser") if (found := shutil.which(name))), None)
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-pipe",
)
_PATIENCE_S = 120
_START = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """One tab: commands, and the events that came meanwhile."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._buffer, self._number, self._session = b"", 0, ""
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of one command of the protocol."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while (answer := self._receive()).get("id") != self._number:
            self.events.append(answer)
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            read = os.read(self._from, 1 << 20)
            assert read, "the browser has ended"
            self._buffer += read
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message

    def evaluate(self, expression: str) -> Any:
        """The value of an expression of JavaScript on the page."""
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def open(
        self, path: Path, *, width: int, height: int = 800, media: str = "", scheme: str = "light"
    ) -> None:
        """Load a file as a screen of that width would, and wait until its charts are drawn."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 500,
        )  # fmt: skip
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", media=media, features=features)
        self.events.clear()
        self.call("Page.navigate", url=path.resolve().as_uri())
        drawn = "document.readyState == 'complete' && " + (
            "[...document.querySelectorAll('.chart')].every(chart => chart.querySelector('svg'))"
        )
        self._until(drawn)

    def _until(self, condition: str) -> None:
        end = time.monotonic() + _PATIENCE_S
        while not self.evaluate(f"location.href != 'about:blank' && {condition}"):
            assert time.monotonic() < end, f"not so in {_PATIENCE_S} s: {condition}; {self.complaints()}"
            time.sleep(0.1)

    def requests(self) -> list[str]:
        """Every address that was asked for since the page was opened, the page itself included."""
        return [
            event["params"]["request"]["url"]
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        ]

    def complaints(self) -> list[Any]:
        """Errors, warnings and anything else that the console was told."""
        told = (
            "Runtime.consoleAPICalled",
            "Runtime.exceptionThrown",
            "Log.entryAdded",
            "Page.javascriptDialogOpening",
        )
        return [event["params"] for event in self.events if event.get("method") in told]

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """What is seen of the page, or all of it."""
        data = self.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))


@contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """A browser with a new profile, ended afterwards."""
    assert CHROMIUM is not None
    command = [CHROMIUM, *_FLAGS, f"--user-data-dir={profile}"]
    # The browser reads commands from its descriptor 3 and writes to 4: ours are moved out of the way.
    (command_out, command_in), (answer_out, answer_in) = (map(_moved, os.pipe()) for _ in range(2))
    process = subprocess.Popen(
        [sys.executable, "-c", _START, str(command_out), str(answer_in), *command],
        pass_fds=(command_out, answer_in),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(command_out)
    os.close(answer_in)
    try:
        yield Browser(command_in, answer_out)
    finally:
        process.terminate()
        process.wait(timeout=60)
        os.close(command_in)
        os.close(answer_out)


def _moved(descriptor: int) -> int:
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 5)
    os.close(descriptor)
    return moved
