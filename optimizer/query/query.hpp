#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "optimizer/query/column_estimate.hpp"
#include "optimizer/query/column_set.hpp"
#include "optimizer/query/context.hpp"
#include "sql/algebra/build.hpp"

// Common to all rewrites: the query that is optimised, and helpers that build or inspect algebra.

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
using sql::makeRel;
using sql::makeSelect;
using sql::makeTest;
using sql::noColumn;
using sql::oneRow;
using sql::Rel;
using sql::RelKind;
using sql::RelPtr;

namespace op = sql::op;

using ColumnMap = std::unordered_map<ColumnId, ColumnId>;

/// State of one optimisation. optimize() owns it; rewrites add columns and CTE ids.
struct Query {
   sql::ColumnTable& columns;
   const OptimizerContext& context;
   uint32_t nextCte = 1; ///< larger than all ids of CTEs in use
   /// Results of predicates on samples, by a hash of table and predicate: the fraction, or -1 and an upper bound if no
   /// row matched.
   std::unordered_map<uint64_t, std::pair<double, double>> samples{};
   std::unordered_map<ColumnId, ColumnEstimate> paths{}; ///< what samples say of the paths that scans give

   ColumnId newColumn(std::string name, const SqlType& type, bool nullable = true);
   /// A new column with the same name, type and origin.
   ColumnId copyColumn(ColumnId column);
   ExprPtr ref(ColumnId column) const { return sql::makeColumn(column, columns[column].type); }
   /// CASE WHEN condition THEN value END; the value itself without a condition (noColumn).
   ExprPtr onlyWhere(ColumnId condition, ExprPtr value) const;
};

inline const SqlType booleanType{oid::boolean};
inline const SqlType int8Type{oid::int8};

/// a = b, or a IS NOT DISTINCT FROM b if both columns can be NULL.
ExprPtr sameValue(const Query& query, ColumnId a, ColumnId b);
ExprPtr makeInt8(int64_t value);

/// Deep copy with new ids for all columns that the tree makes and for its CTEs. `renamed` gets old -> new.
RelPtr cloneRenamed(const Rel& rel, Query& query, ColumnMap& renamed);
/// Adds the columns that an expression, or a list of expressions, reads to `set`.
void addColumns(const Expr& expr, ColumnSet& set);
void addColumns(const std::vector<ExprPtr>& exprs, ColumnSet& set);
/// Adds the columns that the operator itself reads, in expressions and elsewhere.
void addOwnReads(const Rel& rel, ColumnSet& set);
/// Replaces the columns that expressions of the subtree read; columns that its operators make keep their ids.
void replaceColumns(Rel& rel, const std::function<ColumnId(ColumnId)>& replacement);
/// Calls `visit` on `rel` and on every operator below, CTEs included, parents first. Does not enter subqueries.
void forEachRel(Rel& rel, const std::function<void(Rel&)>& visit);
/// True if `rel` gives at most (exactly) one row for any data.
bool isAtMostOneRow(const Rel& rel);
bool isExactlyOneRow(const Rel& rel);
/// True if an expression in the subtree may raise an error or is volatile. A rewrite must not compute it for rows that
/// the statement's own order of evaluation leaves out.
bool hasEffects(const Rel& rel);
/// True if the expression may raise another error than the overflow of a sum, a difference or a product.
bool mayFailBesidesOverflow(const Expr& expr);
/// True if no two rows of `rel` agree on all of `columns`, where NULLs count as equal.
bool isUniqueOn(const Rel& rel, const ColumnSet& columns, const Query& query);

} // namespace ouzel::optimizer
