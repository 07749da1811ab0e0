# The words of the project. `make run` and `make test` are all a newcomer needs; `make` alone builds.
.DEFAULT_GOAL := build
.PHONY: build run install deb test check tsan crash differential clang soak clients format bench bench-tpch bench-tpcds bench-hits bench-ssb bench-joblight bench-allocator bench-allocator-sizes bench-load bench-concurrency bench-regress bench-oltp bench-update bench-partition bench-collation bench-programs bench-cursors bench-catalog bench-progress bench-external bench-hostile bench-cancel bench-json bench-recovery bench-checkpoint bench-spill bench-spill-clients bench-spill-tax bench-spill-hybrid bench-spill-compression bench-spill-remote bench-spill-evict bench-spill-device bench-spill-plot bench-page bench-s3-retriever bench-s3-tpch deps deps-test deps-package clean

PORT ?= 5432
DATA ?= ./data
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local

deps:
	@scripts/install-deps
deps-test:
	@scripts/install-deps --test

deps-package:
	@scripts/install-deps --package

# The server alone, optimised: build/release/ouzel. The first build takes many minutes.
build: deps
	@cmake --preset release -DOUZEL_TESTS=OFF >/dev/null
	@cmake --build build/release -j $(JOBS) --target ouzel

# What `make build` has built, below DESTDIR and PREFIX (/usr/local): docs/OPERATIONS.md, "Install".
install:
	@test -x build/release/ouzel || { echo "There is nothing to install yet; run: make build" >&2; exit 1; }
	@cmake --install build/release --prefix $(PREFIX) --strip

# A package for Debian 12 in build/.
deb: build deps-package
	@scripts/build-deb

# Install what is missing, build, serve in the foreground until Ctrl-C.
run: build
	@exec build/release/ouzel serve --data $(DATA) --port $(PORT)

# Everything CI runs: the shape of the tree, names in documents and scripts, includes, format, clang's checks; SQL tests under hostile settings,
# wire, hostile, crash and TPC-H tests; unit tests, SQL tests plain and the fuzz targets with address and undefined-behaviour
# sanitizers; the unit tests of sql with ThreadSanitizer.
test check: deps-test
	@scripts/run-tests

# The long version of the crash tests: 10,000 power cuts on a simulated disk, a server killed 2,000 times under load in
# a directory and 1,000 times in a bucket, half of these on a network that fails; 100 times without a log.
crash: deps-test
	@cmake --preset relassert >/dev/null
	@cmake --build build/relassert -j $(JOBS) --target test_crash_power --target test_crash_server --target object_server
	@build/relassert/tests/crash/test_crash_power --cuts $(or $(CUTS),10000)
	@build/relassert/tests/crash/test_crash_server --binary build/relassert/ouzel --kills $(or $(KILLS),2000) --check-every 20
	@build/relassert/tests/crash/test_crash_server --binary build/relassert/ouzel --kills $(or $(BUCKET_KILLS),500) --check-every 20 \
	  --object-server build/relassert/tests/object_server/object_server
	@build/relassert/tests/crash/test_crash_server --binary build/relassert/ouzel --kills $(or $(BUCKET_KILLS),500) --check-every 20 \
	  --object-server build/relassert/tests/object_server/object_server --seed 2 \
	  --faults error=0.02,conflict=0.05,reset-after=0.02,reset-before=0.01,reset-body=0.01
	@build/relassert/tests/crash/test_crash_server --binary build/relassert/ouzel --kills $(or $(NO_LOG_KILLS),100) --check-every 10 \
	  --object-server build/relassert/tests/object_server/object_server --no-log --seed 3 \
	  --faults error=0.02,conflict=0.05,reset-after=0.02,reset-before=0.01,reset-body=0.01

# Random statements against PostgreSQL 15, which the package postgresql-15 brings: COUNT of them, the same for each SEED. A
# difference is printed small, with both answers. make test replays what agreed once (tests/differential/recorded).
differential: deps
	@scripts/install-deps --bench
	@cmake --preset relassert >/dev/null
	@cmake --build build/relassert -j $(JOBS) --target ouzel
	@python3 tests/differential/main.py --binary build/relassert/ouzel --seed $(or $(SEED),1) --count $(or $(COUNT),20000)

# Threads: unit tests, isolation tests and many sessions at once under ThreadSanitizer; some minutes.
tsan: deps-test
	@scripts/run-tsan

# A server under everything at once for MINUTES (30), which has at the end what it had after the warm-up: tests/soak/README.md.
soak: deps-test
	@cmake --preset relassert >/dev/null
	@cmake --build build/relassert -j $(JOBS) --target ouzel
	@tests/soak/soak.py --binary build/relassert/ouzel --minutes $(or $(MINUTES),30) --memory $(or $(MEMORY),512MB)

# The own test suites of tools, from PyPI and Maven Central, against PostgreSQL 15 and Ouzel: writes docs/CLIENTS.md. About half an hour.
clients: build
	@scripts/install-deps --clients
	@tests/clients/matrix.py --binary build/release/ouzel --write

# Clang's checks (.clang-tidy), headers compiled alone, and the annotations that say which mutex guards what: half an hour at
# first, then only what has changed. A part of make test for what the last fifty commits changed.
clang: deps-test
	@cmake --preset relassert >/dev/null
	@scripts/check_clang.py

format:
	@scripts/install-deps --format
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format-14 -i

