#include "common/memory/allocation_meter.hpp"

#include <catch2/catch.hpp>
#include <cstring>

#include "common/error/sql_error.hpp"

using namespace ouzel;

namespace {
thread_local uint64_t allocated = 0, freed = 0;
} // namespace

/// Stands for jemalloc's: counters that the tests move.
extern "C" int mallctl(const char* name, void* old, size_t*, void*, size_t) {
   *static_cast<uint64_t**>(old) = std::strcmp(name, "thread.allocatedp") == 0 ? &allocated : &freed;
   return 0;
}

namespace {

constexpr size_t mebibyte = size_t{1} << 20;

CATCH_TEST_CASE("a meter charges what its thread allocates and does not free") {
   MemoryLedger ledger(100 * mebibyte);
   freed += 7; // as a thread that has freed what others had allocated
   MemoryCharge kept;
   {
      AllocationMeter meter(ledger);
      allocated += 3 * mebibyte;
      CATCH_CHECK(ledger.used() == 0);
      AllocationMeter::look();
      CATCH_CHECK(ledger.used() == 3 * mebibyte);
      allocated += 1000;
      AllocationMeter::look(); // too little for a charge
      CATCH_CHECK(ledger.used() == 3 * mebibyte);
      freed += mebibyte;
      kept = meter.settle();
      allocated += 50 * mebibyte; // measures no more
      AllocationMeter::look();
   }
   CATCH_CHECK(ledger.used() == 2 * mebibyte + 1000);
   CATCH_CHECK(kept.bytes() == 2 * mebibyte + 1000);
   MemoryCharge moved = std::move(kept);
   CATCH_CHECK(ledger.used() == 2 * mebibyte + 1000);
   moved = MemoryCharge(ledger);
   CATCH_CHECK(ledger.used() == 0);
}

CATCH_TEST_CASE("a meter that is refused throws 53200 and releases what it has charged") {
   MemoryLedger ledger(10 * mebibyte);
   const auto refused = [&](const auto& run) {
      try {
         AllocationMeter meter(ledger);
         allocated += 6 * mebibyte;
         AllocationMeter::look();
         allocated += 6 * mebibyte;
         run(meter);
      } catch (const SqlError& error) {
         return error.state() == sqlstate::outOfMemory;
      }
      return false;
   };
   CATCH_CHECK(refused([](AllocationMeter&) { AllocationMeter::look(); }));
   CATCH_CHECK(ledger.used() == 0);
   CATCH_CHECK(refused([](AllocationMeter& meter) { static_cast<void>(meter.settle()); }));
   CATCH_CHECK(ledger.used() == 0);
}

CATCH_TEST_CASE("what an inner meter has settled is not the outer's") {
   MemoryLedger ledger(100 * mebibyte);
   AllocationMeter outer(ledger);
   allocated += 2 * mebibyte;
   MemoryCharge inner;
   {
      AllocationMeter meter(ledger);
      allocated += 5 * mebibyte;
      inner = meter.settle();
   }
   const MemoryCharge rest = outer.settle();
   CATCH_CHECK(inner.bytes() == 5 * mebibyte);
   CATCH_CHECK(rest.bytes() == 2 * mebibyte);
   CATCH_CHECK(ledger.used() == 7 * mebibyte);
   AllocationMeter::look(); // no meter is left
}

} // namespace
