#include "server/server_metrics.hpp"

#include <ctime>
#include <fstream>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/core/database_metrics.hpp"
#include "server/metrics/exposition.hpp"
#include "server/server.hpp"

namespace ouzel::server {

namespace {

using Type = Exposition::Type;

/// Start of the process, and so of all counters: initialized before main().
const time_t processStart = time(nullptr);

void describeProcess(Exposition& out) {
   rusage usage{};
   getrusage(RUSAGE_SELF, &usage);
   const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
   };
   uint64_t pages = 0, residentPages = 0;
   std::ifstream("/proc/self/statm") >> pages >> residentPages;
   out.family("ouzel_build_info", Type::Gauge, "Always 1.").sample(uint64_t{1}, {{"version", OUZEL_VERSION}});
   out.family("process_cpu_seconds_total", Type::Counter, "User and system time of the process.")
       .sample(seconds(usage.ru_utime) + seconds(usage.ru_stime));
   out.family("process_resident_memory_bytes", Type::Gauge, "Memory of the process that is in RAM.")
       .sample(residentPages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
   out.family("process_start_time_seconds", Type::Gauge, "When counting began, in Unix time.")
       .sample(static_cast<uint64_t>(processStart));
}

void describeClients(Exposition& out, const engine::DatabaseMetrics& metrics, const Server& server) {
   out.family("ouzel_connections", Type::Gauge, "Open connections, those that are not let in yet included.")
       .sample(uint64_t{server.connections()});
   out.family("ouzel_connections_total", Type::Counter, "Connections accepted.").sample(server.acceptedConnections());
   out.family("ouzel_sessions", Type::Gauge, "Sessions by what they are doing (pg_stat_activity).");
   for (const auto& [state, count] : metrics.sessions)
      out.sample(count, {{"state", state}});
   out.family("ouzel_statements_total", Type::Counter, "Statements that have ended, well or not.")
       .sample(metrics.statements);
   out.family("ouzel_statement_seconds_total", Type::Counter, "Time they took, that of slow clients included.")
       .sample(static_cast<double>(metrics.statementNanos) * 1e-9);
   out.family("ouzel_errors_total", Type::Counter,
              "Errors told to clients, those in statements that cannot be parsed too.")
       .sample(metrics.errors);
}

void describeMemory(Exposition& out, const engine::DatabaseMetrics& metrics) {
   const engine::MemoryUse& memory = metrics.memory;
   out.family("ouzel_memory_bytes", Type::Gauge, "Memory of the ledger by who has it.")
       .sample(memory.cache, {{"part", "cache"}})
       .sample(memory.delta, {{"part", "delta"}})
       .sample(memory.statements, {{"part", "statements"}})
       .sample(memory.queries, {{"part", "queries"}});
   out.family("ouzel_memory_used_bytes", Type::Gauge, "Memory of the ledger.").sample(memory.used);
   out.family("ouzel_memory_peak_bytes", Type::Gauge, "The most it was.").sample(memory.peak);
   out.family("ouzel_memory_withheld_bytes", Type::Gauge, "Of the limit, because the process has more than is counted.")
       .sample(memory.withheld);
   out.family("ouzel_memory_limit_bytes", Type::Gauge, "The limit (--memory-limit).").sample(memory.limit);
   out.family("ouzel_cache_hits_total", Type::Counter, "Pages of blocks that were in the cache when asked for.")
       .sample(metrics.cacheHits);
   out.family("ouzel_cache_misses_total", Type::Counter, "Pages of blocks that had to be read.")
       .sample(metrics.cacheMisses);
}

void describeDisks(Exposition& out, const engine::DatabaseMetrics& metrics) {
   using Device = io::SpillManager::Device;
   struct Family {
      const char* name;
      Type type;
      const char* help;
      uint64_t Device::*value;
   };
   static constexpr Family families[] = {
       {"ouzel_spill_allocated_bytes", Type::Gauge, "Size of the files that queries spill to.",
        &Device::bytesAllocated},
       {"ouzel_spill_used_bytes", Type::Gauge, "Of these, in use by pages.", &Device::bytesInUse},
       {"ouzel_spill_written_bytes_total", Type::Counter, "Written to the device.", &Device::bytesWritten},
       {"ouzel_spill_written_raw_bytes_total", Type::Counter, "The same before compression.", &Device::rawBytesWritten},
       {"ouzel_spill_read_bytes_total", Type::Counter, "Read from the device.", &Device::bytesRead},
       {"ouzel_spill_read_raw_bytes_total", Type::Counter, "The same after decompression.", &Device::rawBytesRead},
       {"ouzel_spill_write_requests_total", Type::Counter, "Requests to write.", &Device::writeRequests},
       {"ouzel_spill_read_requests_total", Type::Counter, "Requests to read.", &Device::readRequests},
       {"ouzel_spill_read_rounds_total", Type::Counter, "Rounds in which they were made.", &Device::readRounds},
       {"ouzel_spill_failures_total", Type::Counter, "Requests that failed, other than for lack of space.",
        &Device::failures}};
   for (const Family& family : families) {
      out.family(family.name, family.type, family.help);
      for (const Device& device : metrics.spillDevices)
         out.sample(device.*family.value, {{"directory", device.name}});
   }
   out.family("ouzel_spill_write_wait_seconds_total", Type::Counter,
              "Time that workers waited for pages to be written.");
   for (const Device& device : metrics.spillDevices)
      out.sample(static_cast<double>(device.writeWaitNanos) * 1e-9, {{"directory", device.name}});
   out.family("ouzel_spill_read_wait_seconds_total", Type::Counter, "Time that workers waited for pages to come back.");
   for (const Device& device : metrics.spillDevices)
      out.sample(static_cast<double>(device.readWaitNanos) * 1e-9, {{"directory", device.name}});
   out.family("ouzel_wal_bytes_total", Type::Counter, "Written to the log in the database's life.")
       .sample(metrics.logBytes);
   out.family("ouzel_wal_kept_bytes", Type::Gauge, "Log that the next start would read.").sample(metrics.logBytesKept);
}

/// Metrics of the object store; none for a database in a directory.
void describeStore(Exposition& out, const engine::DatabaseMetrics& metrics) {
   if (!metrics.store) return;
   const io::RetrieverStatistics& store = *metrics.store;
   using Kind = io::RetrieverStatistics::Kind;
   struct Family {
      const char* name;
      Type type;
      const char* help;
      uint64_t Kind::*value;
   };
   static constexpr Family families[] = {
       {"ouzel_object_store_requests_total", Type::Counter, "Requests sent to the bucket, with repetitions.",
        &Kind::requests},
       {"ouzel_object_store_bytes_total", Type::Counter, "Bytes of bodies sent and received.", &Kind::bytes},
       {"ouzel_object_store_errors_total", Type::Counter, "Requests that were given up.", &Kind::errors},
       {"ouzel_object_store_retries_total", Type::Counter, "Repetitions after a failure.", &Kind::retries},
       {"ouzel_object_store_hedges_total", Type::Counter, "Second requests for stragglers.", &Kind::hedges},
       {"ouzel_object_store_hedges_won_total", Type::Counter, "Of these, answered before the first.", &Kind::hedgesWon},
       {"ouzel_object_store_throttled_total", Type::Counter, "Answers that asked to slow down.", &Kind::throttled},
       {"ouzel_object_store_active_requests", Type::Gauge, "Requests under way.", &Kind::active}};
   for (const Family& family : families) {
      out.family(family.name, family.type, family.help);
      for (size_t i = 0; i < io::requestKinds; ++i)
         out.sample(store.kinds[i].*family.value, {{"request", io::requestKindNames[i]}});
   }
   out.family("ouzel_object_store_cost_dollars_total", Type::Counter, "Estimated price of the requests.");
   for (size_t i = 0; i < io::requestKinds; ++i)
      out.sample(store.estimatedCost(static_cast<io::RequestKind>(i)), {{"request", io::requestKindNames[i]}});
   out.family("ouzel_object_store_connections_total", Type::Counter, "Connections made.").sample(store.connections);
   out.family("ouzel_object_store_queued_requests", Type::Gauge, "Requests that wait for their turn.")
       .sample(store.queued);
   out.family("ouzel_object_store_request_limit", Type::Gauge, "How many large reads may be under way.")
       .sample(store.limit);
   out.family("ouzel_object_store_threads", Type::Gauge, "Threads in use that move their bytes.").sample(store.threads);
   out.family("ouzel_object_store_bandwidth_bytes_per_second", Type::Gauge, "Of reads, as measured; 0: not yet.")
       .sample(store.bandwidth);
   out.family("ouzel_object_store_latency_seconds", Type::Gauge, "Of a read's first byte, as measured; 0: not yet.")
       .sample(store.baseLatencyMs * 1e-3);
}

/// Metrics of the object cache; none without --cache.
void describeObjectCache(Exposition& out, const engine::DatabaseMetrics& metrics) {
   if (!metrics.objectCache) return;
   using Cache = io::CacheStatistics;
   struct Family {
      const char* name;
      Type type;
      const char* help;
      uint64_t Cache::*value;
   };
   static constexpr Family families[] = {
       {"ouzel_object_cache_hits_total", Type::Counter, "Regions read from the cache on a local disk.", &Cache::hits},
       {"ouzel_object_cache_hit_bytes_total", Type::Counter, "What of them was wanted.", &Cache::hitBytes},
       {"ouzel_object_cache_misses_total", Type::Counter, "Stretches that were not there.", &Cache::misses},
       {"ouzel_object_cache_miss_bytes_total", Type::Counter, "Their bytes.", &Cache::missBytes},
       {"ouzel_object_cache_joins_total", Type::Counter, "Stretches that another read was fetching.", &Cache::joins},
       {"ouzel_object_cache_fills_total", Type::Counter, "Stretches written.", &Cache::fills},
       {"ouzel_object_cache_dropped_fills_total", Type::Counter, "Stretches not written.", &Cache::droppedFills},
       {"ouzel_object_cache_evictions_total", Type::Counter, "Regions overwritten by newer ones.", &Cache::evictions},
       {"ouzel_object_cache_corruptions_total", Type::Counter, "Regions whose checksum did not match.",
        &Cache::corruptions},
       {"ouzel_object_cache_errors_total", Type::Counter, "Errors of the device; the first turns the cache off.",
        &Cache::errors},
       {"ouzel_object_cache_regions", Type::Gauge, "Regions in the cache.", &Cache::regions},
       {"ouzel_object_cache_used_bytes", Type::Gauge, "Their bytes.", &Cache::bytesUsed},
       {"ouzel_object_cache_limit_bytes", Type::Gauge, "The limit (--cache); 0: it is off.", &Cache::size}};
   for (const Family& family : families)
      out.family(family.name, family.type, family.help).sample((*metrics.objectCache).*family.value);
}

} // namespace

std::string describeMetrics(engine::Database& database, const Server& server) {
   const engine::DatabaseMetrics metrics = engine::measure(database);
   Exposition out;
   describeProcess(out);
   describeClients(out, metrics, server);
   describeMemory(out, metrics);
   describeDisks(out, metrics);
   describeStore(out, metrics);
   describeObjectCache(out, metrics);
   return out.text();
}

} // namespace ouzel::server
