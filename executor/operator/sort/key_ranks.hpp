#pragma once
#include <memory>
#include <span>
#include <vector>

#include "executor/operator/sort/sort_buffer.hpp"

namespace ouzel::executor {

/// Replaces the texts in the keys of a sort by their ranks among the column's distinct texts, if these are few. The
/// keys are then exact: no comparison needs the stored values, and a few bits of a key decide. Rows that have such keys
/// can only be compared with each other, so none of them may have been spilled before.
///
/// There are two rounds of tasks that workers share:
///
///    collect(part)   finds the distinct texts of a part of the rows
///    replace(part)   writes ranks into the keys of a part
class KeyRanks {
public:
   /// Null: there are no texts to be replaced, the rows are too few to be worth it, or memory is short.
   static std::unique_ptr<KeyRanks> plan(const SortRowLayout& layout, std::span<const std::unique_ptr<SortRun>> runs,
                                         uint32_t workers, Reservation& memory);
   ~KeyRanks();

   uint32_t parts() const { return static_cast<uint32_t>(parts_.size()); }
   void collect(uint32_t part);
   /// Called once, after collect() of all parts. False: no column has few distinct texts, and no key will change.
   bool endCollect();
   void replace(uint32_t part);
   /// Called once, after replace() of all parts: the layout of the keys from now on.
   SortKeyLayout endReplace();

private:
   class Texts;
   struct Column;
   struct Part {
      SortRun* run;
      uint32_t from, end; ///< rows of the run; from is a multiple of batchRowsMax
      KeySpread spread;
   };
   KeyRanks(const SortRowLayout& layout, Reservation& memory);
   void addParts(std::span<const std::unique_ptr<SortRun>> runs, uint32_t workers);

   const SortRowLayout& layout_;
   Reservation& memory_;
   size_t reservedBytes_ = 0;
   std::vector<std::unique_ptr<Column>> columns_;
   std::vector<Part> parts_;
};

} // namespace ouzel::executor
