"""An old DuckDB in a process and an environment of its own: reads a JSON string of SQL per line, answers with a line of JSON.

    duckdb_process.py DATABASE THREADS MEMORY_LIMIT TEMP_DIRECTORY TIMEOUT_SECONDS"""
import json
import sys
import threading

import duckdb

database, threads, limit, temporary, timeout = sys.argv[1:]
connection = duckdb.connect(database, config={"threads": int(threads), "memory_limit": limit, "preserve_insertion_order": False, "temp_directory": temporary})
for line in sys.stdin:
    alarm = threading.Timer(float(timeout), connection.interrupt)
    alarm.start()
    try:
        reply = {"rows": [[str(v) for v in row] for row in connection.execute(json.loads(line)).fetchall()]}
    except Exception as error:
        reply = {"error": f"{type(error).__name__}: {error}"}
    finally:
        alarm.cancel()
    print(json.dumps(reply), flush=True)
connection.close()
