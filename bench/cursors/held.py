"""Small steps of a SCROLL cursor WITH HOLD over many rows: how long each kind takes, and whether it gives the right rows."""
import random
import statistics
import time


class HeldCursor:
    """A cursor over `query`, whose first column is different in each row. Closed with its connection."""

    def __init__(self, connection, query):
        self.connection = connection.pgconn
        self.query = query
        self.times, self.failures = {}, []

    def open(self):
        begin = time.perf_counter()
        for statement in ("BEGIN", f"DECLARE held SCROLL CURSOR WITH HOLD FOR {self.query}", "COMMIT"):
            self.ask(statement)
        self.opened = time.perf_counter() - begin

    def ask(self, statement):
        """The first column of the rows."""
        result = self.connection.exec_(statement.encode())
        if result.error_message:
            raise SystemExit(f"{statement}: {result.error_message.decode()}")
        return [result.get_value(row, 0) for row in range(result.ntuples)]

    def step(self, kind, statement):
        begin = time.perf_counter()
        rows = self.ask(statement)
        self.times.setdefault(kind, []).append((time.perf_counter() - begin) * 1000)
        return rows

    def check(self, seen, expected, statement):
        if seen != expected:
            self.failures.append(f"{statement} gives {seen[:3]}..., not {expected[:3]}...")

    def walk(self, count, steps, places, seed=1):
        """Through `count` rows: steps from the first on, and around places anywhere."""
        chance = random.Random(seed)
        self.ask("MOVE ABSOLUTE 0 IN held")
        for _ in range(steps):
            rows = self.step("FETCH 100", "FETCH 100 FROM held")
            self.check([len(rows)], [100], "FETCH 100")
        for _ in range(places):
            place = chance.randrange(200, count - 200)
            here = self.step("FETCH ABSOLUTE", f"FETCH ABSOLUTE {place} FROM held")
            after = self.step("FETCH 100 there", "FETCH 100 FROM held")
            back = self.step("FETCH BACKWARD 100", "FETCH BACKWARD 100 FROM held")
            self.check(back, after[-2::-1] + here, "FETCH BACKWARD 100")
            before = self.step("FETCH PRIOR", "FETCH PRIOR FROM held")
            self.check(self.step("FETCH NEXT", "FETCH NEXT FROM held"), here, "FETCH NEXT")
            distance = chance.randrange(-place + 1, count - place)
            self.step("MOVE", f"MOVE RELATIVE {distance} IN held")
            self.step("MOVE", f"MOVE RELATIVE {-distance} IN held")
            self.check(self.ask("FETCH RELATIVE 0 FROM held"), here, "MOVE")
            self.check(self.ask("FETCH PRIOR FROM held"), before, "FETCH PRIOR")
        self.step("FETCH LAST", "FETCH LAST FROM held")
        self.step("FETCH FIRST", "FETCH FIRST FROM held")

    def report(self):
        """By kind of step: median, 99th percentile, and the slowest, in ms."""
        return {kind: {"median": statistics.median(times), "p99": sorted(times)[len(times) * 99 // 100], "slowest": max(times)}
                for kind, times in self.times.items()}
