#include "common/memory/allocation_meter.hpp"

#include <string>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"

extern "C" {
/// jemalloc's, when the process has it.
__attribute__((weak)) int mallctl(const char* name, void* old, size_t* oldSize, void* fresh, size_t freshSize);
}

namespace ouzel {

namespace {

/// Bytes that a statement may allocate between two charges.
constexpr size_t step = size_t{1} << 20;

/// Where jemalloc counts the calling thread's bytes. The counters live as long as the thread.
struct Counters {
   const uint64_t* allocated = nullptr;
   const uint64_t* freed = nullptr;
};

Counters findCounters() {
   static constexpr uint64_t none = 0;
   Counters found;
   size_t size = sizeof found.allocated;
   if (!mallctl || mallctl("thread.allocatedp", &found.allocated, &size, nullptr, 0) != 0 ||
       mallctl("thread.deallocatedp", &found.freed, &size, nullptr, 0) != 0)
      return {&none, &none};
   return found;
}

const Counters& countersOfThread() {
   constinit thread_local Counters counters;
   if (!counters.allocated) counters = findCounters();
   return counters;
}

} // namespace

void MemoryCharge::resize(size_t bytes) {
   DCHECK(ledger_ != nullptr);
   if (bytes > bytes_) {
      if (!ledger_->tryCharge(bytes - bytes_))
         throw SqlError(sqlstate::outOfMemory, "out of memory")
             .detail("Failed on request of size " + std::to_string(bytes - bytes_) + ": memory_limit is reached.");
   } else if (bytes < bytes_) {
      ledger_->release(bytes_ - bytes);
   }
   bytes_ = bytes;
}

AllocationMeter::AllocationMeter(MemoryLedger& ledger)
   : allocated_(countersOfThread().allocated), freed_(countersOfThread().freed),
     outer_(std::exchange(innermost_, this)), charge_(ledger), begin_(threadBytes()),
     chargeFrom_(begin_ + static_cast<int64_t>(step)) {}

AllocationMeter::~AllocationMeter() {
   if (!hasEnded_) end();
}

bool AllocationMeter::canMeasure() {
   return mallctl != nullptr;
}

size_t AllocationMeter::net() const {
   const int64_t bytes = threadBytes() - begin_;
   return bytes > 0 ? static_cast<size_t>(bytes) : 0;
}

void AllocationMeter::charge() {
   charge_.resize(net());
   chargeFrom_ = begin_ + static_cast<int64_t>(charge_.bytes() + step);
}

MemoryCharge AllocationMeter::settle() {
   DCHECK(!hasEnded_);
   charge_.resize(net());
   end();
   if (outer_) {
      outer_->begin_ += static_cast<int64_t>(charge_.bytes());
      outer_->chargeFrom_ += static_cast<int64_t>(charge_.bytes());
   }
   return std::move(charge_);
}

void AllocationMeter::end() {
   DCHECK(innermost_ == this);
   hasEnded_ = true;
   innermost_ = outer_;
}

} // namespace ouzel
