"""Suites of Ruby's drivers and mappers, as Debian packages them. They have no tests in them: these are programs of our own, tests/clients/ruby."""
import os
import subprocess

from .suite import HERE, TIMEOUT, Suite


class ActiveRecord(Suite):
    package = "activerecord"
    what = "ours: migrations, schema dumps, types, associations, queries, writes, locks, transactions (ruby-activerecord, ruby-pg)"
    tools = {"ruby": "/usr/bin/ruby"}
    missing = [
        (r"schema/extensions", "the extension s3, which every database has"),
    ]

    def ruby(self, *arguments, **environment):
        return subprocess.run([self.tool("ruby"), "-W0", *arguments], env={**os.environ, **environment}, capture_output=True, text=True, timeout=TIMEOUT)

    def absent(self):
        if super().absent():
            return super().absent()
        return [name for name in ["active_record", "pg"] if self.ruby("-r", name, "-e", "").returncode]

    def install(self):
        pass

    def version(self):
        return self.ruby("-r", "active_record", "-e", "print ActiveRecord.version").stdout

    def run(self, server):
        server.fresh("activerecord_suite")
        done = self.ruby(os.path.join(HERE, "ruby/activerecord.rb"), PGDATABASE="activerecord_suite", TZ="UTC", **server.place)
        with open(os.path.join(self.directory, "stderr.log"), "w") as file:
            file.write(done.stderr)
        return self.compared(done.stdout, server)
