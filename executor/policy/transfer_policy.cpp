#include "executor/policy/transfer_policy.hpp"

#include <algorithm>
#include <cmath>

#include "common/error/check.hpp"

namespace ouzel::executor {

namespace {
/// A round may take this part of the time in which its bytes move.
constexpr double roundShare = 0.25;

/// The plan with so many blocks.
NestedLoopPlan withBlocks(const NestedLoopSizes& sizes, double blocks, double leftPart) {
   NestedLoopPlan plan;
   plan.blocks = blocks;
   plan.leftPart = leftPart;
   const double loads[] = {blocks * sizes.right * sizes.rightSlots, sizes.out};
   const std::vector<double> parts = splitByLoads(loads, sizes.memory - leftPart);
   plan.rightPart = std::clamp(parts[0], sizes.rightMin, std::max(sizes.rightMin, sizes.rightMax));
   plan.outPart = parts[1];
   plan.predicted.volume = sizes.left + blocks * sizes.right + sizes.out;
   // The first refill fills all of the buffer, the later ones a slot.
   const double later = std::max(0.0, sizes.right - plan.rightPart) * sizes.rightSlots / plan.rightPart;
   plan.predicted.rounds = blocks * (2 + std::ceil(later));
   if (sizes.out > 0) plan.predicted.rounds += sizes.out / plan.outPart;
   return plan;
}
} // namespace

double tauBytes(const io::TransferCost& device) {
   return device.readNanosPerByte > 0 ? device.roundNanos / device.readNanosPerByte : 0;
}

std::vector<double> splitByLoads(std::span<const double> loads, double memory) {
   double roots = 0;
   for (const double load : loads)
      roots += std::sqrt(load);
   std::vector<double> parts;
   for (const double load : loads)
      parts.push_back(roots > 0 ? memory * std::sqrt(load) / roots : memory / static_cast<double>(loads.size()));
   return parts;
}

NestedLoopPlan planNestedLoop(const NestedLoopSizes& sizes, double tau, double leftShare) {
   DCHECK(sizes.memory > sizes.rightMin);
   const double leftMax = sizes.memory - sizes.rightMin;
   if (leftShare > 0) {
      const double part = std::min({leftShare * sizes.memory, leftMax, std::max(sizes.left, 1.0)});
      return withBlocks(sizes, std::max(1.0, std::ceil(sizes.left / part)), part);
   }
   const double blocksMin = std::max(1.0, std::ceil(sizes.left / leftMax));
   NestedLoopPlan best;
   double least = std::numeric_limits<double>::infinity();
   // More blocks move more. Once the volume alone costs more than the best plan, no further one can be better. The
   // steps grow with the blocks, since the cost changes little between neighbours.
   for (double blocks = blocksMin;; blocks = std::ceil(blocks * 1.001 + 0.5)) {
      const double part = std::min(sizes.left / blocks, leftMax);
      if (part < sizes.memory) {
         const NestedLoopPlan plan = withBlocks(sizes, blocks, part);
         if (const double cost = plan.predicted.cost(tau); cost < least) {
            least = cost;
            best = plan;
         }
      }
      if (sizes.left + blocks * sizes.right >= least || part * 64 < sizes.memory) break;
   }
   return best;
}

MergePlan planMerge(uint32_t runs, double volume, double memory, double tau, uint32_t fanInMax, uint32_t fanIn) {
   MergePlan best;
   if (runs <= 1) return best;
   double least = 0;
   fanInMax = std::max(2u, std::min(fanInMax, runs));
   const uint32_t from = fanIn > 0 ? std::clamp(fanIn, 2u, fanInMax) : 2, to = fanIn > 0 ? from : fanInMax;
   for (fanIn = from; fanIn <= to; ++fanIn) {
      uint32_t passes = 0;
      for (double left = runs; left > 1; left = std::ceil(left / fanIn))
         ++passes;
      // Reading refills a buffer per run; writing flushes one. The last merge writes nothing.
      const double root = std::sqrt(static_cast<double>(fanIn));
      Transfers moved;
      moved.volume = volume * (2 * passes - 1);
      moved.rounds = volume / memory * ((passes - 1) * (root + 1) * (root + 1) + fanIn);
      if (const double cost = moved.cost(tau); best.passes == 0 || cost < least) {
         least = cost;
         best = {fanIn, passes, moved};
      }
   }
   return best;
}

size_t readAheadBytes(const io::TransferCost& device, size_t bytesMin, size_t bytesMax) {
   const double half = tauBytes(device) / roundShare;
   const double wanted = std::min(2 * half, static_cast<double>(bytesMax));
   return std::max(bytesMin, static_cast<size_t>(wanted));
}

Transfers reading(size_t pages, size_t bytes, size_t aheadBytes) {
   if (pages == 0) return {};
   const size_t pageBytes = std::max<size_t>(1, bytes / pages);
   const size_t most = std::clamp<size_t>(aheadBytes / pageBytes, 1, io::SpillReader::pagesAheadMax);
   // The reader asks again when so many pages are left of those that may be ahead.
   const size_t left = std::min({most - 1, aheadBytes / 2 / pageBytes, io::SpillReader::pagesAheadMax / 2});
   const size_t later = pages > most ? (pages - most + (most - left) - 1) / (most - left) : 0;
   return {static_cast<double>(bytes), 1 + static_cast<double>(later)};
}

} // namespace ouzel::executor
