#pragma once
#include <functional>

#include "sql/deparse/tree.hpp"

namespace ouzel::sql::deparse {

/// What is called for each source and each term of a tree, those of nested queries included.
struct TreeVisitor {
   std::function<void(Query&)> query;
   std::function<void(Source&)> source;
   std::function<void(Term&)> term;
};
void walk(Query& query, const TreeVisitor& visitor);
void walk(Term& term, const TreeVisitor& visitor);

} // namespace ouzel::sql::deparse
