#pragma once
#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "io/ring/ring.hpp"
#include "io/spill/page_codec.hpp"
#include "io/spill/spill_lane.hpp"

namespace ouzel::io {

/// The tools of a SpillReader: a ring, buffers and a decoder. SpillManager hands them from one reader to the next. Used
/// by one thread at a time.
class ReadLane {
public:
   static constexpr uint32_t depth = 32;
   /// Most bytes of buffers kept for the next reader.
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
