#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

// Counters and costs of the requests of a store over a network: ouzel_stat_object_store, /metrics.

namespace ouzel::io {

/// Kinds of requests, as they are counted and priced.
enum class RequestKind : uint8_t { Get, Put, List, Delete, Head };
inline constexpr size_t requestKinds = 5;
/// Indexed by RequestKind.
inline constexpr std::array<const char*, requestKinds> requestKindNames = {"get", "put", "list", "delete", "head"};

/// Price of one request in dollars, as S3's in 2024: 0.40 a million GET and HEAD, 5 a million PUT and LIST, DELETE
/// free.
double requestPrice(RequestKind kind);

/// Counters since the store was opened.
struct RetrieverStatistics {
   struct Kind {
      uint64_t requests = 0; ///< sent, including repetitions and hedges
      uint64_t bytes = 0;    ///< in bodies of successful requests and their answers
      uint64_t errors = 0;   ///< requests that ended with an error
      uint64_t retries = 0, hedges = 0, hedgesWon = 0, throttled = 0;
      uint64_t active = 0; ///< under way now, including hedges
   };
   std::array<Kind, requestKinds> kinds;
   uint64_t retries = 0, hedges = 0, hedgesWon = 0, throttled = 0; ///< sums over the kinds
   uint64_t connections = 0;
   // Now:
   uint64_t threads = 0; ///< in use
   uint64_t active = 0, queued = 0, limit = 0;
   double bandwidth = 0;     ///< as measured, bytes per second
   double baseLatencyMs = 0; ///< learned
   const Kind& of(RequestKind kind) const { return kinds[static_cast<size_t>(kind)]; }
   /// In dollars.
   double estimatedCost(RequestKind kind) const;
   double estimatedCost() const;
};

/// Counters of a cache on a local SSD since the start (ouzel_stat_cache); the last three are current values.
struct CacheStatistics {
   uint64_t hits = 0, hitBytes = 0;      ///< regions read; bytes of them that were requested
   uint64_t misses = 0, missBytes = 0;   ///< stretches that were fetched
   uint64_t joins = 0;                   ///< stretches that another read was already fetching
   uint64_t evictions = 0;               ///< regions overwritten by newer ones
   uint64_t fills = 0, droppedFills = 0; ///< stretches written; stretches refused or given up
   uint64_t corruptions = 0;             ///< regions whose checksum did not match: fetched again
   uint64_t errors = 0;                  ///< of the device; the first turns the cache off
   uint64_t regions = 0, bytesUsed = 0;
   uint64_t size = 0; ///< the limit; 0: the cache is off
};

} // namespace ouzel::io
