#include "io/s3/request_governor.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "common/hash/hash.hpp"

using namespace ouzel::io;

// The governor with a simulated network: no clock, no sockets.

namespace {

/// A simulated network. Requests share `cap` evenly, each gets at most `perRequest`, and its first byte comes after
/// about `latency`.
struct Network {
   double latency, perRequest, cap; ///< seconds, bytes per second
   size_t requestSize;              ///< average size in bytes

   /// The highest throughput.
   double best() const { return cap; }
   /// Number of requests that reach the highest throughput.
   double enough() const {
      const auto size = static_cast<double>(requestSize);
      return cap * (latency + size / perRequest) / size;
   }
};

struct Outcome {
   double throughput; ///< in the last half of the time
   size_t limit;
};

/// Simulates `seconds` seconds with as many requests as the governor allows.
Outcome run(const Network& network, double seconds, RequestGovernor& governor) {
   struct Request {
      double start, latency, size, received = 0;
   };
   constexpr double step = 0.0005;
   LatencyModel latency;
   std::vector<Request> active;
   double received = 0, atHalf = 0;
   uint64_t state = 1;
   const auto about = [&](double value) { // from 0.5 to 1.5 times the value, so that requests do not run in step
      state = ouzel::hashU64(state);
      return value * (0.5 + static_cast<double>(state >> 32) / 0x1p32);
   };
   for (double now = 0; now < seconds; now += step) {
      while (active.size() < governor.limit())
         active.push_back({now, about(network.latency), about(static_cast<double>(network.requestSize))});
      governor.onLimited();
      const auto flows =
          std::count_if(active.begin(), active.end(), [&](const Request& r) { return now >= r.start + r.latency; });
      const double rate = std::min(network.perRequest, network.cap / std::max(1.0, static_cast<double>(flows)));
      for (Request& request : active) {
         if (now < request.start + request.latency) continue;
         const double bytes = std::min(rate * step, request.size - request.received);
         request.received += bytes;
         received += bytes;
      }
      std::erase_if(active, [&](const Request& request) {
         if (request.received < request.size) return false;
         const auto nanos = [](double time) { return static_cast<int64_t>(time * 1e9); };
         const auto bytes = static_cast<size_t>(request.size);
         latency.add(bytes, nanos(request.latency), nanos(now - request.start - request.latency));
         governor.onFinished(bytes, static_cast<uint64_t>(received), nanos(now) + 1, latency);
         return true;
      });
      if (now < seconds / 2) atHalf = received;
   }
   return {(received - atHalf) / (seconds / 2), governor.limit()};
}

} // namespace

CATCH_TEST_CASE("the governor fills a network without crowding it") {
   // An object store's latencies, with increasing bandwidth of the network.
   for (const double cap : {0.4e9, 0.69e9, 1.25e9, 3e9, 6e9}) {
      for (const size_t requestSize : {size_t{3} << 19, size_t{8} << 20}) {
         const Network network{0.03, 1048576 / 0.02, cap, requestSize};
         RequestGovernor governor;
         const Outcome outcome = run(network, 4, governor);
         const double wanted = std::min(network.enough(), double{RequestGovernor::limitMax});
         const double possible = std::min(1.0, RequestGovernor::limitMax / network.enough());
         CATCH_CAPTURE(cap, requestSize, outcome.limit, network.enough(), outcome.throughput / cap);
         CATCH_CHECK(outcome.throughput > 0.9 * possible * cap);
         CATCH_CHECK(static_cast<double>(outcome.limit) < std::max(3 * wanted, 2.0 * RequestGovernor::limitAtFirst));
      }
   }
}

CATCH_TEST_CASE("the governor is quick on a slow network") {
   RequestGovernor governor;
   const Network network{0.03, 1048576 / 0.02, 0.4e9, size_t{3} << 19};
   const Outcome first = run(network, 0.9, governor);
   CATCH_CAPTURE(first.limit, network.enough());
   CATCH_CHECK(first.limit <= 2 * RequestGovernor::limitAtFirst);
   CATCH_CHECK(first.throughput > 0.93 * network.best());
}

CATCH_TEST_CASE("the governor steps back when the store asks for it") {
   RequestGovernor governor;
   const size_t before = governor.limit();
   governor.onThrottled(1'000'000'000);
   CATCH_CHECK(governor.limit() < before);
   const size_t after = governor.limit();
   governor.onThrottled(1'000'000'001); // of the same burst
   CATCH_CHECK(governor.limit() == after);
}
