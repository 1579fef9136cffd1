"""Runs a command and writes its exit code, CPU seconds and peak memory: `launch.py USAGE.json COMMAND…`.

A child's peak memory, as the system counts it, starts at that of the process it was forked from: started from the bench, which holds the data for
its evaluation, every program seemed to take what the bench takes. This process is small (about 10 MB, the floor of the figures) and imports nothing large.
"""

import json
import os
import sys

pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(pid, 0)
with open(sys.argv[1], "w") as out:
    json.dump({"code": os.waitstatus_to_exitcode(status), "cpu": usage.ru_utime + usage.ru_stime, "rss_mb": usage.ru_maxrss / 1024}, out)
