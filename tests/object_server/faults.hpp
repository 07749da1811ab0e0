#pragma once
// Draws the fault of each request. The n-th identical request always gets the same fault for the same seed, independent
// of other requests and their order.
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "tests/object_server/http.hpp"
#include "tests/object_server/settings.hpp"

namespace ouzel::object_server {

enum class FaultKind : uint8_t {
   None,
   Error500,
   Error503,
   Error429,
   Conflict,
   ResetBefore,
   ResetAfter,
   ResetBody,
   Truncate,
   StallHeader,
   StallBody,
   Slow,
   Flip,
};
constexpr size_t faultKinds = 13;
const char* name(FaultKind kind);

struct Fault {
   FaultKind kind = FaultKind::None;
   double fraction = 0; ///< place in the body, [0, 1)
   uint8_t bit = 0;     ///< Flip: number of the bit in that byte

   bool isError() const { return kind >= FaultKind::Error500 && kind <= FaultKind::Conflict; }
   bool isInBody() const {
      return kind == FaultKind::ResetBody || kind == FaultKind::Truncate || kind == FaultKind::StallBody ||
             kind == FaultKind::Flip;
   }
};

class FaultPlan {
public:
   Fault draw(const FaultSettings& settings, const HttpRequest& request);
   /// Restarts the sequence, as a change of the seed does.
   void reset() { timesAsked_.clear(); }

private:
   std::unordered_map<uint64_t, uint64_t> timesAsked_;
};

} // namespace ouzel::object_server
