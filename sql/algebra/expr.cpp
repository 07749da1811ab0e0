#include "sql/algebra/expr.hpp"

#include "common/thread/interruption.hpp"
#include "common/thread/stack.hpp"
#include "sql/algebra/blanks.hpp"
#include "sql/algebra/members.hpp"

namespace ouzel::sql {

namespace {

scalar::Fields emptyFields(ExprKind kind) {
   switch (kind) {
   case ExprKind::Column: return scalar::Column();
   case ExprKind::Constant: return scalar::Constant();
   case ExprKind::Parameter: return scalar::Parameter();
   case ExprKind::Compare: return scalar::Compare();
   case ExprKind::InList: return scalar::InList();
   case ExprKind::Call: return scalar::Call();
   case ExprKind::TypmodCast: return scalar::TypmodCast();
   case ExprKind::Subquery: return scalar::Subquery();
   case ExprKind::Row: return scalar::Row();
   case ExprKind::Relabel: return scalar::Relabel();
   case ExprKind::AnyArray: return scalar::AnyArray();
   case ExprKind::And:
   case ExprKind::Or:
   case ExprKind::Not:
   case ExprKind::IsNull:
   case ExprKind::IsNotNull:
   case ExprKind::IsTrue:
   case ExprKind::IsNotTrue:
   case ExprKind::IsFalse:
   case ExprKind::IsNotFalse:
   case ExprKind::Case:
   case ExprKind::Coalesce:
   case ExprKind::TextCast:
   case ExprKind::Convert:
   case ExprKind::Array:
   case ExprKind::SubscriptRef: break;
   }
   return scalar::NoFields();
}

} // namespace

scalar::Fields::Fields(Fields&& other) noexcept = default;
scalar::Fields& scalar::Fields::operator=(Fields&& other) noexcept = default;
scalar::Fields::~Fields() = default;

Expr::Expr(ExprKind k, const SqlType& t) : kind(k), type(t), repr(storedRepresentation(t)), fields(emptyFields(k)) {}

Expr::Expr(ExprKind k, const SqlType& t, scalar::Fields&& f)
   : kind(k), type(t), repr(storedRepresentation(t)), fields(std::move(f)) {
   DCHECK(fields.index() == emptyFields(k).index());
}

Expr::~Expr() = default; // here, because Rel is incomplete in the header

void Expr::become(ExprKind other) {
   kind = other;
   fields = emptyFields(other);
}

CompareOp commuted(CompareOp op) {
   switch (op) {
   case CompareOp::Lt: return CompareOp::Gt;
   case CompareOp::Le: return CompareOp::Ge;
   case CompareOp::Gt: return CompareOp::Lt;
   case CompareOp::Ge: return CompareOp::Le;
   default: return op;
   }
}

CompareOp negated(CompareOp op) {
   switch (op) {
   case CompareOp::Eq: return CompareOp::Ne;
   case CompareOp::Ne: return CompareOp::Eq;
   case CompareOp::Lt: return CompareOp::Ge;
   case CompareOp::Le: return CompareOp::Gt;
   case CompareOp::Gt: return CompareOp::Le;
   case CompareOp::Ge: return CompareOp::Lt;
   case CompareOp::IsDistinctFrom: return CompareOp::IsNotDistinctFrom;
   case CompareOp::IsNotDistinctFrom: return CompareOp::IsDistinctFrom;
   }
   return op;
}

ExprPtr makeColumn(ColumnId column, const SqlType& type) {
   return std::make_unique<Expr>(ExprKind::Column, type, scalar::Column{column});
}

ExprPtr makeConstant(const SqlType& type, Value value) {
   return std::make_unique<Expr>(ExprKind::Constant, type, scalar::Constant{std::move(value)});
}

ExprPtr makeNull(const SqlType& type) {
   return makeConstant(type, Value::null(storedRepresentation(type).physical));
}

ExprPtr makeBoolean(bool value) {
   return makeConstant(SqlType{oid::boolean}, Value::boolean(value));
}

ExprPtr makeCompare(CompareOp op, ExprPtr lhs, ExprPtr rhs) {
   auto expr = std::make_unique<Expr>(ExprKind::Compare, SqlType{oid::boolean}, scalar::Compare{op});
   expr->args.push_back(withoutBlanks(std::move(lhs)));
   expr->args.push_back(withoutBlanks(std::move(rhs)));
   return expr;
}

ExprPtr makeNot(ExprPtr arg) {
   auto expr = std::make_unique<Expr>(ExprKind::Not, SqlType{oid::boolean});
   expr->args.push_back(std::move(arg));
   return expr;
}

namespace {

ExprPtr makeList(ExprKind kind, std::vector<ExprPtr> list, bool neutral) {
   std::vector<ExprPtr> flat;
   for (ExprPtr& element : list) {
      if (element->kind == kind) {
         for (ExprPtr& arg : element->args)
            flat.push_back(std::move(arg));
      } else {
         flat.push_back(std::move(element));
      }
   }
   if (flat.empty()) return makeBoolean(neutral);
   if (flat.size() == 1) return std::move(flat.front());
   auto expr = std::make_unique<Expr>(kind, SqlType{oid::boolean});
   expr->args = std::move(flat);
   return expr;
}

} // namespace

ExprPtr makeAnd(std::vector<ExprPtr> conjuncts) {
   return makeList(ExprKind::And, std::move(conjuncts), true);
}

ExprPtr makeOr(std::vector<ExprPtr> disjuncts) {
   return makeList(ExprKind::Or, std::move(disjuncts), false);
}

ExprPtr makeCall(const catalog::FunctionInfo* function, const SqlType& type, std::vector<ExprPtr> args) {
   auto expr = std::make_unique<Expr>(ExprKind::Call, type, scalar::Call{function});
   expr->args = std::move(args);
   return expr;
}

ExprPtr clone(const Expr& expr) {
   checkStack();
   checkInterrupted(); // copies of copies grow exponentially
   auto copy = std::make_unique<Expr>(
       expr.kind, expr.type, std::visit([](const auto& own) { return scalar::Fields(copyOf(own)); }, expr.fields));
   copy->repr = expr.repr;
   copy->position = expr.position;
   copy->origin = expr.origin;
   copy->args = copyOf(expr.args);
   return copy;
}

namespace {

uint64_t hashOf(const Value& value) {
   if (value.isNull) return 1;
   switch (value.type) {
   case PhysicalType::String:
   case PhysicalType::Decimal: return std::hash<std::string>()(value.bytes);
   case PhysicalType::F32:
   case PhysicalType::F64: return std::hash<double>()(value.f64);
   case PhysicalType::Interval: return static_cast<uint64_t>(value.interval.micros);
   case PhysicalType::I128: return static_cast<uint64_t>(value.i128);
   default: return static_cast<uint64_t>(value.i64);
   }
}

class Hasher {
public:
   explicit Hasher(uint64_t start) : hash_(start * 0x9e3779b97f4a7c15ull) {}

