#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "io/spill/page_codec.hpp"

namespace ouzel::io {

/// Chooses the level at which one lane writes to one device (Kuschewski et al. 2025, 4.4). After each run of pages it
/// estimates what a byte costs at each level, as CPU and device time for writing and reading back, and moves one level
/// toward the cheapest. Not thread-safe.
///
/// The ratio of a level is the measured one, or else the table's, scaled by how the measured levels compare with the
/// table. The CPU cost of a level is the table's times two factors: one for the level, learned slowly, and one for the
/// machine's current slowness at all levels. So a level that was used while the machine was busy is not avoided later.
class Regulator {
public:
   static constexpr uint32_t runPages = 16;

   /// Measurements of the manager and the devices at the end of a run.
   struct Surroundings {
      double writeBandwidth = 0, readBandwidth = 0; ///< bytes per second; 0: not known
      double lanes = 1;                             ///< lanes that share the device
      double readWork = -1;                         ///< reading operators' nanoseconds per raw byte; < 0: unknown
   };
   struct Costs {
      double cpu = 0, io = 0; ///< nanoseconds per raw byte
   };

   uint32_t level() const { return level_; }
   /// Reports an encoded page. `workNanos`: time since the last page to this device, with encoding and without waiting.
   /// True: the run is full, call decide().
   bool add(size_t rawBytes, size_t storedBytes, int64_t workNanos, int64_t encodeNanos);
   /// Chooses the level of the next run. Returns the costs of the last run.
   Costs decide(const Surroundings& around);

private:
   struct Seen {
      double ratio = 0;    ///< 0: not in use lately
      double dearness = 0; ///< logarithm of the level's factor on the table's CPU cost
      uint32_t age = 0;    ///< in runs
   };
   double ratio(uint32_t level) const;
   double encode(uint32_t level) const;
   Costs costs(uint32_t level, double work, const Surroundings& around, double& total) const;

   uint32_t level_ = 3;
   std::array<Seen, 16> seen_{};
   double savings_ = 1;  ///< bytes saved by compression here, relative to the table
   double slowness_ = 0; ///< logarithm of the machine's factor on the CPU cost of all levels
   double work_ = -1;    ///< the operator's recent nanoseconds per raw byte; < 0: unknown
   uint32_t runs_ = 0;
   // Sums of the current run.
   uint32_t pages_ = 0;
   size_t rawBytes_ = 0, storedBytes_ = 0;
   int64_t workNanos_ = 0, encodeNanos_ = 0;
};

} // namespace ouzel::io
