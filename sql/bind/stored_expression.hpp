#pragma once
#include "sql/bind/binder.hpp"

namespace ouzel::sql {

/// A default, CHECK constraint or generation expression as the catalog keeps it: the user's words, which keep their
/// meaning when the table is renamed or copied, and in sessions with other settings. References have lost the table's
/// name, literals of date and time are written in ISO form, in UTC, and in defaults relations that literals name are
/// written as OIDs.
struct StoredExpression {
   std::string text;
   bool readsRow = false; ///< names the table for its whole row
};

/// `offset` and `length`: the byte range of the expression in the text of context.source. REQUIRES: the expression can
/// be bound, see bindExpression().
StoredExpression storedExpression(const ::Node& expression, ExpressionUse use, const catalog::Relation* table,
                                  std::optional<SqlType> target, const BindContext& context, uint32_t offset,
                                  uint32_t length);

/// The same for a text that the catalog has of `table`: an earlier version may have kept it as it was written.
StoredExpression storedAgain(std::string_view stored, ExpressionUse use, const catalog::Relation& table,
                             const BindContext& context);

} // namespace ouzel::sql
