#pragma once
#include <memory>
#include <vector>

#include "storage/table/segment.hpp"

namespace ouzel::storage {

/// Where compaction has put the rows of a retired segment. The rows that lived at `since` were written to new segments
/// in their old order, so the place of a row follows from how many of them stand before it. Immutable.
///
/// It holds the versions of the new segments: they tell where the rows went when the new segments were rewritten as
/// well.
class MovedRows {
public:
   struct Target {
      SegmentId id = 0;
      std::shared_ptr<SegmentVersions> versions;
      uint32_t rows = 0;
   };
   struct Place {
      SegmentId segment = 0;
      SegmentVersions* versions = nullptr;
      uint32_t row = 0;
   };

   MovedRows(Timestamp since, std::shared_ptr<const std::vector<Target>> targets)
      : since_(since), targets_(std::move(targets)) {}

   /// Note that `before` rows stand before the segment's next vector of rows.
   void addVector(uint64_t before) { before_.push_back(before); }
   /// The place of a row that lived at `since`. `marks`: of the segment that the row was in.
   Place find(uint32_t row, const DeleteMarks& marks) const;

private:
   const Timestamp since_;
   const std::shared_ptr<const std::vector<Target>> targets_;
   std::vector<uint64_t> before_; ///< by vector
};

} // namespace ouzel::storage
