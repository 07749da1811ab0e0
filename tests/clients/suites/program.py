"""Tests of our own for tools that publish none: a program uses the tool as people do, and tells for each test in words what it has seen.
A test passes on PostgreSQL if it ends without an error, and on Ouzel if the words are the same."""
from .suite import Suite


class ProgramSuite(Suite):
    """words() runs the program: for each test "ok" or "error", and its words."""
    expected = None        # PostgreSQL's words

    def run(self, server):
        found = self.words(server)
        if self.expected is None:
            self.expected = found
        return {name: "passed" if outcome == "ok" and self.expected.get(name) == (outcome, words) else "failed"
                for name, (outcome, words) in found.items()}

    def words(self, server):
        raise NotImplementedError
