#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "common/error/check.hpp"
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
using RelPtr = std::unique_ptr<Rel>;

/// Number of a column, unique within one plan: the index into the plan's ColumnTable (columns.hpp). A rewrite never
/// renumbers a column.
enum class ColumnId : uint32_t {};
inline constexpr ColumnId noColumn{UINT32_MAX};

enum class CompareOp : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, IsDistinctFrom, IsNotDistinctFrom };
/// IS [NOT] DISTINCT FROM, which compare NULLs like values and never give NULL.
constexpr bool isNullSafe(CompareOp op) {
   return op >= CompareOp::IsDistinctFrom;
}
CompareOp commuted(CompareOp op); ///< a op b == b commuted(op) a
CompareOp negated(CompareOp op);  ///< NOT (a op b) == a negated(op) b

/// Kinds of expressions. The fields of a kind are in the struct of its name in `scalar`; other kinds have none.
enum class ExprKind : uint8_t {
   Column,
   Constant,
   Parameter, ///< $n; engine replaces it by a Constant before optimising when values are known
   Compare, ///< args[0] op args[1]; the binder has given both sides one type (after PostgreSQL's operator resolution),
            ///< lowering gives them one representation. Bytes of bpchar compare: no operand has trailing blanks.
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
   InList,   ///< args[0] [NOT] IN (args[1..]); all one type; constants become a hash set
   Call,     ///< a function over args (strict ones give NULL on any NULL)
   Relabel,  ///< same bytes, other type (binary-coercible cast)
   TextCast, ///< cast through text input/output (CoerceViaIO), or from `unknown` text at run time
   Convert,  ///< lowering only: the same numeric (or integer) value in another Representation: args[0].repr -> repr.
            ///< Widening or proven to fit, except into Decimal, which always fits; integers convert to a scaled numeric
            ///< of any scale
   TypmodCast,   ///< apply `type.typmod` to a value of the same type
   Subquery,     ///< a query as a scalar; removed by unnesting, never reaches the executor
   Array,        ///< ARRAY[args...]; `type` is the array type
   Row,          ///< ROW(args...): only inside comparisons, IN and IS NULL, expanded by the binder
   SubscriptRef, ///< args[0][args[1]]: one-element access of an array
   AnyArray,     ///< args[0] op ANY (args[1] array)
};

enum class SubqueryKind : uint8_t {
   Scalar, ///< its one value, NULL when empty, 21000 "more than one row returned by a subquery used as an expression"
   Exists,
   Any, ///< args[0..n) op ANY (subquery with n columns): IN is Eq
   All,
   Array, ///< ARRAY(subquery)
};

/// The fields of each kind of expression. Each struct lists its members once more, in `members`; copies and comparisons
/// follow these lists.
namespace scalar {

struct NoFields {
   template <typename Self>
   static constexpr std::tuple<> members{};
};

struct Column {
   ColumnId column = noColumn;

   template <typename Self>
   static constexpr std::tuple members{&Self::column};
};

struct Constant {
   Value value; ///< its physical type agrees with `repr`

   template <typename Self>
   static constexpr std::tuple members{&Self::value};
};

struct Parameter {
   uint32_t number = 0; ///< counted from 0

   template <typename Self>
   static constexpr std::tuple members{&Self::number};
};

struct Compare {
   CompareOp op = CompareOp::Eq;

   template <typename Self>
   static constexpr std::tuple members{&Self::op};
};

struct InList {
   bool negated = false; ///< NOT IN

   template <typename Self>
   static constexpr std::tuple members{&Self::negated};
};

struct Call {
   const catalog::FunctionInfo* function = nullptr;

   template <typename Self>
   static constexpr std::tuple members{&Self::function};
};

struct Relabel {
   bool isCollate = false; ///< COLLATE: the collation is the user's choice

   template <typename Self>
   static constexpr std::tuple members{&Self::isCollate};
};

struct TypmodCast {
   bool isExplicit = false; ///< truncates varchar silently

   template <typename Self>
   static constexpr std::tuple members{&Self::isExplicit};
};

struct Subquery {
   SubqueryKind kind = SubqueryKind::Scalar;
   CompareOp op = CompareOp::Eq; ///< Any, All
   RelPtr query;
   std::vector<ColumnId> columns; ///< of `query`: Scalar, Array: one; Any, All: one per arg; Exists: none

   template <typename Self>
   static constexpr std::tuple members{&Self::kind, &Self::op, &Self::query, &Self::columns};
};

struct Row {
   std::vector<std::string> names; ///< of the first fields; each other field is called f and its number from 1
   bool isNullExtended = false;    ///< the row of a table on the nullable side of an outer join

   template <typename Self>
   static constexpr std::tuple members{&Self::names, &Self::isNullExtended};
};

struct AnyArray {
   CompareOp op = CompareOp::Eq;
   bool isAll = false;                              ///< ALL instead of ANY
   const catalog::FunctionInfo* function = nullptr; ///< not null: the operator is this one, no comparison (LIKE)

