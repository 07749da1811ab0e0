#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "common/value/batch.hpp"

namespace ouzel::executor {

/// Remembers the groups of keys that come as dictionary codes, so that rows of a few groups (TPC-H Q1) are neither
/// hashed nor compared. A combination is a number made of the codes of all keys. The memo is valid as long as the
/// dictionaries stay the same, usually for a row group. Used by one worker.
///
/// Per batch: bind(); find the groups of unknown() rows and learn() them; then groupsOf(), or sortRows() and rowsOf().
class KeyMemo {
public:
   static constexpr uint32_t combinationsMax = 256;

   /// Whether all keys are of a kind that bind() may take.
   static bool areCoded(std::span<const Vector> keys);

   /// Number the key combinations of the live rows. False: the keys are not coded, have too many combinations, or the
   /// batch has too few rows for the memo to pay; call no other function for this batch.
   bool bind(std::span<const Vector> keys, const Selection& rows);

   /// Forget all groups, since their rows have moved.
   void forget();

   /// Live rows, one for each combination without a known group. Valid after bind() until learn().
   std::span<const uint16_t> unknown() const { return unknown_; }
   /// Remember that groups[k] is the group of live row unknown()[k].
   void learn(std::byte* const* groups);

   /// The group of each live row.
   void groupsOf(uint32_t count, std::byte** rows) const;
   /// The combinations that occur in the batch.
   std::span<const uint8_t> present() const { return present_; }
   std::byte* group(uint8_t combination) const { return groups_[combination]; }
   /// Sort the live rows by combination, for rowsOf().
   void sortRows(const Selection& rows);
   Selection rowsOf(uint8_t combination) const {
      const uint32_t begin = combination == 0 ? 0 : ends_[combination - 1u];
      return Selection::list(order_.data() + begin, ends_[combination] - begin);
   }

private:
   /// Identity of a key column's values. Known groups stay valid while the identities are those of the previous batch.
   struct Identity {
      uint64_t dictionary = 0; ///< id of the dictionary; 0: a constant, with its bytes in `low` and `high`
      uint64_t low = 0, high = 0;
      bool isNull = false;
      bool operator==(const Identity&) const = default;
   };
   /// Rows are counted and sorted in so many interleaved parts with counters of their own. With one set of counters and
   /// few combinations, each step would wait for the previous step, which has just written the same counter.
   static constexpr uint32_t lanes = 4;
   using LaneCounts = std::array<std::array<uint32_t, combinationsMax>, lanes>;

   static bool identify(const Vector& key, Identity& identity);
   /// REQUIRES: the batch has a live row.
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
