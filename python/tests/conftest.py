"""What the tests of clusters share."""

import os
import signal
import threading

import pytest


@pytest.fixture(scope="module")
def cluster():
    """Workers that are processes, on loopback, without a dashboard."""
    import dask
    import distributed

    dask.config.set({"distributed.scheduler.allowed-failures": 1, "distributed.comm.timeouts.connect": "30s"})
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit="2GB") as made:
        yield made


@pytest.fixture
def client(cluster):
    import distributed

    cluster.scale(2)
    with distributed.Client(cluster, set_as_default=False) as made:
        made.wait_for_workers(2, timeout=60)
        yield made


@pytest.fixture
def scaled_to(cluster, client):
    """A function that waits until there are so many workers."""

    def scale(n):
        cluster.scale(n)
        client.wait_for_workers(n, timeout=60)
        while len(client.scheduler_info()["workers"]) != n:
            client.sync(lambda: __import__("asyncio").sleep(0.1))

    return scale


@pytest.fixture
def killing():
    """A cluster that kills a worker while the fifth question is answered."""
    from lineal import _dask_transport

    class Killing(_dask_transport.Cluster):
        n_asked = 0
        killed = None
        """The process of the worker."""

        def ask(self, question):
            Killing.n_asked += 1
            if Killing.n_asked == 5:
                Killing.killed = next(iter(self.client.run(os.getpid).values()))
                threading.Timer(0.02, os.kill, (Killing.killed, signal.SIGKILL)).start()
            return super().ask(question)

    return Killing


@pytest.fixture
def raising_in_pass(monkeypatch):
    """Partitions in this process, which raise in the pass of a number; ``n_asked`` says how often they were asked."""
    from lineal import _cluster

    class Raising(_cluster.Here):
        n_asked, ends_in = 0, 2

        def ask(self, question):
            Raising.n_asked += 1
            return super().ask(question)

        def tell(self, event):
            if event["pass"] >= Raising.ends_in:
                raise KeyboardInterrupt

    monkeypatch.setattr(_cluster, "Here", Raising)
    return Raising
