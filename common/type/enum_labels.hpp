#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/type/user_types.hpp"
#include "common/value/sql_type.hpp"

// The labels of an enum type. A value is the code of its label. Codes are in the order of the labels, also after ALTER
// TYPE ... ADD VALUE ... BEFORE, and never change: so whatever compares, sorts, groups or packs integers serves enums,
// and no stored row learns of an ALTER TYPE. Between the codes of neighbours is room for labels that come later.

namespace ouzel {

struct EnumLabel {
   std::string name;
   int64_t code = 0;
   Oid oid = invalidOid;       ///< pg_enum.oid
   float sortOrder = 0;        ///< pg_enum.enumsortorder
   bool isAdded = false;       ///< came with ALTER TYPE ... ADD VALUE
   bool isUncommitted = false; ///< came so in the transaction that runs: must not be used yet
};

class EnumLabels {
public:
   /// Codes between those of labels that CREATE TYPE makes next to each other.
   static constexpr int64_t gap = int64_t{1} << 44;
   static constexpr size_t countMax = size_t{1} << 18;

   explicit EnumLabels(std::vector<EnumLabel> inOrder);
   EnumLabels(const EnumLabels&) = delete;
   EnumLabels& operator=(const EnumLabels&) = delete;

   const std::vector<EnumLabel>& inOrder() const { return labels_; }
   /// Null if there is no such label.
   const EnumLabel* find(std::string_view name) const;
   const EnumLabel* find(int64_t code) const;
   /// Throws XX000 for a code without a label.
   const EnumLabel& require(int64_t code) const;
   /// The code of a label that stands between two neighbours; null: at the begin or the end. 0 labels: both null.
   /// Throws 54000 if there is no room left.
   static int64_t codeBetween(const EnumLabel* before, const EnumLabel* after);

private:
   const std::vector<EnumLabel> labels_;
   std::unordered_map<std::string_view, size_t> positions_; ///< by name; names are those of `labels_`
};

/// The code of a label. Throws 22P02 if the type has no such label, 55P04 if the transaction that made it still runs.
/// `type`: for messages, by its name.
int64_t parseEnum(const SqlType& type, std::string_view text, const UserTypes* types);
int64_t parseEnum(const SqlType& type, std::string_view text, const EnumLabels& labels, const UserTypes* types);
/// Writes the code to a place of a vector.
void putEnum(void* target, const SqlType& type, std::string_view text, const EnumLabels& labels,
             const UserTypes* types);
/// Throws 55P04 if the transaction that made the label still runs.
void requireCommitted(const EnumLabel& label, Oid type, const UserTypes* types);
/// The labels of a type. Throws XX000 if there is no catalog to ask.
EnumLabelsPtr labelsOf(Oid type, const UserTypes* types);

} // namespace ouzel
