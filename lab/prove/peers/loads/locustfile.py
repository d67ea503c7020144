"""One request with a session token, in Locust's own words."""

import os
import random
from itertools import count

import gevent
from locust import FastHttpUser, constant, task

THINK = float(os.environ["THINK"])
numbers = count()


class Clerk(FastHttpUser):
    """FastHttpUser is what Locust's documentation advises for large loads."""

    wait_time = constant(THINK)

    def on_start(self):
        self.headers = {"Authorization": "Bearer bench", "X-User": str(next(numbers))}
        gevent.sleep(random.random() * THINK)  # users are spawned in bursts, and would act in bursts

    @task
    def card(self):
        self.client.get("/v1/cards/7", headers=self.headers)
