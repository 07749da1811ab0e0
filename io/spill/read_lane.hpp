#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "io/spill/page_codec.hpp"
#include "io/spill/spill.hpp"
#include "io/spill/spill_lane.hpp"

namespace ouzel::io {

/// The tools of a SpillReader: channels, buffers and a decoder. SpillManager hands them from one reader to the next.
/// Used by one thread at a time.
class ReadLane {
public:
   static constexpr uint32_t depth = SpillReader::pagesAheadMax; ///< of each channel
   /// Most bytes of buffers kept for the next reader.
   static constexpr size_t keptBytesMax = size_t{4} << 20;

   ReadLane(const SpillSeal* seal, size_t deviceCount) : channels(deviceCount), decoder(seal) {}

   struct Buffer {
      AlignedBytes bytes;
      size_t capacity = 0;
   };
   Buffer take(size_t bytes);
   void give(Buffer buffer);

   std::vector<std::unique_ptr<SpillChannel>> channels; ///< by device; null: not used yet
   UnitDecoder decoder;

private:
   std::vector<Buffer> buffers_; ///< not in use
   size_t keptBytes_ = 0;
};

} // namespace ouzel::io
