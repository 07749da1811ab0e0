#pragma once
#include <vector>

#include "engine/definition/definition.hpp"
#include "sql/algebra/expr.hpp"
#include "sql/parse/node_access.hpp"

// The constraints of a column's definition, in CREATE TABLE and ALTER TABLE ... ADD COLUMN.

namespace ouzel::engine {

struct ColumnConstraint {
   ::Constraint definition; ///< with what DEFERRABLE and INITIALLY behind it say
   size_t end;              ///< offset in the statement where its text ends at the latest
};

/// The parser gives DEFERRABLE, INITIALLY DEFERRED and their opposites as constraints of their own. They belong to the
/// key or foreign key before them. Throws 42601 when there is none or they contradict each other.
std::vector<ColumnConstraint> columnConstraints(const CommandContext& context, const ::List* constraints);

/// Whether the expression is NULL for a column of this type and is not kept as its default. PostgreSQL keeps a NULL
/// that it casts to the length of the type.
bool isNoDefault(const sql::Expr& value, const SqlType& type);

} // namespace ouzel::engine
