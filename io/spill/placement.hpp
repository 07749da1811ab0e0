#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace ouzel::io {

inline constexpr size_t spillDevicesMax = 64;

/// Chooses the device of each extent by what the extent costs there. Similar devices share the extents in inverse
/// proportion to the cost; a device that is much dearer than the cheapest gets some only when the cheaper ones have no
/// room. If it is dearer than devices of its kind are, it may have been measured in a bad time, and would not be
/// measured again: so it gets one extent every few seconds.
///
/// Each device has a clock that its extents advance by their cost, and the device whose clock is earliest takes the
/// next extent (start-time fair queueing, Goyal et al. 1996). Not thread-safe.
class Placement {
public:
   /// What a device would take for the extent.
   struct Offer {
      double cost = 0;        ///< nanoseconds, as measured
      bool isAvoided = false; ///< has failed, or was full, a short time ago: only if no other device is left
      bool isTried = false;   ///< has no room for this extent
      double usual = 0;       ///< the cost on a device of its kind; 0: not known
   };

   explicit Placement(size_t deviceCount) : deviceCount_(deviceCount) {}
   /// One offer per device. `now`: steadyNanos(). None: all devices were tried.
   std::optional<uint32_t> choose(std::span<const Offer> offers, int64_t now);

   /// Devices whose costs differ less from the cheapest one's count as equal: those of two directories on one disk,
   /// each measured while the other is busy, were seen to differ by a third.
   static constexpr double equalFactor = 1.5;
   /// A device that is dearer by more is for what the cheaper ones have no room for.
   static constexpr double floorFactor = 8;
   /// Time after which such a device gets an extent if it would not be much dearer at its usual cost.
   static constexpr int64_t remeasureNanos = 3'000'000'000;

private:
   /// The device that is to be measured again now.
   std::optional<uint32_t> unsure(std::span<const Offer> offers, double cheapest, int64_t now) const;

   const size_t deviceCount_;
   std::array<int64_t, spillDevicesMax> lastTaken_{}; ///< steadyNanos() of the last extent
   std::array<double, spillDevicesMax> next_{};       ///< clocks
   double now_ = 0;                                   ///< of the last extent's device, when it was chosen
};

} // namespace ouzel::io
