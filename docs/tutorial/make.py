"""Makes the tables of the tutorial: customers of a gym, and which of them left. The same seed, the same files.

    python3 make.py
"""

import csv
import math
import random

PLANS = {"basic": 19.9, "plus": 29.9, "family": 44.9}
CITIES = ["Bern", "Graz", "Lyon", "Turin"]


def customer(rng, number):
    plan = rng.choices(list(PLANS), weights=[5, 3, 2])[0]
    months = 1 + int(rng.expovariate(1 / 18))
    visits = max(0.0, round(rng.gauss(6, 3) * math.exp(-months / 120), 1))
    calls = min(9, int(rng.expovariate(1 / 0.9)))
    discount = rng.choice([0, 0, 0, 10, 20])
    fee = round(PLANS[plan] * (100 - discount) / 100, 2)
    city = rng.choice(CITIES)
    lead = 1.2 - 0.06 * months - 0.45 * visits + 0.8 * calls + 0.02 * fee
    lead += {"basic": 0.5, "plus": 0.0, "family": -0.9}[plan] + {"Turin": 0.5}.get(city, 0.0)
    left = rng.random() < 1 / (1 + math.exp(-lead))
    # The turnstile did not count one customer in forty.
    seen = "" if rng.random() < 0.025 else visits
    return [number, months, plan, fee, seen, calls, city, "yes" if left else "no"]


def main():
    rng = random.Random(8)
    header = ["id", "months", "plan", "fee", "visits_per_month", "calls", "city", "left"]
    rows = [customer(rng, 1000 + i) for i in range(1206)]
    parts = [("customers.csv", rows[:800]), ("customers-test.csv", rows[800:1200])]
    for name, part in parts:
        with open(name, "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *part])
    with open("customers-new.csv", "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header[:-1], *[r[:-1] for r in rows[1200:]]])


main()
