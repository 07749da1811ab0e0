#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/value/sql_type.hpp"
#include "common/value/value.hpp"

// Scalar expressions: written by sql/bind, rewritten by the optimizer, compiled by executor/expression.

namespace ouzel::catalog {
struct FunctionInfo;
}

namespace ouzel::sql {

struct Rel;
struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

/// Number of a column, unique within one plan: the index into the plan's ColumnTable (columns.hpp). A rewrite never
/// renumbers a column.
enum class ColumnId : uint32_t {};
inline constexpr ColumnId noColumn{UINT32_MAX};

enum class CompareOp : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, IsDistinctFrom, IsNotDistinctFrom };
CompareOp commuted(CompareOp op); ///< a op b == b commuted(op) a
CompareOp negated(CompareOp op);  ///< NOT (a op b) == a negated(op) b

enum class ExprKind : uint8_t {
   Column,      ///< `column`
   OuterColumn, ///< binder and unnesting only: `column` of an enclosing query, `outerDepth` ≥ 1 levels out
   Constant,    ///< `constant` (its physical type agrees with `repr`)
   Parameter,   ///< $n: `parameter` counted from 0; engine replaces it by a Constant before optimising when values are
                ///< known
   Compare,     ///< args[0] `compare` args[1]; the binder has given both sides one type (after PostgreSQL's operator
            ///< resolution), lowering gives them one representation. bpchar values carry no trailing blanks, so bytes
            ///< compare.
   And,
   Or, ///< n ≥ 2 args, three-valued. Evaluated left to right over the rows still undecided
   Not,
   IsNull, ///< args[0] IS NULL
   IsNotNull,
   IsTrue,
   IsNotTrue,
   IsFalse,
   IsNotFalse, ///< of a boolean; IS [NOT] UNKNOWN is Is[Not]Null
   Case, ///< searched: when1, then1, when2, then2, ..., [else]; odd count: has else. `CASE x WHEN` compares copies of
         ///< x; if x is volatile or has a subquery, a scalar subquery computes x once and does the comparisons
   Coalesce, ///< n ≥ 1 args, lazily
   NullIf,   ///< bound to Case by the binder; never seen later
   InList,   ///< args[0] IN (args[1..]), `negated`; all one type; constants become a hash set
   Call, ///< `function` over args (strict ones give NULL on any NULL). `kernel` may override the function's kernel key
   Relabel,  ///< same bytes, other type (binary-coercible cast)
   TextCast, ///< cast through text input/output (CoerceViaIO), or from `unknown` text at run time
   Convert,  ///< lowering only: the same numeric (or integer) value in another Representation: args[0].repr -> repr.
            ///< Widening or proven to fit, except into Decimal, which always fits; integers convert to a scaled numeric
            ///< of any scale
   TypmodCast,   ///< apply `type.typmod` to a value of the same type; `explicitCast` truncates varchar silently
   Aggregate,    ///< binder only: replaced by a Column of a GroupBy before the algebra is complete
   WindowCall,   ///< binder only: replaced by a Column of a Window
   Subquery,     ///< `subquery` as a scalar: `subqueryKind`; removed by unnesting, never reaches the executor
   Array,        ///< ARRAY[args...]; `type` is the array type
   Row,          ///< ROW(args...): only inside comparisons, IN and IS NULL, expanded by the binder
   SubscriptRef, ///< args[0][args[1]]: one-element access of an array
   AnyArray, ///< args[0] `compare` ANY (args[1] array); `negated` means ALL; `function` set when the operator is not a
             ///< comparison (LIKE)
};

enum class SubqueryKind : uint8_t {
   Scalar, ///< its one value, NULL when empty, 21000 "more than one row returned by a subquery used as an expression"
   Exists,
   Any, ///< args[0..n) `compare` ANY (subquery with n columns): IN is Eq
   All,
   Array, ///< ARRAY(subquery)
};

/// One node of an expression tree; owns its arguments and its subquery. `kind` decides which members are used, as
/// listed at ExprKind; all other members keep their defaults.
struct Expr {
   ExprKind kind;
   SqlType type;
   Representation repr;   ///< set by lowering; before that storedRepresentation(type)
   uint32_t position = 0; ///< in the statement, characters from 1, for errors; 0: unknown
   std::vector<ExprPtr> args;

   ColumnId column = noColumn;
   uint32_t outerDepth = 0;
   uint32_t parameter = 0;
   CompareOp compare = CompareOp::Eq;
   SubqueryKind subqueryKind = SubqueryKind::Scalar;
   bool negated = false;
   bool explicitCast = false;
   Value constant;
   const catalog::FunctionInfo* function = nullptr;
   /// Key of the kernel in executor/function's registry when lowering chose a specialised one; else function->prosrc.
   std::string kernel;
   std::unique_ptr<Rel> subquery;
   ColumnId subqueryColumn = noColumn;    ///< Scalar, Any, All, Array: the (first) output column of `subquery`
   std::vector<ColumnId> subqueryColumns; ///< Any, All: one per arg

   Expr(ExprKind kind, const SqlType& type); ///< repr becomes storedRepresentation(type)
   ~Expr();
};

ExprPtr makeColumn(ColumnId column, const SqlType& type);
ExprPtr makeConstant(const SqlType& type, Value value);
ExprPtr makeNull(const SqlType& type);
ExprPtr makeBoolean(bool value);
bool isNullConstant(const Expr& expr);
ExprPtr makeCompare(CompareOp op, ExprPtr lhs, ExprPtr rhs);
ExprPtr makeNot(ExprPtr arg);
/// AND of the list; true when empty, the element itself when single. Flattens nested Ands.
ExprPtr makeAnd(std::vector<ExprPtr> conjuncts);
ExprPtr makeOr(std::vector<ExprPtr> disjuncts);
ExprPtr makeCall(const catalog::FunctionInfo* function, const SqlType& type, std::vector<ExprPtr> args);

ExprPtr clone(const Expr& expr);          ///< deep, subqueries too (with the same column ids)
bool equal(const Expr& a, const Expr& b); ///< structural; positions ignored; subqueries are never equal
uint64_t structuralHash(const Expr& expr);

/// Call `visit` on every node, parents first; do not descend where it returns false. Does not enter subquery Rels.
void forEachExpr(const Expr& root, const std::function<bool(const Expr&)>& visit);
/// Replace nodes bottom-up: `rewrite(node)` may modify or replace the pointer. Does not enter subquery Rels.
void rewriteExpr(ExprPtr& root, const std::function<void(ExprPtr&)>& rewrite);
/// Append the columns (kind Column) that the expression reads, without duplicates; includes free columns of subqueries.
void collectColumns(const Expr& root, std::vector<ColumnId>& out);
/// Replace columns by expressions (cloned) or other columns.
void substituteColumns(ExprPtr& root, const std::function<const Expr*(ColumnId)>& replacement);
/// Split nested Ands into conjuncts.
void splitConjuncts(ExprPtr predicate, std::vector<ExprPtr>& out);
bool isConstantTrue(const Expr& expr);
bool isConstantFalseOrNull(const Expr& expr);
/// True if the expression calls a volatile function (random(), nextval(), clock_timestamp()). A rewrite must not
/// duplicate, fold or move such an expression.
bool isVolatile(const Expr& expr);
/// True if evaluation may raise an error for some input (division, casts, overflow), and when that is not known.
bool mayFail(const Expr& expr);
/// True when the predicate cannot be true if all of `columns` are NULL (used to turn outer joins into inner ones).
bool rejectsNulls(const Expr& predicate, const std::vector<ColumnId>& columns);

} // namespace ouzel::sql
