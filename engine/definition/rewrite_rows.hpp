#pragma once
#include <string>
#include <vector>

#include "engine/core/session_core.hpp"

namespace ouzel::engine {

/// The value of a column for each row: SQL over the other columns.
struct NewValue {
   int16_t attribute; ///< of a column that the table has, or of one that comes
   std::string sql;
};

/// Gives a table new rows, made of those that it has. The values are computed from the table as it is when the object
/// is made, even if columns are dropped or change their types before run().
class RowRewrite {
public:
   /// Of two values for one column the later counts.
   /// `order`: of the new rows, as behind ORDER BY; empty: as they are.
   RowRewrite(SessionCore& core, const catalog::Relation& table, std::vector<NewValue> values,
              const std::string& order = {});
   /// Fills a new storage for `changed`, the table as it is from now on, and puts it into the catalog. Throws 42804
   /// when a value has no assignment cast to its column's type.
   void run(catalog::Relation changed);

private:
   const NewValue* valueOf(int16_t attribute) const;

   SessionCore& core_;
   const std::vector<NewValue> values_;
   const storage::StorageId oldStorage_;
   sql::BoundQuery query_;
   std::vector<std::pair<int16_t, sql::ColumnId>> columns_; ///< of the query, by attribute
};

} // namespace ouzel::engine
