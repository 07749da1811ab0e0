#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sql/algebra/collations.hpp"

namespace ouzel::sql {

/// One column of a plan: name, type, representation, and the table column that it comes from.
struct ColumnInfo {
   std::string name; ///< for EXPLAIN and output names
   SqlType type;
   Representation repr;       ///< lowering narrows it from storedRepresentation(type) when bounds prove it
   Oid tableOid = invalidOid; ///< base column: its table (RowDescription, statistics)
   int16_t attribute = 0;
   bool nullable = true; ///< false only if the column is known to have no NULLs
};

/// All columns of one plan, by id, and their collations. Owned by the query's plan; the binder creates columns,
/// rewrites may add some.
class ColumnTable {
public:
   ColumnId add(ColumnInfo info) {
      infos_.push_back(std::move(info));
      return static_cast<ColumnId>(infos_.size() - 1);
   }
   const ColumnInfo& operator[](ColumnId id) const {
      DCHECK(static_cast<uint32_t>(id) < infos_.size());
      return infos_[static_cast<uint32_t>(id)];
   }
   ColumnInfo& operator[](ColumnId id) {
      DCHECK(static_cast<uint32_t>(id) < infos_.size());
      return infos_[static_cast<uint32_t>(id)];
   }
   uint32_t size() const { return static_cast<uint32_t>(infos_.size()); }

   CollationTable collations; ///< that the plan's columns and expressions have

private:
   std::vector<ColumnInfo> infos_;
};

} // namespace ouzel::sql