   template <typename Self>
   static constexpr std::tuple members{&Self::op, &Self::isAll, &Self::function};
};

using AnyOf = std::variant<NoFields, Column, Constant, Parameter, Compare, InList, Call, Relabel, TypmodCast, Subquery,
                           Row, AnyArray>;

/// The fields of one expression. What a variant does with each of its alternatives is compiled once, in expr.cpp.
struct Fields : AnyOf {
   using AnyOf::AnyOf;
   Fields(Fields&& other) noexcept;
   Fields& operator=(Fields&& other) noexcept;
   ~Fields();
};

} // namespace scalar

/// The statement of a program that an expression was made from, for the context of errors.
struct Origin {
   std::string text;              ///< "PL/pgSQL function f(integer) line 3 at assignment"
   std::shared_ptr<Origin> outer; ///< of the expression that calls the program; null: it is the client's
};

/// One node of an expression tree; owns its arguments and its subquery.
struct Expr {
   ExprKind kind; ///< changed by become() only
   SqlType type;
   Representation repr;   ///< set by lowering; before that storedRepresentation(type)
   uint32_t position = 0; ///< in the statement, characters from 1, for errors; 0: unknown
   std::vector<ExprPtr> args;
   scalar::Fields fields;          ///< those of `kind`
   std::shared_ptr<Origin> origin; ///< null: no program's

   Expr(ExprKind kind, const SqlType& type); ///< with empty fields; repr becomes storedRepresentation(type)
   Expr(ExprKind kind, const SqlType& type, scalar::Fields&& fields);
   ~Expr();

   /// The fields of an expression that is known to have these: `expr.as<scalar::Call>().function`.
   template <typename Fields>
   Fields& as() {
      DCHECK(std::holds_alternative<Fields>(fields));
      return *std::get_if<Fields>(&fields);
   }
   template <typename Fields>
   const Fields& as() const {
      DCHECK(std::holds_alternative<Fields>(fields));
      return *std::get_if<Fields>(&fields);
   }
   /// The fields if the expression has these, else null.
   template <typename Fields>
   Fields* getIf() {
      return std::get_if<Fields>(&fields);
   }
   template <typename Fields>
   const Fields* getIf() const {
      return std::get_if<Fields>(&fields);
   }
   /// Makes the node one of another kind, with empty fields. Everything else stays, `args` too.
   void become(ExprKind other);
};

ExprPtr makeColumn(ColumnId column, const SqlType& type);
ExprPtr makeConstant(const SqlType& type, Value value);
ExprPtr makeNull(const SqlType& type);
ExprPtr makeBoolean(bool value);
bool isNullConstant(const Expr& expr);
/// The value of a constant that is not NULL; null for other expressions.
const Value* knownValue(const Expr& expr);
/// The column that the expression is; noColumn for other expressions.
ColumnId columnOf(const Expr& expr);
/// The operator of a Compare; none for other expressions.
std::optional<CompareOp> compareOf(const Expr& expr);
/// The function of a Call, or of an AnyArray that has one; null for other expressions.
const catalog::FunctionInfo* functionOf(const Expr& expr);
/// The query of a Subquery; null for other expressions.
Rel* subqueryOf(Expr& expr);
const Rel* subqueryOf(const Expr& expr);
ExprPtr makeCompare(CompareOp op, ExprPtr lhs, ExprPtr rhs); ///< drops the trailing blanks of bpchar operands
/// True for args[0] = args[1] and args[0] IS NOT DISTINCT FROM args[1].
bool isEquality(const Expr& expr);
ExprPtr makeNot(ExprPtr arg);
/// AND of the list; true when empty, the element itself when single. Flattens nested Ands.
ExprPtr makeAnd(std::vector<ExprPtr> conjuncts);
ExprPtr makeOr(std::vector<ExprPtr> disjuncts);
ExprPtr makeCall(const catalog::FunctionInfo* function, const SqlType& type, std::vector<ExprPtr> args);

ExprPtr clone(const Expr& expr); ///< deep, subqueries too (with the same column ids)
/// Structural; positions are ignored. Subqueries are equal if they read the same columns from outside and differ only
/// in the ids of the columns that they make.
bool equal(const Expr& a, const Expr& b);
bool sameFields(const Expr& a, const Expr& b); ///< of one kind with equal fields
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
/// Whether evaluating it tells nothing of its arguments but by its result: it cannot fail for any values of columns and
/// constants, and has no effects. Stricter than !mayFail(), which passes over errors that stored data hardly cause.
bool isLeakproof(const Expr& expr);
/// True when the predicate cannot be true if all of `columns` are NULL (used to turn outer joins into inner ones).
bool rejectsNulls(const Expr& predicate, const std::vector<ColumnId>& columns);

} // namespace ouzel::sql
