#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "io/ring/ring.hpp"
#include "io/spill/page_codec.hpp"
#include "io/spill/spill_lane.hpp"

namespace ouzel::io {

/// What a SpillReader reads with: a ring, memory and a decoder, handed from one reader to the next. One thread's.
class ReadLane {
public:
   static constexpr uint32_t depth = 32;
   /// Memory that is kept for the next reader.
   static constexpr size_t keptBytesMax = size_t{4} << 20;

   explicit ReadLane(const SpillSeal* seal) : ring(depth), decoder(seal) {}

   struct Buffer {
      AlignedBytes bytes;
      size_t capacity = 0;
   };
   Buffer take(size_t bytes);
   void give(Buffer buffer);

   Ring ring;
   UnitDecoder decoder;

private:
   std::vector<Buffer> buffers_; ///< not in use
   size_t keptBytes_ = 0;
};

} // namespace ouzel::io
