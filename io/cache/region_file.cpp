#include "io/cache/region_file.hpp"

#include <cstddef>
#include <type_traits>
#include <xxhash.h>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/error/test_point.hpp"

namespace ouzel::io {

namespace {

struct Footer {
   uint64_t magic = 0;
   uint64_t sequence = 0;
   uint64_t segmentSize = 0;
   uint32_t count = 0;
   uint32_t zero = 0;
   uint64_t recordsChecksum = 0;
   uint64_t checksum = 0;
};
static_assert(sizeof(Footer) == 48 && offsetof(Footer, checksum) == 40);

static_assert(std::is_trivially_copyable_v<Region>, "written as it lies");
static_assert(std::has_unique_object_representations_v<Region>, "without holes, whose bytes a checksum would see");

constexpr uint64_t magic = 0x31454843415a554f; // "OUZACHE1"

uint64_t checksumOf(const Footer& footer) {
   return XXH3_64bits(&footer, offsetof(Footer, checksum));
}

uint64_t checksumOf(const std::vector<Region>& regions) {
   return XXH3_64bits(regions.data(), regions.size() * sizeof(Region));
}

} // namespace

RegionFile::RegionFile(const std::string& path, size_t segmentSize, uint32_t segments)
   : segmentSize_(segmentSize), segments_(segments), file_(path, File::Mode::Write) {
   if (!file_.tryLock())
      throw SqlError(sqlstate::objectInUse, "cache \"" + path + "\" is in use")
          .hint("Is another server running on it?");
   if (file_.size() > startOf(segments_)) file_.truncate(startOf(segments_));
   // Writing one byte now makes a full or read-only device fail in the constructor and not later.
   const char zero = 0;
   if (file_.size() == 0) write(0, 0, &zero, sizeof zero);
}

bool RegionFile::hasRoom(size_t used, size_t size, size_t count) const {
   return used + size + count * sizeof(Region) + sizeof(Footer) <= segmentSize_;
}

std::optional<RegionFile::Summary> RegionFile::readSummary(uint32_t segment) const {
   const uint64_t end = startOf(segment) + segmentSize_;
   Footer footer;
   if (file_.readSome(&footer, sizeof footer, end - sizeof footer) != sizeof footer) return std::nullopt;
   if (footer.magic != magic || footer.checksum != checksumOf(footer) || footer.segmentSize != segmentSize_ ||
       !hasRoom(0, 0, footer.count))
      return std::nullopt;
   Summary summary;
   summary.sequence = footer.sequence;
   summary.regions.resize(footer.count);
   const size_t size = footer.count * sizeof(Region);
   if (file_.readSome(summary.regions.data(), size, end - sizeof footer - size) != size ||
       footer.recordsChecksum != checksumOf(summary.regions))
      return std::nullopt;
   for (const Region& region : summary.regions)
      if (region.size == 0 || !hasRoom(region.position, region.size, footer.count) ||
          region.offset > region.objectSize || region.size > region.objectSize - region.offset)
         return std::nullopt;
   return summary;
}

void RegionFile::writeSummary(uint32_t segment, const Summary& summary) {
   DCHECK(segment < segments_);
   DCHECK(hasRoom(0, 0, summary.regions.size()));
   if (const int error = TEST_POINT("cache.write")) throwIoError("could not write file", file_.path(), error);
   Footer footer;
   footer.magic = magic;
   footer.sequence = summary.sequence;
   footer.segmentSize = segmentSize_;
   footer.count = static_cast<uint32_t>(summary.regions.size());
   footer.recordsChecksum = checksumOf(summary.regions);
   footer.checksum = checksumOf(footer);
   const uint64_t end = startOf(segment) + segmentSize_;
   const size_t size = summary.regions.size() * sizeof(Region);
   file_.writeAt(summary.regions.data(), size, end - sizeof footer - size);
   file_.writeAt(&footer, sizeof footer, end - sizeof footer);
}

void RegionFile::invalidate(uint32_t segment) {
   const Footer none;
   file_.writeAt(&none, sizeof none, startOf(segment) + segmentSize_ - sizeof none);
}

bool RegionFile::read(const Place& place, void* target) const {
   if (const int error = TEST_POINT("cache.read")) throwIoError("could not read file", file_.path(), error);
   const size_t size = place.region.size;
   return file_.readSome(target, size, startOf(place.segment) + place.region.position) == size &&
          XXH3_64bits(target, size) == place.region.checksum;
}

void RegionFile::write(uint32_t segment, uint32_t position, const char* bytes, size_t size) {
   DCHECK(segment < segments_);
   CHECK(hasRoom(position, size, 0)); // the bytes behind it belong to the next segment
   if (const int error = TEST_POINT("cache.write")) throwIoError("could not write file", file_.path(), error);
   file_.writeAt(bytes, size, startOf(segment) + position);
}

} // namespace ouzel::io
