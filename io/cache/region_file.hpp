#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/cache/region_index.hpp"
#include "io/file/file.hpp"

namespace ouzel::io {

/// The cache's file: segments of one size, each filled from its beginning with the bytes of regions and closed by a
/// summary at its end that tells what they are. Segments are overwritten in turn, so the device sees long writes, and
/// nothing is ever moved. Nothing is synced: what a summary says and a checksum does not confirm is not there.
///
///     a segment:  bytes of regions | unused | Region[count] | Footer
///
///     Footer, 48 bytes, little-endian
///      0  8  magic
///      8  8  sequence: segments with a higher one are newer; 0: none
///     16  8  size of a segment
///     24  4  count of regions
///     28  4  zero
///     32  8  XXH3 of the regions' records
///     40  8  XXH3 of bytes 0..40
///
/// Reading and writing different places at once is safe. Throws 53100 and 58030.
class RegionFile {
public:
   struct Summary {
      uint64_t sequence = 0;
      std::vector<Region> regions;
   };

   /// Opens or makes `path`; no byte of it lies behind segments * segmentSize afterwards. 55006 when another process
   /// has it open.
   RegionFile(const std::string& path, size_t segmentSize, uint32_t segments);

   size_t segmentSize() const { return segmentSize_; }
   uint32_t segments() const { return segments_; }
   /// Whether a segment whose bytes end at `used` has room for a region of `size` bytes and a summary of `count`.
   bool hasRoom(size_t used, size_t size, size_t count) const;

   /// None: nothing trustworthy is there.
   std::optional<Summary> readSummary(uint32_t segment) const;
   void writeSummary(uint32_t segment, const Summary& summary);
   /// From now on nothing is in the segment.
   void invalidate(uint32_t segment);
   /// False: its checksum does not match. `target` has room for all of it.
   [[nodiscard]] bool read(const Place& place, void* target) const;
   void write(uint32_t segment, uint32_t position, const char* bytes, size_t size);

private:
   uint64_t startOf(uint32_t segment) const { return uint64_t{segment} * segmentSize_; }

   const size_t segmentSize_;
   const uint32_t segments_;
   File file_;
};

} // namespace ouzel::io
