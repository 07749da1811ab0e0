"""The record of one mistake, and what has to hold for each of them."""
import dataclasses
import os
import re
import typing

NOBODY = 65534


class Failure(Exception):
    pass


def check(condition, message):
    if not condition:
        raise Failure(message)


@dataclasses.dataclass
class Mistake:
    """`flags` and the values of `environment` may name {place}, {data} and {port}. A text in `says` is a regular expression
    that the one message, with its DETAIL and HINT, has to match."""
    name: str
    says: list
    flags: list = ()
    status: typing.Optional[int] = 1  # 2: of the command line or the configuration; None: the server starts, with a warning
    prepare: typing.Optional[typing.Callable] = None  # makes the mistake
    mend: typing.Optional[typing.Callable] = None  # takes it back
    environment: dict = dataclasses.field(default_factory=dict)
    file: typing.Optional[str] = None  # the text of a configuration file
    data: str = "rows"  # a copy of a database with rows; "killed": it needs its log; "new": none; "none": no --data
    command: str = "serve"
    as_nobody: bool = False
    mounts: bool = False  # it needs a file system of its own
    limits: dict = dataclasses.field(default_factory=dict)  # of resources, by setrlimit's name
    leaves: bool = False  # it leaves files with which the next start goes on
    answers: bool = True  # False: what is mended is another test's
    seconds: int = 20


@dataclasses.dataclass
class Message:
    severity: str
    text: str


LINE = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ \S+ \[\d+\] (\w+):  (.*)$")


def messages(stderr):
    """The messages on a server's stderr; those of level LOG are none. What has no form is one, too."""
    found = []
    for line in stderr.splitlines():
        record = LINE.match(line)
        if record and record.group(1) in ("DETAIL", "HINT", "CONTEXT", "STATEMENT"):
            found[-1].text += "\n" + record.group(1) + ": " + record.group(2)
        elif record:
            found.append(Message(record.group(1), record.group(2)))
        elif line.startswith("ouzel: "):
            found.append(Message("USAGE", line[len("ouzel: "):]))
        elif line.startswith("\t") and found or re.match(r"ouzel( \w+)? --help ", line) and found:
            found[-1].text += "\n" + line
        elif line:
            found.append(Message("NOTHING KNOWN", line))
    # A session that has not noticed yet that its client is gone is told that the server ends.
    return [message for message in found if message.severity != "LOG" and not message.text.startswith("terminating connection due to admin")]


def require_one(stderr, says):
    found = messages(stderr)
    check(len(found) == 1, f"{len(found)} messages, not one:\n{stderr}")
    for pattern in says:
        check(re.search(pattern, found[0].text, re.I), f"the message does not say {pattern!r}:\n{stderr}")


def tree(path):
    """What is below a path: names, and the bytes of small files."""
    if not os.path.lexists(path): return None
    if not os.path.isdir(path): return os.path.getsize(path)
    contents = {}
    for directory, folders, files in os.walk(path):
        for name in folders: contents[os.path.relpath(os.path.join(directory, name), path)] = None
        for name in files:
            with open(os.path.join(directory, name), "rb") as file:
                contents[os.path.relpath(file.name, path)] = file.read(1 << 20)
    return contents
