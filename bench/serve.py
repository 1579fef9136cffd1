#!/usr/bin/env python3
"""Load on `lineal serve`, beside scikit-learn behind uvicorn and FastAPI, and what it survives.

    python3 bench/serve.py [--name NAME] [--data DIR] [--lineal PATH] [--seconds S] [--part load,faults]

20 Newsgroups, 20 classes, whole texts; a load generator in a process of its own, on the loopback, over connections that stay open. Both servers predict one class and its
probability. Nothing is tuned per run; the generator shares the machine's cores with the server. See bench/README.md.
"""

import gzip
import json
import os
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import frame
from frame import HERE

PARTS = ("load", "faults")


def main():
    args = arguments()
    frame.enter(args)
    with tempfile.TemporaryDirectory(prefix="lineal-bench-") as temp:
        suite = Suite(args, Path(temp))
        for part in args.part.split(","):
            getattr(suite, part)()
    frame.record(args, "Serving", suite.lines, f"Each figure over {args.seconds:g} seconds, after one to warm up; the generator takes its share of the cores.")


def arguments():
    parser = frame.parser(__doc__, "serve", PARTS)
    parser.add_argument("--seconds", type=float, default=5, help="of each measurement")
    return parser.parse_args()


class Suite(frame.Tables):
    def __init__(self, args, temp):
        super().__init__()
        self.args, self.temp = args, temp
        for part in ("train", "test"):
            with gzip.open(args.data / f"newsgroups/{part}.jsonl.gz", "rb") as packed, open(temp / f"{part}.jsonl", "wb") as out:
                shutil.copyfileobj(packed, out)
        self.texts = [json.loads(line)["text"] for line in open(temp / "test.jsonl")]
        self.model = temp / "news.lineal"
        subprocess.run([args.lineal, "train", temp / "train.jsonl", "-o", self.model, "--text", "text", "--quiet"], check=True)

    def serve(self, *flags):
        """The server and its port."""
        command = [self.args.lineal, "serve", self.model, "--port", "0", "--log", "errors", *flags]
        process = subprocess.Popen([str(word) for word in command], stderr=subprocess.PIPE, text=True)
        return process, int(process.stderr.readline().rsplit(":", 1)[-1])

    def load(self):
        self.table("Requests", ("server", "rows per request", "connections", "requests/s", "rows/s", "p50 ms", "p99 ms", "errors"))
        ours = {}
        process, port = self.serve()
        for rows, connections in ((1, 1), (1, 8), (1, 32), (100, 4)):
            ours[rows, connections] = self.measure("lineal serve", port, "/v1/models/news/predict", rows, connections, {"top": 1})
        process.send_signal(signal.SIGTERM)
        process.wait()
        peer, port = self.peer()
        theirs = {}
        for rows, connections in ((1, 1), (1, 8), (100, 4)):
            theirs[rows, connections] = self.measure("scikit-learn, FastAPI, uvicorn", port, "/predict", rows, connections, {})
        peer.terminate()
        peer.wait()
        self.say("")
        for (rows, connections), found in theirs.items():
            ratio = ours[rows, connections]["rows"] / found["rows"]
            self.say(f"{rows} rows per request, {connections} connections: {ratio:.1f} times as many rows per second as the peer.")

    def peer(self):
        """uvicorn with as many workers as cores; the model is trained when it is imported first."""
        env = {**os.environ, "LINEAL_BENCH_TRAIN": str(self.temp / "train.jsonl"), "LINEAL_BENCH_MODEL": str(self.temp / "peer.joblib")}
        subprocess.run([sys.executable, HERE / "serve_peer.py"], env=env, check=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [sys.executable, "-m", "uvicorn", "serve_peer:app", "--port", port, "--workers", os.cpu_count(), "--log-level", "error", "--no-access-log"]
        process = subprocess.Popen([str(word) for word in command], cwd=HERE, env=env)
        end = time.monotonic() + 120
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return process, port
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)

    def measure(self, name, port, path, rows, connections, more):
        bodies = [json.dumps({"texts": self.texts[i * rows : (i + 1) * rows], **more}) for i in range(min(200, len(self.texts) // rows))]
        job = {"port": port, "path": path, "bodies": bodies, "connections": connections, "seconds": self.args.seconds}
        done = subprocess.run([sys.executable, HERE / "serve_load.py"], input=json.dumps(job), capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        found["rows"] = found["requests"] * rows
        cells = (name, rows, connections, f"{found['requests']:,.0f}", f"{found['rows']:,.0f}", f"{found['p50']:.2f}", f"{found['p99']:.2f}", found["errors"])
        self.say("| " + " | ".join(map(str, cells)) + " |")
        return found

    def faults(self):
        """What a server meets in the wild, while a client goes on asking."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.table("Faults", ("what", "answers meanwhile", "lost", "slowest ms", "memory of the server, MB"))
        process, port = self.serve("--timeout", 2, "--watch", "0.1", "--max-connections", 2000)
        pid = process.pid
        good = self.model.read_bytes()
        self.fault("nothing", port, pid, lambda: time.sleep(1))
        self.fault("1,000 idle connections", port, pid, lambda: idle(port, 1000))
        self.fault("200 half requests", port, pid, lambda: halves(port, 200))
        self.fault("a body of 10 GB", port, pid, lambda: huge(port))
        self.fault("20 who send a stream and never read", port, pid, lambda: slow(port, 20, self.texts[0]))
        self.fault("the model replaced by garbage, and by a model", port, pid, lambda: (self.model.write_bytes(b"garbage"), time.sleep(1), self.model.write_bytes(good), time.sleep(1)))
        self.fault("SIGTERM", port, pid, lambda: (process.send_signal(signal.SIGTERM), process.wait(60)), ends=True)
        self.say(f"\nThe server ended with exit code {process.returncode}.")

    def fault(self, what, port, pid, do, ends=False):
        stop = threading.Event()
        found = {"answers": 0, "lost": 0, "slowest": 0.0, "memory": 0}
        body = json.dumps({"texts": [self.texts[1]]}).encode()
        head = b"POST /v1/models/news/predict HTTP/1.1\r\nhost: a\r\ncontent-length: %d\r\n\r\n" % len(body)

        def ask():
            stream = None
            while not stop.is_set():
                started = time.monotonic()
                try:
                    if stream is None:
                        stream = socket.create_connection(("127.0.0.1", port), 10)
                except OSError:
                    if ends:
                        return
                    found["lost"] += 1
                    continue
                answer = exchange(stream, head + body)
                if answer is None or not answer.startswith(b"HTTP/1.1 200"):
                    found["lost"] += 1
                    stream = None
                    continue
                found["answers"] += 1
                found["slowest"] = max(found["slowest"], time.monotonic() - started)
                if b"connection: close" in answer.lower():
                    stream.close()
                    stream = None
                found["memory"] = max(found["memory"], memory(pid))

        client = threading.Thread(target=ask)
        client.start()
        do()
        stop.set()
        client.join()
        self.say(f"| {what} | {found['answers']:,} | {found['lost']} | {1000 * found['slowest']:.1f} | {found['memory'] / 1e6:.0f} |")


def memory(pid):
    """Resident bytes."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def exchange(stream, request):
    """The answer to a request, or None if the connection ended before it did."""
    try:
        stream.sendall(request)
        data = b""
        while b"\r\n\r\n" not in data:
            more = stream.recv(65536)
            if not more:
                return None
            data += more
        head, body = data.split(b"\r\n\r\n", 1)
        length = int(next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")).split(b":")[1])
        while len(body) < length:
            more = stream.recv(65536)
            if not more:
                return None
            body += more
        return head
    except OSError:
        return None


def idle(port, n):
    streams = [socket.create_connection(("127.0.0.1", port)) for _ in range(n)]
    time.sleep(1)
    [stream.close() for stream in streams]


def halves(port, n):
    streams = []
    for i in range(n):
        stream = socket.create_connection(("127.0.0.1", port))
        stream.sendall(b"POST /v1/mod" if i % 2 else b"POST /v1/models/news/predict HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\n{\"te")
        streams.append(stream)
    time.sleep(3)
    [stream.close() for stream in streams]


def huge(port):
    """As much of it as the server takes."""
    for head in (b"content-length: 10737418240", b"transfer-encoding: chunked"):
        stream = socket.create_connection(("127.0.0.1", port))
        stream.sendall(b"POST /v1/models/news/predict HTTP/1.1\r\nhost: a\r\n" + head + b"\r\n\r\n")
        block = b" " * (1 << 20)
        try:
            for _ in range(10240):
                stream.sendall(b"100000\r\n" + block + b"\r\n")
        except OSError:
            pass
        stream.close()


def slow(port, n, text):
    line = json.dumps(text).encode() + b"\n"
    block = line * 50
    chunk = b"%x\r\n" % len(block) + block + b"\r\n"
    streams = []
    for _ in range(n):
        stream = socket.create_connection(("127.0.0.1", port))
        stream.sendall(b"POST /v1/models/news/predict HTTP/1.1\r\nhost: a\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n")
        stream.setblocking(False)
        streams.append([stream, chunk])
    end = time.monotonic() + 5
    while streams and time.monotonic() < end:
        _, ready, _ = select.select([], [s for s, _ in streams], [], 0.1)
        for entry in [entry for entry in streams if entry[0] in ready]:
            try:
                sent = entry[0].send(entry[1])
                entry[1] = entry[1][sent:] or chunk
            except OSError:
                streams.remove(entry)
    [stream.close() for stream, _ in streams]


if __name__ == "__main__":
    main()
