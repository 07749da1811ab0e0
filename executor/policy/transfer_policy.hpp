#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "io/spill/spill.hpp"

// How an operator that moves rows between memory and a spill device divides its memory, so that moving costs least.
//
// A device moves D bytes in C rounds. A round is one refill or flush of a buffer, however many pages it moves. The
// operator waits D / bandwidth + C * time per round, or, in bytes, D + tau * C, where tau is what the device could move
// in the time of a round (REMOP, section III). Near a fast local disk the least volume wins; across a network, few
// rounds do, even if they move more.
//
// The functions know no operator. They count in any one unit: bytes, or pages. Numbers of passes and of blocks are
// whole, so the functions search for the best whole number instead of rounding the optimum of REMOP's formulas.

namespace ouzel::executor {

/// What an operator moves.
struct Transfers {
   double volume = 0; ///< read and written
   double rounds = 0;
   Transfers& operator+=(const Transfers& other) {
      volume += other.volume;
      rounds += other.rounds;
      return *this;
   }
   double cost(double tau) const { return volume + tau * rounds; }
};

/// The bytes that a device could read in the time of a round.
double tauBytes(const io::TransferCost& device);

/// The parts of `memory` for buffers that are refilled or flushed loads[j] / part[j] times. Parts in proportion to the
/// roots of the loads need fewest rounds (Cauchy and Schwarz; REMOP, table VI).
std::vector<double> splitByLoads(std::span<const double> loads, double memory);

/// A blocked nested loop: a block of the left side at a time is in memory, and each is joined with all of the right
/// side, which passes through a buffer.
struct NestedLoopPlan {
   double blocks = 1;
   double leftPart = 0, rightPart = 0, outPart = 0; ///< of the memory
   Transfers predicted;
};
struct NestedLoopSizes {
   double left = 0, right = 0;
   double out = 0;      ///< results that go to the device; 0: they go elsewhere
   double memory = 0;   ///< for the block, the buffer of the right side, and that of the results
   double rightMin = 0; ///< the smallest buffer of the right side
   double rightMax = std::numeric_limits<double>::infinity(); ///< a larger one would not be filled
   double rightSlots = 1; ///< 2: half of the right side's buffer is refilled while the other half is joined
};
/// REMOP, section IV on BNLJ, but for whole blocks. `leftShare` > 0: this part of the memory for the block, instead of
/// the best one (for experiments).
NestedLoopPlan planNestedLoop(const NestedLoopSizes& sizes, double tau, double leftShare = 0);

/// How sorted runs are merged: the number merged at once, and the resulting passes.
struct MergePlan {
   uint32_t fanIn = 2;
   uint32_t passes = 0; ///< passes over all rows, including the last one, which writes no rows
   Transfers predicted;
};
/// REMOP, section IV on EMS, but for whole passes. Merges `runs` runs of `volume` in total with `memory`. A merge that
/// writes divides its memory between reading and writing as sqrt(fanIn) to 1. `fanInMax`: the most runs for whose
/// buffers the memory is enough. `fanIn` > 0: this one instead of the best one (for experiments).
MergePlan planMerge(uint32_t runs, double volume, double memory, double tau, uint32_t fanInMax, uint32_t fanIn = 0);

/// Bytes that a reader of consecutive pages reads ahead: half of them are on their way while the other half is worked
/// on. At least `bytesMin`, and more, up to `bytesMax`, when rounds are long, so that rounds cost little in proportion
/// to the bytes that they bring.
size_t readAheadBytes(const io::TransferCost& device, size_t bytesMin, size_t bytesMax);
/// What an io::SpillReader with such `aheadBytes` moves for so many pages of `bytes` bytes in total.
Transfers reading(size_t pages, size_t bytes, size_t aheadBytes);

} // namespace ouzel::executor
