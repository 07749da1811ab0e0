#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "common/value/batch.hpp"

namespace ouzel::executor {

/// Remembers the groups of keys that come as dictionary codes, so that rows of a few groups (TPC-H Q1) are neither
/// hashed nor compared. Holds as long as the dictionaries stay the same: a row group. One worker's own.
class KeyMemo {
public:
   static constexpr uint32_t combinationsMax = 256;

   /// Number the key combinations of the live rows. False: the keys are not coded, have too many combinations or the
   /// batch is too thin to be worth it; nothing else may then be asked.
   bool bind(std::span<const Vector> keys, const Selection& rows);

   /// The groups known so far are not where they were.
   void forget();

   /// Live rows, one for each combination, whose group is not known yet; after each bind() until learn().
   std::span<const uint16_t> unknown() const { return unknown_; }
   /// groups[k] is the group of live row unknown()[k].
   void learn(std::byte* const* groups);

   /// The group of each live row.
   void groupsOf(uint32_t count, std::byte** rows) const;
   /// Combinations that occur in the batch.
   std::span<const uint8_t> present() const { return present_; }
   std::byte* group(uint8_t combination) const { return groups_[combination]; }
   /// Sort the live rows by combination, for rowsOf().
   void sortRows(const Selection& rows);
   Selection rowsOf(uint8_t combination) const {
      const uint32_t begin = combination == 0 ? 0 : ends_[combination - 1u];
      return Selection::list(order_.data() + begin, ends_[combination] - begin);
   }

private:
   /// What must be the same as in the batch before.
   struct Identity {
      uint64_t dictionary = 0; ///< 0: a constant, of these bytes
      uint64_t low = 0, high = 0;
      bool isNull = false;
      bool operator==(const Identity&) const = default;
   };
   /// Rows are counted and sorted in so many parts side by side: with few combinations each step would else wait for
   /// the one before, which has just written the same counter.
   static constexpr uint32_t lanes = 4;
   using LaneCounts = std::array<std::array<uint32_t, combinationsMax>, lanes>;

   static bool identify(const Vector& key, Identity& identity);
   /// REQUIRES: some row lives.
   void combineCodes(std::span<const Vector> keys, const Selection& rows);
   void countCombinations(uint32_t rows, uint32_t combinations);

   std::vector<Identity> identities_, incoming_;
   std::array<std::byte*, combinationsMax> groups_{};
   std::array<uint8_t, batchRowsMax> codes_;    ///< of the live rows
   std::array<uint8_t, batchRowsMax> rowCodes_; ///< of all rows, live or not
   LaneCounts counts_;
   std::array<uint32_t, combinationsMax> ends_;
   std::array<RowIndex, batchRowsMax> order_;
   std::vector<uint8_t> present_;
   std::vector<uint16_t> unknown_;
};

} // namespace ouzel::executor
