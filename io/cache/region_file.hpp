#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/cache/region_index.hpp"
#include "io/file/file.hpp"

namespace ouzel::io {

/// The cache's file: segments of equal size. Each segment is filled with the bytes of regions from its beginning and
/// closed by a summary at its end, which lists the regions. Segments are overwritten in turn, so the device sees long
/// sequential writes, and no bytes are moved. The file is never synced: a region is valid only if the summary lists it
/// and its checksum matches.
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
/// Different places can be read and written at the same time. Throws 53100 and 58030.
class RegionFile {
public:
   struct Summary {
      uint64_t sequence = 0;
      std::vector<Region> regions;
   };

   /// Opens or creates `path`, and cuts a longer file to segments * segmentSize. Throws 55006 when another process has
   /// the file open.
   RegionFile(const std::string& path, size_t segmentSize, uint32_t segments);

   size_t segmentSize() const { return segmentSize_; }
   uint32_t segments() const { return segments_; }
   /// Whether a segment whose regions end at `used` has room for one more region of `size` bytes and a summary of
   /// `count` regions.
   bool hasRoom(size_t used, size_t size, size_t count) const;

   /// None: the segment has no summary whose checksums match.
   std::optional<Summary> readSummary(uint32_t segment) const;
   void writeSummary(uint32_t segment, const Summary& summary);
   /// Destroys the segment's summary, so that the segment counts as empty.
   void invalidate(uint32_t segment);
   /// Reads the whole region to `target`. False: the checksum does not match.
   [[nodiscard]] bool read(const Place& place, void* target) const;
   void write(uint32_t segment, uint32_t position, const char* bytes, size_t size);

private:
   uint64_t startOf(uint32_t segment) const { return uint64_t{segment} * segmentSize_; }

   const size_t segmentSize_;
   const uint32_t segments_;
   File file_;
};

} // namespace ouzel::io
