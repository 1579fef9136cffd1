"""A virtual environment with pinned packages, made once for each version of the requirements."""

import hashlib
import shutil
import subprocess
import sys
import time

ATTEMPTS = 4


def ensure(folder, requirements):
    """The path of an interpreter that has the packages of `requirements`; makes `folder` if it is not up to date."""
    python = folder / "bin" / "python"
    stamp = folder / "requirements.sha256"
    wanted = hashlib.sha256(requirements.read_bytes() + sys.version.encode()).hexdigest()
    if python.exists() and stamp.exists() and stamp.read_text() == wanted:
        return python
    print(f"making {folder.name} with the packages of {requirements.name}", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "5"]
    for attempt in range(1, ATTEMPTS + 1):
        if subprocess.run([*install, "-r", str(requirements)]).returncode == 0:
            stamp.write_text(wanted)
            return python
        if attempt < ATTEMPTS:
            print(f"pip failed, attempt {attempt} of {ATTEMPTS}; once more in {5 * attempt} s", flush=True)
            time.sleep(5 * attempt)
    sys.exit(f"pip could not install {requirements.name}: are its packages reachable (see pip config)?")