bench: bench-tpch bench-load bench-oltp bench-update bench-recovery bench-checkpoint bench-spill
bench-tpch: build
	@scripts/install-deps --bench
	@bench/tpch/run $(BENCH_ARGS)
bench-load: build
	@scripts/install-deps --bench
	@bench/load/run $(BENCH_ARGS)
# 1 to 64 clients at once with long and short queries, beside DuckDB.
bench-concurrency: build
	@scripts/install-deps --bench
	@bench/concurrency/run $(BENCH_ARGS)
# Which queries became slower since BASE, a binary or a revision of git, which is built: make bench-regress BASE=main
bench-regress: build
	@bench/regress/run $(BASE) $(BENCH_ARGS)
bench-oltp: build
	@scripts/install-deps --bench
	@bench/oltp/run $(BENCH_ARGS)
bench-update: build
	@scripts/install-deps --bench
	@bench/update/run $(BENCH_ARGS)
# lineitem in a thousand partitions beside lineitem in one table.
bench-partition: build
	@scripts/install-deps --bench
	@bench/partition/run $(BENCH_ARGS)
# A collation of ICU beside byte order.
bench-collation: build
	@scripts/install-deps --bench
	@bench/collation/run $(BENCH_ARGS)
# Functions in PL/pgSQL beside PostgreSQL.
bench-programs: build
	@scripts/install-deps --bench
	@bench/programs/run $(BENCH_ARGS)
# All rows of a table through psqlODBC and pgJDBC, plainly and some at a time; a held cursor.
bench-cursors: build
	@scripts/install-deps --bench
	@bench/cursors/run $(BENCH_ARGS)
# What clients ask of a catalog of 10,000 tables: psql, pg_dump, pgJDBC, SQLAlchemy.
bench-catalog: build
	@scripts/install-deps --bench
	@bench/catalog/run $(BENCH_ARGS)
# What ouzel_stat_progress says of long queries, beside the truth.
bench-progress: build
	@bench/progress/run $(BENCH_ARGS)
bench-hostile: build
	@bench/hostile/run $(BENCH_ARGS)
bench-cancel: build
	@bench/hostile/cancel $(BENCH_ARGS)
# Documents: TPC-H beside the same rows in tables, in order and shuffled, messages whose schema drifts, and a stream of events beside the peers
# (bench/json/).
bench-json: build
	@scripts/install-deps --bench
	@bench/json/run $(BENCH_ARGS)
	@bench/json/run --shuffled --modes shapes,tiles,global,none $(BENCH_ARGS)
	@bench/json/drift
	@bench/json/stream
bench-external: build
	@scripts/install-deps --bench
	@bench/external/run $(BENCH_ARGS)

# Builds with jemalloc, glibc's, TCMalloc and mimalloc under the same load.
bench-allocator: deps
	@scripts/install-deps --bench
	@bench/allocator/run $(BENCH_ARGS)
# How often operators ask the allocator, and for how much.
bench-allocator-sizes: build
	@scripts/install-deps --bench
	@bench/allocator/sizes $(BENCH_ARGS)

# TPC-DS with less and less memory, beside DuckDB; the generator is that of DuckDB 0.9.2.
bench-tpcds: build
	@scripts/install-deps --bench
	@bench/tpcds/run $(BENCH_ARGS)

# ClickBench's questions, the Star Schema Benchmark, and joins like JOB-light's, beside DuckDB and ClickHouse; all make their own data.
bench-hits bench-ssb bench-joblight: build
	@scripts/install-deps --bench
	@bench/$(@:bench-%=%)/run $(BENCH_ARGS)

bench-spill: build
	@scripts/install-deps --bench
	@bench/spill/run $(BENCH_ARGS)

# bench/spill/README.md says what each of these measures.
bench-spill-clients bench-spill-tax bench-spill-hybrid bench-spill-compression bench-spill-remote: build
	@scripts/install-deps --bench
	@bench/spill/$(@:bench-spill-%=%) $(BENCH_ARGS)
bench-spill-evict: build
	@scripts/install-deps --bench
	@cmake --build build/release -j $(JOBS) --target object_server
	@bench/spill/evict $(BENCH_ARGS)
bench-spill-device: build
	@cmake --build build/release -j $(JOBS) --target spill_device
	@bench/spill/levels $(BENCH_ARGS)
bench-spill-plot:
	@bench/spill/plot $(BENCH_ARGS)

# docs/PERFORMANCE.md and its plots, from what bench/results keeps.
bench-page:
	@bench/page $(BENCH_ARGS)

# bench/s3/README.md says what it measures.
bench-s3-retriever: deps
	@scripts/install-deps --bench
	@cmake --preset release -DOUZEL_TESTS=ON >/dev/null
	@cmake --build build/release -j $(JOBS) --target s3_clients --target object_server
	@bench/s3/run $(BENCH_ARGS)

bench-s3-tpch: deps
	@scripts/install-deps --bench
	@cmake --preset release -DOUZEL_TESTS=ON >/dev/null
	@cmake --build build/release -j $(JOBS) --target ouzel --target object_server
	@bench/s3/tpch $(BENCH_ARGS)

bench-recovery: build
	@bench/recovery/run $(BENCH_ARGS)
bench-checkpoint: build
	@bench/checkpoint/run $(BENCH_ARGS)

clean:
	@rm -rf build
