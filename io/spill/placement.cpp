#include "io/spill/placement.hpp"

#include <algorithm>
#include <limits>

#include "common/error/check.hpp"

namespace ouzel::io {

std::optional<uint32_t> Placement::unsure(std::span<const Offer> offers, double cheapest, int64_t now) const {
   for (uint32_t device = 0; device < offers.size(); ++device) {
      const Offer& offer = offers[device];
      if (!offer.isTried && !offer.isAvoided && offer.cost > cheapest * floorFactor && offer.usual > 0 &&
          offer.usual <= cheapest * floorFactor && now - lastTaken_[device] >= remeasureNanos)
         return device;
   }
   return std::nullopt;
}

std::optional<uint32_t> Placement::choose(std::span<const Offer> offers, int64_t now) {
   DCHECK(offers.size() == deviceCount_);
   const auto isLeft = [](const Offer& offer) { return !offer.isTried; };
   const auto isGood = [](const Offer& offer) { return !offer.isTried && !offer.isAvoided; };
   const bool takesAvoided = std::none_of(offers.begin(), offers.end(), isGood);
   double cheapest = std::numeric_limits<double>::infinity();
   for (const Offer& offer : offers)
      if (takesAvoided ? isLeft(offer) : isGood(offer)) cheapest = std::min(cheapest, offer.cost);
   if (const auto device = unsure(offers, cheapest, now)) {
      lastTaken_[*device] = now;
      return device;
   }
   std::optional<uint32_t> best;
   for (uint32_t device = 0; device < offers.size(); ++device) {
      const Offer& offer = offers[device];
      if (!(takesAvoided ? isLeft(offer) : isGood(offer)) || offer.cost > cheapest * floorFactor) continue;
      // A device that took no part for a while must not take all extents until its clock has caught up.
      next_[device] = std::max(next_[device], now_);
      if (!best || next_[device] < next_[*best]) best = device;
   }
   if (!best) return std::nullopt;
   lastTaken_[*best] = now;
   now_ = next_[*best];
   const double cost = offers[*best].cost;
   next_[*best] += cost < cheapest * equalFactor ? cheapest : cost;
   return best;
}

} // namespace ouzel::io
