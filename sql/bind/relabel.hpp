#pragma once
#include "sql/bind/binder.hpp"
#include "sql/bind/state/view_text.hpp"

// The texts that the catalog keeps, after a change of how values are written: a label of an enum has got another name.

namespace ouzel::sql {

/// The text of a view. The context's catalog is the one before the change, here and below.
std::string relabelView(std::string_view definition, const LiteralText& textFor, const BindContext& context);
/// A default, CHECK constraint or generation expression. `table`: whose columns it may read.
std::string relabelExpression(std::string_view expression, ExpressionUse use, const catalog::Relation* table,
                              std::optional<SqlType> target, const LiteralText& textFor, const BindContext& context);
/// An expression of a policy of the table.
std::string relabelPolicy(std::string_view text, const catalog::Relation& table, const std::string& tableName,
                          const LiteralText& textFor, const BindContext& context);

} // namespace ouzel::sql
