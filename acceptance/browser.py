"""Chromium without a window, driven by Playwright: pages are opened, clicked and photographed.

    python3 acceptance/browser.py          installs what is missing and says which version there is

Debian's package `chromium` is used, of the version below if the mirrors still have it, else of the one that they offer: security updates replace it. Playwright's npm package is one of those that the
page of `lineal serve` is built and checked with (`page/package.json`). Installing them again does nothing. Where they cannot be installed, `Browser.find` gives the reason in place of a browser.
"""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

VERSION = "148.0.7778.167-1~deb12u1"
HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "page"
MODULES = PAGE / "node_modules"
# What the checks need of the page's packages.
NEEDED = ("axe-core/axe.min.js", "playwright-core/index.js")


def install(tries=3):
    """Nothing if all is there, else apt-get and npm; the reason where that fails."""
    return install_chromium(tries) or install_packages()


def install_chromium(tries):
    if shutil.which("chromium"):
        return None
    if not shutil.which("apt-get") or os.geteuid() != 0:
        return "chromium is not there, and apt-get as root neither"
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    reason = ""
    for attempt in range(tries):
        if attempt > 0:
            time.sleep(5 * attempt)
        subprocess.run(["apt-get", "-qq", "update"], env=env, capture_output=True)
        for wanted in (f"chromium={VERSION}", "chromium"):
            done = subprocess.run(["apt-get", "-qq", "install", "-y", "--no-install-recommends", wanted], env=env, capture_output=True, text=True)
            if done.returncode == 0 and shutil.which("chromium"):
                return None
            reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    return f"apt-get could not install chromium: {reason}"


def install_packages():
    """The packages of the page, by npm."""

    def are_there():
        return all((MODULES / name).exists() for name in NEEDED)

    if not shutil.which("node"):
        return "node is not there, which runs Playwright"
    if are_there():
        return None
    if not shutil.which("npm"):
        return "playwright-core is not there, and npm neither"
    # Groups run side by side; one of them installs.
    with open(PAGE / "package.json") as once:
        fcntl.flock(once, fcntl.LOCK_EX)
        if are_there():
            return None
        done = subprocess.run(["npm", "--prefix", str(PAGE), "ci", "--no-audit", "--no-fund", "--silent"], capture_output=True, text=True)
    return None if done.returncode == 0 else f"npm could not install playwright-core: {done.stderr.strip()[-200:]}"


def axe():
    """The text of axe-core."""
    return (MODULES / NEEDED[0]).read_text()


class Browser:
    """A running Chromium. Close it, or use it as a context."""

    def __init__(self, width=1200, height=900, dark=False):
        options = {"binary": shutil.which("chromium"), "width": width, "height": height, "dark": dark}
        # Nothing of this goes through a proxy.
        env = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        self.driver = subprocess.Popen(["node", HERE / "browser.mjs", json.dumps(options)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        self.version = self.heard()

    @staticmethod
    def find():
        """None, or why there is no browser."""
        return install()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.stdin.close()
        self.driver.wait(60)

    def heard(self):
        answer = json.loads(self.driver.stdout.readline() or '{"error": "the browser ended"}')
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["value"]

    def ask(self, what, **more):
        self.driver.stdin.write(json.dumps({"what": what, **more}) + "\n")
        self.driver.stdin.flush()
        return self.heard()

    def resize(self, width, height):
        self.ask("resize", width=width, height=height)

    def open(self, path):
        self.visit(f"file://{path}")

    def visit(self, url):
        self.ask("visit", url=url)

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
        self.ask("choose", selector=selector, path=str(path))

    def press(self, *keys):
        """Presses keys, one after the other, by Playwright's names: `ArrowRight`, `Control+Enter`."""
        self.ask("press", keys=keys)

    def type(self, text):
        """Types a text where the focus is."""
        self.ask("type", text=text)

    def hover(self, selector):
        """Rests the mouse on something."""
        self.ask("hover", selector=selector)

    def tree(self):
        """What a screen reader is told of the page, as YAML."""
        return self.ask("tree")

    def js(self, script, *args):
        """What a script returns."""
        return self.ask("js", script=script, args=args)

    def errors(self):
        """What the page complained about since the last time."""
        return self.ask("errors")

    def screenshot(self, path, whole=True):
        """The whole page, or what is seen of it."""
        self.ask("screenshot", path=str(path), whole=whole)


if __name__ == "__main__":
    why = install()
    if why:
        sys.exit(why)
    with Browser() as found:
        print(f"Chromium {found.version}")