   void mix(uint64_t value) {
      hash_ ^= value + 0x9e3779b97f4a7c15ull + (hash_ << 6) + (hash_ >> 2);
      hash_ *= 0xff51afd7ed558ccdull;
      hash_ ^= hash_ >> 33;
   }
   /// Mixes in the members of a struct; of those of a subquery, the simple ones.
   template <typename T>
   void mixMembers(const T& value) {
      if constexpr (Listed<T>)
         forEachMember(value, [&](const auto& member, const auto&) { mixMembers(member); });
      else if constexpr (std::is_same_v<T, Value>)
         mix(hashOf(value));
      else if constexpr (std::is_pointer_v<T>)
         mix(reinterpret_cast<uintptr_t>(value));
      else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>)
         mix(static_cast<uint64_t>(value));
   }
   uint64_t hash() const { return hash_; }

private:
   uint64_t hash_;
};

} // namespace

uint64_t structuralHash(const Expr& expr) {
   checkStack();
   Hasher hasher(static_cast<uint64_t>(expr.kind));
   std::visit([&hasher](const auto& own) { hasher.mixMembers(own); }, expr.fields);
   if (expr.kind == ExprKind::Column) return hasher.hash(); // as for equal(), its type does not count
   hasher.mix(expr.type.oid);
   for (const ExprPtr& arg : expr.args)
      hasher.mix(structuralHash(*arg));
   return hasher.hash();
}

bool isNullConstant(const Expr& expr) {
   const auto* constant = expr.getIf<scalar::Constant>();
   return constant && constant->value.isNull;
}

const Value* knownValue(const Expr& expr) {
   const auto* constant = expr.getIf<scalar::Constant>();
   return constant && !constant->value.isNull ? &constant->value : nullptr;
}

ColumnId columnOf(const Expr& expr) {
   const auto* reference = expr.getIf<scalar::Column>();
   return reference ? reference->column : noColumn;
}

std::optional<CompareOp> compareOf(const Expr& expr) {
   const auto* compare = expr.getIf<scalar::Compare>();
   return compare ? std::optional(compare->op) : std::nullopt;
}

bool isEquality(const Expr& expr) {
   return compareOf(expr) == CompareOp::Eq || compareOf(expr) == CompareOp::IsNotDistinctFrom;
}

const catalog::FunctionInfo* functionOf(const Expr& expr) {
   if (const auto* call = expr.getIf<scalar::Call>()) return call->function;
   const auto* any = expr.getIf<scalar::AnyArray>();
   return any ? any->function : nullptr;
}

Rel* subqueryOf(Expr& expr) {
   auto* subquery = expr.getIf<scalar::Subquery>();
   return subquery ? subquery->query.get() : nullptr;
}

const Rel* subqueryOf(const Expr& expr) {
   return subqueryOf(const_cast<Expr&>(expr));
}

} // namespace ouzel::sql
