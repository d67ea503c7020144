"""One request with a session token, in Locust's own words."""

import os
import random
from itertools import count
from time import perf_counter

import gevent
from locust import FastHttpUser, constant, constant_throughput, task

THINK = float(os.environ["THINK"])
RATE = float(os.environ["RATE"])  # requests a second of all users; 0: they think
PERIOD = float(os.environ["USERS"]) / RATE if RATE else THINK
numbers = count()


class Clerk(FastHttpUser):
    """FastHttpUser is what Locust's documentation advises for large loads."""

    wait_time = constant_throughput(1 / PERIOD) if RATE else constant(THINK)

    def on_start(self):
        self.headers = {"Authorization": "Bearer bench", "X-User": str(next(numbers))}
        gevent.sleep(random.random() * PERIOD)  # users are spawned in bursts, and would act in bursts
        self._cp_last_run = perf_counter()  # from here on constant_throughput counts, not from the spawning

    @task
    def card(self):
        self.client.get("/v1/cards/7", headers=self.headers)
