#include "sql/algebra/verify_expr.hpp"

#include <algorithm>
#include <array>

#include "catalog/builtin/builtin.hpp"
#include "common/error/sql_error.hpp"
#include "common/type/blanks.hpp"

namespace ouzel::sql {

namespace {

template <size_t n>
bool isOneOf(Oid type, const std::array<Oid, n>& list) {
   return std::find(list.begin(), list.end(), type) != list.end();
}

/// Types whose values are bytes of text; literals of type unknown become text or parse to another type.
constexpr std::array textTypes{oid::text, oid::varchar, oid::bpchar, oid::name, oid::character, oid::unknown};
/// Types whose values are whole numbers, compared as such.
constexpr std::array integerTypes{oid::int2,     oid::int4,    oid::int8,         oid::oid,     oid::xid,
                                  oid::cid,      oid::regproc, oid::regprocedure, oid::regoper, oid::regoperator,
                                  oid::regclass, oid::regtype, oid::regnamespace, oid::regrole, oid::regcollation,
                                  Oid{3734},     Oid{3769}};

bool isArray(Oid type) {
   return arrayElementType(type) != invalidOid || type == oid::int2vector || type == oid::oidvector ||
          type == oid::anyarray;
}

bool isPseudo(Oid type) {
   const catalog::TypeInfo* info = catalog::builtins().type(type);
   return info && info->isPseudo();
}

/// The representation that functions take and give unless they have kernels for scaled numerics.
Representation genericRepresentation(const SqlType& type) {
   return type.oid == oid::numeric ? Representation{PhysicalType::Decimal, 0} : storedRepresentation(type);
}

} // namespace

bool VisibleColumns::add(ColumnId column) {
   const uint32_t id = static_cast<uint32_t>(column);
   if (id / 64 >= words_.size()) words_.resize(id / 64 + 1);
   const uint64_t bit = uint64_t{1} << id % 64;
   const bool isNew = (words_[id / 64] & bit) == 0;
   words_[id / 64] |= bit;
   return isNew;
}

void VisibleColumns::add(const std::vector<ColumnId>& columns) {
   for (const ColumnId column : columns)
      add(column);
}

void VisibleColumns::add(const VisibleColumns& other) {
   if (other.words_.size() > words_.size()) words_.resize(other.words_.size());
   for (size_t i = 0; i < other.words_.size(); ++i)
      words_[i] |= other.words_[i];
}

bool VisibleColumns::has(ColumnId column) const {
   const uint32_t id = static_cast<uint32_t>(column);
   return id / 64 < words_.size() && (words_[id / 64] >> id % 64 & 1) != 0;
}

bool isCompatible(const SqlType& a, const SqlType& b) {
   if (a.oid == b.oid) return true;
   if (isOneOf(a.oid, textTypes) && isOneOf(b.oid, textTypes)) return true;
   if (isOneOf(a.oid, integerTypes) && isOneOf(b.oid, integerTypes)) return true;
   return isArray(a.oid) && isArray(b.oid);
}

bool haveSameBlanks(const SqlType& a, const SqlType& b) {
   return a.oid != oid::bpchar || b.oid != oid::bpchar || a.typmod == b.typmod;
}

void ExprVerifier::refuse(std::string_view rule, const Expr& about) const {
   refuse(rule, toString(about, columns_));
}

void ExprVerifier::refuse(std::string_view rule, std::string_view about) const {
   std::string message = "verification after " + std::string(after_) + ", " + node_ + ": " + std::string(rule);
   if (!about.empty()) message += ": " + std::string(about);
   throwInternal(message);
}

std::string ExprVerifier::name(ColumnId column) const {
   if (column == noColumn) return "none";
   const uint32_t id = static_cast<uint32_t>(column);
   return (id < columns_.size() ? columns_[column].name : std::string("?")) + "#" + std::to_string(id);
}

void ExprVerifier::checkColumn(ColumnId column, const VisibleColumns& visible) const {
   ensure(static_cast<uint32_t>(column) < columns_.size(), "a column is in the plan's table of columns", column);
   ensure(visible.has(column), "a column that is read is made below", column);
}

void ExprVerifier::check(const ExprPtr& root, const VisibleColumns& visible) const {
   ensure(root != nullptr, "an expression is there");
   forEachExpr(*root, [&](const Expr& expr) {
      for (const ExprPtr& arg : expr.args)
         ensure(arg != nullptr, "an argument is there");
      checkNode(expr, visible);
      return true;
   });
}

void ExprVerifier::check(const std::vector<ExprPtr>& list, const VisibleColumns& visible) const {
   for (const ExprPtr& expr : list)
      check(expr, visible);
}

void ExprVerifier::checkPredicate(const ExprPtr& root, const VisibleColumns& visible) const {
   check(root, visible);
   ensure(root->type.oid == oid::boolean, "a predicate is boolean", *root);
}

void ExprVerifier::checkComputed(const ComputedColumn& computed, const VisibleColumns& visible) const {
   check(computed.expr, visible);
   ensure(static_cast<uint32_t>(computed.column) < columns_.size(), "a computed column is in the table of columns");
   const ColumnInfo& info = columns_[computed.column];
   ensure(isCompatible(info.type, computed.expr->type), "a computed column has its expression's type", computed.column);
   ensure(isNullConstant(*computed.expr) || haveSameBlanks(info.type, computed.expr->type),
          "a computed column has its expression's blanks", computed.column);
   if (isLowered_)
      ensure(info.repr == computed.expr->repr, "a computed column has its expression's representation",
             computed.column);
}

void ExprVerifier::checkNode(const Expr& expr, const VisibleColumns& visible) const {
   switch (expr.kind) {
   case ExprKind::Column: {
      const ColumnId column = columnOf(expr);
      checkColumn(column, visible);
      ensure(isCompatible(columns_[column].type, expr.type), "a reference has its column's type", column);
      ensure(haveSameBlanks(columns_[column].type, expr.type), "a reference has its column's blanks", column);
      if (isLowered_) ensure(columns_[column].repr == expr.repr, "a reference has its column's representation", column);
      return;
   }
   case ExprKind::Constant:
      ensure(expr.as<scalar::Constant>().value.type == expr.repr.physical, "a constant is of its representation", expr);
      return;
   case ExprKind::And:
   case ExprKind::Or:
   case ExprKind::Not:
   case ExprKind::IsNull:
   case ExprKind::IsNotNull:
   case ExprKind::IsTrue:
   case ExprKind::IsNotTrue:
   case ExprKind::IsFalse:
   case ExprKind::IsNotFalse: return checkLogic(expr);
   case ExprKind::Compare:
   case ExprKind::InList: return checkComparison(expr);
   case ExprKind::Case:
   case ExprKind::Coalesce: return checkAlternatives(expr);
   case ExprKind::Call: return checkCall(expr);
   case ExprKind::Relabel:
   case ExprKind::TextCast:
   case ExprKind::Convert:
   case ExprKind::TypmodCast: return checkCast(expr);
   case ExprKind::Array:
   case ExprKind::SubscriptRef:
   case ExprKind::AnyArray: return checkArray(expr);
   case ExprKind::Subquery: return checkSubquery(expr, visible);
   case ExprKind::Parameter:
   case ExprKind::Row: // lowering raises 0A000 for a Row that no step has expanded
      return;
   }
   refuse("an expression is of a kind that exists", "");
}

void ExprVerifier::checkLogic(const Expr& expr) const {
   const bool isList = expr.kind == ExprKind::And || expr.kind == ExprKind::Or;
   const bool takesAnything = expr.kind == ExprKind::IsNull || expr.kind == ExprKind::IsNotNull;
   ensure(expr.type.oid == oid::boolean, "logic gives a boolean");
   ensure(!isList || expr.args.size() >= 2, "AND and OR have two arguments at least");
   ensure(isList || expr.args.size() == 1, "a test has one argument");
   for (const ExprPtr& arg : expr.args) {
      ensure(takesAnything || arg->type.oid == oid::boolean, "logic takes booleans", *arg);
      if (isLowered_ && !takesAnything)
         ensure(arg->repr.physical == PhysicalType::Bool, "a boolean is represented as one", *arg);
   }
}

void ExprVerifier::checkComparison(const Expr& expr) const {
   const bool isList = expr.kind == ExprKind::InList;
   ensure(expr.type.oid == oid::boolean, "a comparison gives a boolean");
   ensure(isList || expr.args.size() == 2, "a comparison has two arguments");
   ensure(!isList || expr.args.size() >= 2, "IN has something to compare with");
   for (const ExprPtr& arg : expr.args) {
      ensure(isCompatible(expr.args[0]->type, arg->type), "what is compared is of one type", expr);
      ensure(!keepsBlanks(arg->type) || arg->kind == ExprKind::Constant || arg->kind == ExprKind::Parameter,
             "what is compared has no trailing blanks", expr);
      if (isLowered_) ensure(expr.args[0]->repr == arg->repr, "what is compared has one representation", expr);
   }
}

void ExprVerifier::checkAlternatives(const Expr& expr) const {
   const bool isCase = expr.kind == ExprKind::Case;
   ensure(expr.args.size() >= (isCase ? 2 : 1), "there is an alternative");
   for (size_t i = 0; i < expr.args.size(); ++i) {
      const Expr& arg = *expr.args[i];
      if (isCase && i % 2 == 0 && i + 1 < expr.args.size()) {
         ensure(arg.type.oid == oid::boolean, "WHEN is boolean", arg);
         continue;
      }
      ensure(isCompatible(expr.type, arg.type), "an alternative is of the result's type", expr);
      ensure(isNullConstant(arg) || haveSameBlanks(expr.type, arg.type), "an alternative has the result's blanks",
             expr);
      if (isLowered_) ensure(expr.repr == arg.repr, "an alternative has the result's representation", expr);
   }
}

void ExprVerifier::checkCall(const Expr& expr) const {
   ensure(functionOf(expr) != nullptr, "a call has a function");
   const catalog::FunctionInfo& function = *functionOf(expr);
   const size_t declared = function.argTypes.size();
   const bool takesAnyNumber = function.variadicElement == oid::any;
   ensure(function.kind == catalog::FunctionKind::Function, "a call is of a plain function", function.name);
   ensure(takesAnyNumber ? expr.args.size() + 1 >= declared : expr.args.size() == declared,
          "a call has its function's number of arguments", function.name);
   for (size_t i = 0; i < std::min(declared, expr.args.size()); ++i)
      ensure(isPseudo(function.argTypes[i]) || isCompatible({function.argTypes[i]}, expr.args[i]->type),
             "an argument is of the declared type", function.name);
   ensure(isPseudo(function.returnType) || isCompatible({function.returnType}, expr.type),
          "a call is of its function's type", function.name);
   if (isLowered_) checkScaledCall(expr);
}

/// Only the kernels that representation.hpp lists take scaled numerics.
void ExprVerifier::checkScaledCall(const Expr& expr) const {
   const std::string_view source = functionOf(expr)->source;
   const bool isSum = source == "numeric_add" || source == "numeric_sub", isProduct = source == "numeric_mul";
   const bool isSign = source == "numeric_uminus" || source == "numeric_abs";
   const bool isExtreme = expr.type.oid == oid::numeric && (source == "ouzel_greatest" || source == "ouzel_least");
   for (const ExprPtr& arg : expr.args) {
      if (isSum || isSign || isExtreme)
         ensure(arg->repr == expr.repr, "a numeric sum or extreme has the representation of its arguments", source);
      else if (!isProduct)
         ensure(arg->repr == genericRepresentation(arg->type),
                "an argument is represented as stored, numeric as Decimal", source);
   }
   if (isProduct) {
      const Representation lhs = expr.args[0]->repr, rhs = expr.args[1]->repr;
      ensure(expr.repr.scale == lhs.scale + rhs.scale, "a product's scale is the sum of its factors'");
      ensure((lhs.physical == PhysicalType::Decimal) == (expr.repr.physical == PhysicalType::Decimal),
             "a product is scaled as its factors are");
      ensure(physicalSize(expr.repr.physical) >= physicalSize(lhs.physical), "a product is as wide as its left factor");
      ensure(physicalSize(expr.repr.physical) >= physicalSize(rhs.physical),
             "a product is as wide as its right factor");
   } else if (!isSum && !isSign && !isExtreme) {
      ensure(expr.repr == genericRepresentation(expr.type), "a call gives what is stored, numeric as Decimal", source);
   }
}

void ExprVerifier::checkCast(const Expr& expr) const {
   ensure(expr.args.size() == 1, "a cast has one argument");
   const Expr& arg = *expr.args[0];
   if (expr.kind == ExprKind::TypmodCast) {
      ensure(arg.type.oid == expr.type.oid, "a modifier is applied to a value of its type", expr);
   } else if (expr.kind == ExprKind::Relabel) {
      const PhysicalType from = storedRepresentation(arg.type).physical, to = storedRepresentation(expr.type).physical;
      // A numeric without modifier keeps the scaled integers of its argument until it is lowered.
      const bool isNumeric = expr.type.oid == oid::numeric && arg.type.oid == oid::numeric;
      ensure(from == to || isNumeric || (isInteger(from) && isInteger(to)), "a new label leaves the bytes as they are",
             expr);
      if (isLowered_) ensure(arg.repr == expr.repr, "a new label leaves the representation as it is");
   } else if (expr.kind == ExprKind::Convert) {
      ensure(isLowered_, "only lowering converts representations", expr);
      // An integer that becomes a numeric of scale 0 may keep its representation.
      ensure(arg.repr != expr.repr || arg.type.oid != expr.type.oid, "a conversion changes the representation", expr);
      ensure(isInteger(arg.repr.physical) || arg.repr.physical == PhysicalType::Decimal, "a conversion takes a number",
             expr);
      ensure(isInteger(expr.repr.physical) || expr.repr.physical == PhysicalType::Decimal,
             "a conversion gives a number", expr);
   }
}

void ExprVerifier::checkArray(const Expr& expr) const {
   if (expr.kind == ExprKind::Array) {
      const Oid element = arrayElementType(expr.type.oid);
      for (const ExprPtr& arg : expr.args)
         ensure(element == invalidOid || arg->type.oid == expr.type.oid || isCompatible({element}, arg->type),
                "an element is of its array's element type", expr);
      return;
   }
   if (expr.kind == ExprKind::SubscriptRef) {
      ensure(expr.args.size() >= 2, "a subscripted array has subscripts");
      return;
   }
   ensure(expr.args.size() == 2, "ANY and ALL have two arguments");
   if (expr.kind == ExprKind::AnyArray) {
      ensure(expr.type.oid == oid::boolean, "ANY and ALL give a boolean");
      ensure(isArray(expr.args[1]->type.oid), "ANY and ALL take an array", expr);
   }
}

void ExprVerifier::checkSubquery(const Expr& expr, const VisibleColumns& visible) const {
   ensure(subquery_ != nullptr, "subqueries have become joins", expr);
   const auto& subquery = expr.as<scalar::Subquery>();
   ensure(subquery.query != nullptr, "a subquery has a query");
   subquery_(*subquery.query, visible);
   VisibleColumns given(outputColumns(*subquery.query));
   given.add(visible); // the subquery may pass on a column of an enclosing query
   for (const ColumnId column : subquery.columns)
      checkColumn(column, given);
   switch (subquery.kind) {
   case SubqueryKind::Scalar:
      ensure(subquery.columns.size() == 1, "a scalar subquery has one column");
      ensure(isCompatible(columns_[subquery.columns[0]].type, expr.type), "a scalar subquery is of its column's type");
      return;
   case SubqueryKind::Array: ensure(subquery.columns.size() == 1, "an array of a subquery has one column"); return;
   case SubqueryKind::Exists:
   case SubqueryKind::Any:
   case SubqueryKind::All: ensure(expr.type.oid == oid::boolean, "EXISTS, ANY and ALL give a boolean");
   }
   if (subquery.kind == SubqueryKind::Exists) return;
   ensure(subquery.columns.size() == expr.args.size(), "ANY and ALL compare each argument with one column");
   for (size_t i = 0; i < expr.args.size(); ++i)
      ensure(isCompatible(columns_[subquery.columns[i]].type, expr.args[i]->type),
             "ANY and ALL compare values of one type", subquery.columns[i]);
}

} // namespace ouzel::sql
