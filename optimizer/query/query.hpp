#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "optimizer/query/column_set.hpp"
#include "optimizer/query/context.hpp"
#include "sql/algebra/build.hpp"

// What all rewrites share: the query being optimised, and short ways to build algebra.

namespace ouzel::optimizer {

using sql::ColumnId;
using sql::CompareOp;
using sql::conjunction;
using sql::conjunctsOf;
using sql::Expr;
using sql::ExprKind;
using sql::ExprPtr;
using sql::isUnit;
using sql::JoinKind;
using sql::makeJoin;
using sql::makeMap;
using sql::makeSelect;
using sql::makeTest;
using sql::noColumn;
using sql::oneRow;
using sql::Rel;
using sql::RelKind;
using sql::RelPtr;

using ColumnMap = std::unordered_map<ColumnId, ColumnId>;

/// One optimisation in progress. Owned by optimize(); rewrites add columns to it.
struct Query {
   sql::ColumnTable& columns;
   const OptimizerContext& context;
   uint32_t nextCte = 1; ///< above all ids in use
   /// What samples said of the predicates of scans (a hash of both): fraction, and an upper bound when nothing matched.
   std::unordered_map<uint64_t, std::pair<double, double>> samples{};

   ColumnId newColumn(std::string name, const SqlType& type, bool nullable = true);
   /// A new column with the same description.
   ColumnId copyColumn(ColumnId column);
   ExprPtr ref(ColumnId column) const { return sql::makeColumn(column, columns[column].type); }
};

inline const SqlType booleanType{oid::boolean};
inline const SqlType int8Type{oid::int8};

/// a = b, or a IS NOT DISTINCT FROM b when both can be NULL.
ExprPtr sameValue(const Query& query, ColumnId a, ColumnId b);
ExprPtr makeInt8(int64_t value);

/// Deep copy in which every column that the tree makes, and every CTE, has a new id. `renamed` gets old -> new.
RelPtr cloneRenamed(const Rel& rel, Query& query, ColumnMap& renamed);
/// Columns that an expression, or a list of them, reads; added to `set`.
void addColumns(const Expr& expr, ColumnSet& set);
void addColumns(const std::vector<ExprPtr>& exprs, ColumnSet& set);
/// Replace columns that are read in the whole subtree (not those it makes).
void replaceColumns(Rel& rel, const std::function<ColumnId(ColumnId)>& replacement);
/// Call `visit` on every operator below and including `rel`, CTEs too, parents first. Does not enter subqueries.
void forEachRel(Rel& rel, const std::function<void(Rel&)>& visit);
/// At most (exactly) one row whatever the data are.
bool isAtMostOneRow(const Rel& rel);
bool isExactlyOneRow(const Rel& rel);
/// No two rows of `rel` agree (as IS NOT DISTINCT FROM) on all of `columns`.
bool isUniqueOn(const Rel& rel, const ColumnSet& columns, const Query& query);

} // namespace ouzel::optimizer
