#pragma once
#include "common/memory/ledger.hpp"

namespace ouzel::io {

/// Charges the bytes that a splitter keeps because their row has not ended yet, if they are more than usual. Used by
/// one thread.
class PendingCharge {
public:
   explicit PendingCharge(Reservation& memory) : charge_(memory) {}
   explicit PendingCharge(MemoryLedger& ledger) : charge_(ledger) {}

   /// Called after each piece of input with the bytes that are pending. Throws 53200.
   void hold(size_t pending) {
      // A vector that doubles has room for twice its bytes.
      const size_t wanted = pending > usual ? 2 * pending : 0;
      if (wanted > charge_.used())
         charge_.grow(wanted - charge_.used());
      else
         charge_.shrink(charge_.used() - wanted);
   }

private:
   static constexpr size_t usual = size_t{4} << 20;
   Reservation charge_;
};

} // namespace ouzel::io
