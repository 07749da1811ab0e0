#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "sql/bind/state/bind_context.hpp"

// The texts of views and stored expressions as PostgreSQL prints them: names qualified, casts and parentheses written
// out, one layout. The text that the catalog keeps is resolved anew against the context's catalog.

namespace ouzel::sql::deparse {

struct Layout {
   bool isPretty = false; ///< only the parentheses that are needed
   int lineLength = 0;    ///< of select lists and FROM; 0: a line for each item, negative: no breaks
   bool isOneLine = false;
};

/// A view's query with a semicolon, as pg_get_viewdef() gives it.
std::string viewText(const catalog::Relation& view, const BindContext& context, const Layout& layout);
struct Expression {
   std::string text;
   bool isCall = false; ///< written as name(...)
};
/// An expression over the columns of `table` (null: none), as pg_get_expr() gives it. `target`: the type that it is
/// cast to, a column's for its default; null: none.
Expression expressionText(std::string_view stored, const catalog::RelationPtr& table, const SqlType* target,
                          const BindContext& context, const Layout& layout);

/// PostgreSQL's word for the root of the expression as a value of pg_node_tree begins with it: FUNCEXPR, CONST, ...
std::string_view rootNode(std::string_view stored, const catalog::RelationPtr& table, const SqlType* target,
                          const BindContext& context);

} // namespace ouzel::sql::deparse
