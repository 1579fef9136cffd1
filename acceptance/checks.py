"""Counting what holds and what does not."""

import sys
import time
import traceback


class Checks:
    """Passed and failed checks. A failure is printed at once and does not stop the rest."""

    def __init__(self, verbose=False):
        self.n_passed = 0
        self.failures = []
        self.left_out = []
        self.verbose = verbose
        self.name = ""

    def group(self, name, test, *args):
        """Runs `test(checks, *args)`; an exception in it is one failure."""
        self.name = name
        before, started = (self.n_passed, len(self.failures)), time.monotonic()
        try:
            test(self, *args)
        except Exception:
            self.fail("stopped by an exception", traceback.format_exc())
        n_passed, n_failed = self.n_passed - before[0], len(self.failures) - before[1]
        print(f"{name}: {n_passed} passed, {n_failed} failed ({time.monotonic() - started:.1f} s)", flush=True)

    def that(self, holds, what, detail=""):
        """One check."""
        if holds:
            self.n_passed += 1
            if self.verbose:
                print(f"  ok {what} {detail}", flush=True)
        else:
            self.fail(what, detail)

    def close(self, a, b, rel, what, detail=""):
        """|a − b| ≤ rel · max(|a|, |b|)."""
        scale = max(abs(a), abs(b))
        off = abs(a - b) / scale if scale > 0 else 0.0
        self.that(off <= rel, what, f"{a!r} and {b!r} differ by {off:.2e} relative, {rel:.0e} allowed {detail}")

    def not_run(self, what):
        """A check that this machine cannot run: said, and counted as neither passed nor failed."""
        self.left_out.append(f"{self.name}: {what}")
        print(f"  NOT RUN {self.name}: {what}", flush=True)

    def fail(self, what, detail=""):
        self.failures.append(f"{self.name}: {what}")
        print(f"  FAILED {self.name}: {what}\n         {detail}", flush=True)

    def add(self, other):
        """Counts what another process found."""
        self.n_passed += other.n_passed
        self.failures += other.failures

    def finish(self):
        """Prints the last line and ends the process."""
        for failure in self.failures:
            print(f"failed: {failure}")
        for what in self.left_out:
            print(f"not run: {what}")
        print(f"{self.n_passed} passed, {len(self.failures)} failed", flush=True)
        sys.exit(1 if self.failures else 0)
