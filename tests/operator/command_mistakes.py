"""Mistakes of the command line, the environment and the configuration file."""
from mistake import Mistake

# What is wrong on a command line costs nothing: the database is not even opened.
HELP = r"ouzel serve --help"


def line(name, says, *flags, **more):
    return Mistake(name, [*says, HELP], ["--data", "{data}", "--port", "0", *flags], 2, **more)


def configured(name, says, text, **more):
    return Mistake(name, [r"ouzel\.conf", *says], ["--data", "{data}", "--port", "0", "--config", "{place}/ouzel.conf"], 2, file=text, **more)


def variable(name, says, variables, **more):
    return Mistake(name, says, ["--data", "{data}", "--port", "0"], 2, environment=variables, **more)


MISTAKES = [
    Mistake("no command", [r"serve, check, ready or audit-check", "ouzel --help"], [], 2, command="", data="none"),
    Mistake("an unknown command", [r'unknown command "serv"', r"serve"], ["--data", "{data}"], 2, command="serv"),
    Mistake("a command that does not exist yet", [r'unknown command "backup"'], ["--data", "{data}"], 2, command="backup", data="none"),
    Mistake("no data directory", [r"--data DIR is required", HELP], ["--port", "0"], 2, data="none"),
    Mistake("an empty data directory", [r"--data", HELP], ["--data", "", "--port", "0"], 2, data="none"),
    line("an unknown flag", [r'unknown option "--memory"', r"--memory-limit"], "--memory", "1GB"),
    line("a flag that is a letter off", [r'unknown option "--prot"', r"--port"], "--prot", "5432"),
    line("a flag without its value", [r"--threads needs a value"], "--threads"),
    line("an argument that is no flag", [r'unexpected argument "mydb"'], "mydb"),
    line("threads 0", [r'--threads: "0" is not a number from 1 to 4096'], "--threads", "0"),
    line("too many threads", [r"--threads: .*from 1 to 4096"], "--threads", "100000"),
    line("a negative number", [r'--max-connections: "-5" is not a number'], "--max-connections", "-5"),
    line("a number with a fraction", [r"--lease-seconds"], "--lease-seconds", "1.5"),
    line("a port out of range", [r'--port: "70000" is not a number from 0 to 65535'], "--port=70000"),
    line("a port that is a name", [r'--port: "postgres"'], "--port=postgres"),
    line("memory without a number", [r'--memory-limit: "lots" is not a size', r"4GB"], "--memory-limit", "lots"),
    line("memory in an unknown unit", [r'--memory-limit: "4XB" is not a size'], "--memory-limit", "4XB"),
    line("negative memory", [r'--memory-limit: "-1GB" is not a size'], "--memory-limit", "-1GB"),
    line("memory beyond 64 bits", [r"--memory-limit: .*not a size"], "--memory-limit", "99999999999999999999GB"),
    line("too little memory", [r"--memory-limit: at least 16MB"], "--memory-limit", "1MB"),
    line("a unit that was meant to be MB", [r"--memory-limit: at least 16MB"], "--memory-limit", "4096"),
    line("a log that is too small", [r"--checkpoint-wal-size: at least 1MB"], "--checkpoint-wal-size", "1kB"),
    line("a lease of nothing", [r'--lease-seconds: "0"'], "--lease-seconds", "0"),
    line("no connections left", [r"superuser_reserved_connections must be less than max_connections"], "--max-connections", "3"),
    line("a level of the log that does not exist", [r'--log-level: "verbose" is not one of debug'], "--log-level", "verbose"),
    line("an empty directory in a list", [r"--spill: empty element"], "--spill", "/tmp,,/tmp"),
    line("an address to spill to without a host", [r"address of a memory server to spill to is not valid: no host"], "--spill", "memory://"),
    line("a store to spill to that is not known", [r"--spill to gs://... is not supported"], "--spill", "/tmp,gs://bucket/prefix"),
    line("a bucket to spill to without a name", [r"--spill: .*s3://"], "--spill", "s3:///prefix"),
    line("a cache of a directory", [r"--cache is for --data s3://"], "--cache", "{place}/cache:1GB"),
    line("a cache without a size", [r"--cache: write DIR:SIZE"], "--cache", "{place}/cache"),
    line("a switch that is neither", [r'--read-only: "perhaps" is neither on nor off'], "--read-only=perhaps"),
    line("a reader that takes over", [r"--take-over is for a server that writes"], "--read-only", "--take-over"),
    variable("a misspelt variable", [r"unknown environment variable OUZEL_PROT", r"OUZEL_PORT"], {"OUZEL_PROT": "5432"}),
    variable("a variable with a wrong value", [r'OUZEL_THREADS: "many" is not a number'], {"OUZEL_THREADS": "many"}),
    variable("an empty variable", [r'OUZEL_MEMORY_LIMIT: "" is not a size'], {"OUZEL_MEMORY_LIMIT": ""}),
    line("a configuration file that is not there", [r'"\S*/nowhere\.conf".*No such file'], "--config", "{place}/nowhere.conf"),
    line("a directory for a configuration file", [r'"\S*/data".*is a directory'], "--config", "{data}"),
    line("a configuration file without an end", [r"/dev/zero"], "--config", "/dev/zero"),
    Mistake("a configuration file of others", [r'"\S*/ouzel\.conf".*permission denied'],
            ["--data", "{data}", "--port", "0", "--config", "{place}/ouzel.conf"], 2, file="port = 1\n", as_nobody=True, data="new"),
    configured("binary garbage", [r":1: "], b"\x7fELF\x02\x01\x00\x00\xff\xfe\n\x00\x01=\x00\n"),
    configured("a zero byte in a value", [r":1: "], b"memory_limit = 4\x00GB\n"),
    configured("a line without a value", [r':2: expected "name = value"'], "# comment\nthreads\n"),
    configured("a quote that does not end", [r":1: "], "log_line_prefix = '%m\n"),
    configured("an unknown key", [r":1: .*memory_limt", r"memory_limit"], "memory_limt = 4GB\n"),
    configured("a key that belongs to nothing", [r":1: .*shared_bufers"], "shared_bufers = 4GB\n"),
    Mistake("a key given twice", [r"ouzel\.conf:3: threads is set in line 1"], ["--data", "{data}", "--port", "0", "--config", "{place}/ouzel.conf"], None,
            file="threads = 2\n\nthreads = 3\n"),
    configured("a wrong unit", [r":1: memory_limit: .*is not a size"], "memory_limit = 4 apples\n"),
    configured("a session's setting with a wrong value", [r":1: .*work_mem|:1: .*statement_timeout"], "statement_timeout = soon\n"),
    configured("a setting out of its range", [r":1: .*outside the valid range"], "lock_timeout = -5\n"),
    Mistake("two forms of the log without files", [r"log_destination", r"Set log_directory", HELP],
            ["--data", "{data}", "--port", "0", "--config", "{place}/ouzel.conf"], 2, file="log_destination = 'csvlog,jsonlog'\n"),
    configured("a log of an unknown form", [r":1: .*log_destination"], "log_destination = xml\n"),
    configured("two wrong lines", [r":1: threads"], "threads = 0\nport = x\n"),
]
