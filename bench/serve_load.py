"""A load generator: reads a job from standard input, asks over connections that stay open, each as soon as it was answered, and prints what it saw."""

import json
import select
import socket
import sys
import time

job = json.load(sys.stdin)
requests = []
for body in job["bodies"]:
    body = body.encode()
    head = f"POST {job['path']} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    requests.append(head.encode() + body)
poll = select.epoll()
streams = {}
for _ in range(job["connections"]):
    stream = socket.create_connection(("127.0.0.1", job["port"]))
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    poll.register(stream.fileno(), select.EPOLLIN)
    streams[stream.fileno()] = stream
state = {}
number = 0


def send(fd):
    global number
    state[fd] = [time.perf_counter(), b"", 0]
    streams[fd].sendall(requests[number % len(requests)])
    number += 1


times, errors = [], 0
for fd in streams:
    send(fd)
begin = time.perf_counter() + 1
end = begin + job["seconds"]
now = 0
while now < end:
    for fd, _ in poll.poll(1):
        entry = state[fd]
        data = streams[fd].recv(1 << 18)
        if not data:
            sys.exit("the server closed a connection")
        entry[1] = entry[1] + data if entry[1] else data
        if not entry[2]:
            at = entry[1].find(b"\r\n\r\n")
            if at < 0:
                continue
            head = entry[1][:at].lower()
            start = head.index(b"content-length:") + 15
            stop = head.find(b"\r", start)
            entry[2] = at + 4 + int(head[start : stop if stop > 0 else None])
        if len(entry[1]) < entry[2]:
            continue
        now = time.perf_counter()
        if now > begin:
            times.append(now - entry[0])
            errors += not entry[1].startswith(b"HTTP/1.1 200")
        send(fd)
times.sort()
print(json.dumps({"requests": len(times) / job["seconds"], "p50": 1000 * times[len(times) // 2], "p99": 1000 * times[int(len(times) * 0.99)], "errors": errors}))
