"""Chromium without a window, driven by the WebDriver protocol: pages are opened, clicked and photographed.

    python3 acceptance/browser.py          installs what is missing and says which version there is

Debian's packages `chromium` and `chromium-driver` are used, of the version below if the mirrors still have it, else of the one that they offer: security updates replace it. Installing them again
does nothing. Where they cannot be installed, `Browser.find` gives the reason in place of a browser.
"""

import base64
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

VERSION = "148.0.7778.167-1~deb12u1"
PACKAGES = ("chromium", "chromium-driver")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
]


def installed():
    return shutil.which("chromium") and shutil.which("chromedriver")


def install(tries=3):
    """Nothing if both programs are there, else apt-get; the reason where that fails."""
    if installed():
        return None
    if not shutil.which("apt-get") or os.geteuid() != 0:
        return "chromium and chromedriver are not there, and apt-get as root neither"
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    reason = ""
    for attempt in range(tries):
        if attempt > 0:
            time.sleep(5 * attempt)
        subprocess.run(["apt-get", "-qq", "update"], env=env, capture_output=True)
        for wanted in ([f"{name}={VERSION}" for name in PACKAGES], list(PACKAGES)):
            done = subprocess.run(["apt-get", "-qq", "install", "-y", "--no-install-recommends", *wanted], env=env, capture_output=True, text=True)
            if done.returncode == 0 and installed():
                return None
            reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    return f"apt-get could not install chromium: {reason}"


class Browser:
    """A running Chromium. Close it, or use it as a context."""

    def __init__(self, width=1200, height=900, dark=False):
        self.folder = tempfile.TemporaryDirectory(prefix="lineal-browser-")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.driver = subprocess.Popen(["chromedriver", f"--port={self.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        args = [*FLAGS, f"--window-size={width},{height}", f"--user-data-dir={self.folder.name}"]
        options = {"args": args, "binary": shutil.which("chromium")}
        try:
            self.wait()
            answer = self.send("POST", "/session", {"capabilities": {"alwaysMatch": {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}})
            self.session = f"/session/{answer['sessionId']}"
            self.resize(width, height)
            media = {"media": "screen", "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]}
            self.cdp("Emulation.setEmulatedMedia", media)
        except Exception:
            self.driver.terminate()
            raise

    @staticmethod
    def find():
        """None, or why there is no browser."""
        return install()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.send("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait()
            self.folder.cleanup()

    def wait(self, seconds=60):
        end = time.monotonic() + seconds
        while True:
            try:
                if self.send("GET", "/status")["ready"]:
                    return
            except OSError:
                pass
            if time.monotonic() > end:
                raise RuntimeError("chromedriver does not answer")
            time.sleep(0.2)

    def send(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data=data, method=method, headers=headers)
        # Nothing of this goes through a proxy.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {error.read().decode()[:500]}") from error

    def cdp(self, command, parameters):
        return self.send("POST", f"{self.session}/goog/cdp/execute", {"cmd": command, "params": parameters})

    def resize(self, width, height):
        self.cdp("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def open(self, path):
        self.visit(f"file://{path}")

    def visit(self, url):
        self.send("POST", f"{self.session}/url", {"url": url})

    def until(self, script, *args, seconds=30):
        """Waits for a script to return something true, and returns that."""
        end = time.monotonic() + seconds
        while True:
            found = self.js(script, *args)
            if found:
                return found
            if time.monotonic() > end:
                raise RuntimeError(f"never true: {script}")
            time.sleep(0.05)

    def choose(self, selector, path):
        """Chooses a file in a field."""
        found = self.send("POST", f"{self.session}/element", {"using": "css selector", "value": selector})
        element = next(iter(found.values()))
        self.send("POST", f"{self.session}/element/{element}/value", {"text": str(path)})

    def press(self, *keys):
        """Presses keys, one after the other."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.send("POST", f"{self.session}/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def js(self, script, *args):
        """What a script returns."""
        return self.send("POST", f"{self.session}/execute/sync", {"script": script, "args": list(args)})

    def errors(self):
        """What the page complained about."""
        log = self.send("POST", f"{self.session}/se/log", {"type": "browser"})
        return [entry["message"] for entry in log if entry["level"] == "SEVERE"]

    def screenshot(self, path, whole=True):
        """The whole page, or what is seen of it."""
        image = self.cdp("Page.captureScreenshot", {"captureBeyondViewport": whole, "format": "png"})["data"]
        with open(path, "wb") as out:
            out.write(base64.b64decode(image))


if __name__ == "__main__":
    why = install()
    if why:
        sys.exit(why)
    print(subprocess.run(["chromium", "--version", "--no-sandbox"], capture_output=True, text=True).stdout.strip())
