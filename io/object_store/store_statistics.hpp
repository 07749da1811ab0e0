#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

// What a store over a network has asked for, and what that costs: ouzel_stat_object_store, /metrics.

namespace ouzel::io {

/// What requests are counted and paid as.
enum class RequestKind : uint8_t { Get, Put, List, Delete, Head };
inline constexpr size_t requestKinds = 5;
/// By kind.
inline constexpr std::array<const char*, requestKinds> requestKindNames = {"get", "put", "list", "delete", "head"};

/// Dollars for one, at S3's prices in 2024: 0.40 a million GET and HEAD, 5 a million PUT and LIST, DELETE free.
double requestPrice(RequestKind kind);

/// Counted since the start.
struct RetrieverStatistics {
   struct Kind {
      uint64_t requests = 0; ///< sent, with all repetitions: what the store counts
      uint64_t bytes = 0;    ///< in bodies of requests and answers that went well
      uint64_t errors = 0;   ///< requests that were given up
      uint64_t retries = 0, hedges = 0, hedgesWon = 0, throttled = 0;
      uint64_t active = 0; ///< now, hedges included
   };
   std::array<Kind, requestKinds> kinds;
   uint64_t retries = 0, hedges = 0, hedgesWon = 0, throttled = 0; ///< of all kinds
   uint64_t connections = 0;
   // Now:
   uint64_t threads = 0; ///< in use
   uint64_t active = 0, queued = 0, limit = 0;
   double bandwidth = 0;     ///< learned, bytes per second
   double baseLatencyMs = 0; ///< learned
   const Kind& of(RequestKind kind) const { return kinds[static_cast<size_t>(kind)]; }
   /// In dollars.
   double estimatedCost(RequestKind kind) const;
   double estimatedCost() const;
};

/// Of a cache on a local SSD (ouzel_stat_cache). Counted since the start, but for the last three.
struct CacheStatistics {
   uint64_t hits = 0, hitBytes = 0;      ///< regions read, and what of them was wanted
   uint64_t misses = 0, missBytes = 0;   ///< stretches that were fetched
   uint64_t joins = 0;                   ///< stretches that another read was fetching already
   uint64_t evictions = 0;               ///< regions overwritten by newer ones
   uint64_t fills = 0, droppedFills = 0; ///< stretches taken to be written; not taken, or given up
   uint64_t corruptions = 0;             ///< regions whose checksum did not match: fetched again
   uint64_t errors = 0;                  ///< of the device; the first turns the cache off
   uint64_t regions = 0, bytesUsed = 0;
   uint64_t size = 0; ///< the limit; 0: the cache is off
};

} // namespace ouzel::io
