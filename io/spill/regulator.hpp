#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

#include "io/spill/page_codec.hpp"

namespace ouzel::io {

/// Finds the level at which one lane writes to one device (Kuschewski et al. 2025, 4.4; FACTS I.3). After each run of
/// pages it foresees what a byte would cost at each level, CPU against device, both when it is written and when it is
/// read back, and goes one step toward the cheapest. What a level saves is what was seen when it was in use, else
/// follows from how the levels in use compare with the table. What it costs is what the table says, times what this
/// level has proved to be off, times how slow the machine is at this time for all levels, so that the memory of a level
/// that was in use when others were busy does not keep it from being used again. Not thread-safe.
class Regulator {
public:
   static constexpr uint32_t runPages = 16;

   /// What is known besides when a run ends.
   struct Surroundings {
      double writeBandwidth = 0, readBandwidth = 0; ///< bytes per second; 0: not known
      double lanes = 1;                             ///< that share it
      double readWork = -1;                         ///< nanoseconds per raw byte of who reads pages back; < 0: unknown
   };
   struct Costs {
      double cpu = 0, io = 0; ///< nanoseconds per raw byte
   };

   uint32_t level() const { return level_; }
   /// A page was encoded. `workNanos`: what went by since the last one to this device, encoding it included, waiting
   /// not. True: the run is full, call decide().
   bool add(size_t rawBytes, size_t storedBytes, int64_t workNanos, int64_t encodeNanos);
   /// Choose the level of the next run; returns what the last one cost.
   Costs decide(const Surroundings& around);

private:
   struct Seen {
      double ratio = 0;    ///< 0: not in use lately
      double dearness = 0; ///< logarithm of its part of what encoding costs, as a multiple of what the table says
      uint32_t age = 0;    ///< in runs
   };
   double ratio(uint32_t level) const;
   double encode(uint32_t level) const;
   Costs costs(uint32_t level, double work, const Surroundings& around, double& total) const;

   uint32_t level_ = 3;
   std::array<Seen, 16> seen_{};
   double savings_ = 1;  ///< what compression saves here, as a part of what the table says
   double slowness_ = 0; ///< logarithm of what encoding costs at any level, as a multiple
   double work_ = -1;    ///< nanoseconds per raw byte of the operator, lately; < 0: unknown
   uint32_t runs_ = 0;
   // The run.
   uint32_t pages_ = 0;
   size_t rawBytes_ = 0, storedBytes_ = 0;
   int64_t workNanos_ = 0, encodeNanos_ = 0;
};

} // namespace ouzel::io
