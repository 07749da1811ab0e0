#pragma once
#include <map>
#include <vector>

#include "common/sync/mutex.hpp"
#include "io/spill/area_device.hpp"

namespace ouzel::io {

/// The pages of one query on an AreaDevice. Each written staging area is a value of its own, named by its offset.
/// Offsets are not used again. A value is removed when all its pages are freed, and the rest by the destructor.
class AreaFile final : public SpillFile {
public:
   AreaFile(AreaDevice& device, uint64_t number);
   ~AreaFile() override;

   SpillExtent allocate(uint64_t min, uint64_t want) override;
   void free(SpillExtent extent) override;

   /// Reports an area that is about to be written.
   void addArea(SpillExtent area);
   AreaKey keyOf(uint64_t area) const { return {number_, area}; }
   /// A part of an extent: the area that has it, and where in the area.
   struct Part {
      uint64_t area;
      SpillExtent inArea;
      uint64_t areaBytes;
   };
   /// The parts that make up an extent. Fewer bytes: some were not written.
   std::vector<Part> parts(SpillExtent extent);
   /// Appends the keys of all areas.
   void appendKeys(std::vector<AreaKey>& keys);

private:
   struct Area {
      uint64_t size;
      uint64_t live; ///< bytes that are not freed
   };
   using Areas = std::map<uint64_t, Area>;
   /// The first area that ends behind the offset.
   Areas::iterator firstArea(uint64_t offset) REQUIRES(mutex_);

   // PROPERTIES
   AreaDevice& owner_;
   const uint64_t number_;

   // STATE
   Mutex mutex_;                    // guards the members below
   Areas areas_ GUARDED_BY(mutex_); ///< by offset
   uint64_t end_ GUARDED_BY(mutex_) = 0;
   uint64_t inUse_ GUARDED_BY(mutex_) = 0;
   uint64_t
       allocated_ GUARDED_BY(mutex_) = 0; ///< as a part of the device's; areas keep their bytes until they are removed
};

} // namespace ouzel::io
