#include "executor/kernel/compare.hpp"

#include "common/error/sql_error.hpp"
#include "common/value/dispatch.hpp"
#include "executor/kernel/compare_operators.hpp"
#include "executor/kernel/select.hpp"

namespace ouzel::executor {

namespace {

using sql::CompareOp;

/// The two comparisons that have loops. All six operators follow by swapping operands and by negating flags.
enum class Relation : uint8_t { Equal, Less };

template <PhysicalType type, Relation relation, typename T>
inline bool holds(const T& a, const T& b) {
   using C = ValueCompare<type, T>;
   if constexpr (relation == Relation::Equal)
      return C::equal(a, b);
   else
      return C::less(a, b);
}

/// flags[i] = holds(left(row), right(row)) for the i-th live row.
template <PhysicalType type, Relation relation, typename Left, typename Right>
inline void flagsOver(Selection rows, uint8_t* __restrict flags, Left left, Right right) {
   const uint32_t count = rows.count();
   if (rows.isDense()) {
      for (uint32_t i = 0; i < count; ++i)
         flags[i] = holds<type, relation>(left(i), right(i));
   } else {
      const RowIndex* list = rows.rows();
      for (uint32_t i = 0; i < count; ++i)
         flags[i] = holds<type, relation>(left(list[i]), right(list[i]));
   }
}

template <PhysicalType type, Relation relation>
void flagsOf(const Vector& a, const Vector& b, Selection rows, uint8_t* flags) {
   using T = PhysicalValueType<type>;
   const T *av = a.values<T>(), *bv = b.values<T>();
   const auto flatA = [av](uint32_t row) -> const T& { return av[row]; };
   const auto flatB = [bv](uint32_t row) -> const T& { return bv[row]; };
   if (a.encoding == Encoding::Flat && b.encoding == Encoding::Flat) {
      flagsOver<type, relation>(rows, flags, flatA, flatB);
   } else if (a.encoding == Encoding::Flat && b.encoding == Encoding::Constant) {
      flagsOver<type, relation>(rows, flags, flatA, [bound = bv[0]](uint32_t) -> const T& { return bound; });
   } else if (a.encoding == Encoding::Constant && b.encoding == Encoding::Flat) {
      flagsOver<type, relation>(
          rows, flags, [bound = av[0]](uint32_t) -> const T& { return bound; }, flatB);
   } else {
      const uint32_t count = rows.count();
      for (uint32_t i = 0; i < count; ++i) {
         const uint32_t row = rows.row(i);
         flags[i] = holds<type, relation>(av[a.positionOf(row)], bv[b.positionOf(row)]);
      }
   }
}

template <PhysicalType type>
void flagsOfType(CompareOp op, const Vector& a, const Vector& b, Selection rows, uint8_t* flags) {
   switch (op) {
   case CompareOp::Eq:
   case CompareOp::Ne: flagsOf<type, Relation::Equal>(a, b, rows, flags); break;
   case CompareOp::Lt:
   case CompareOp::Ge: flagsOf<type, Relation::Less>(a, b, rows, flags); break;
   case CompareOp::Gt:
   case CompareOp::Le: flagsOf<type, Relation::Less>(b, a, rows, flags); break;
   default: throwInternal("not a comparison of two values");
   }
}

void negate(uint8_t* flags, uint32_t count) {
   for (uint32_t i = 0; i < count; ++i)
      flags[i] ^= 1;
}

/// Set flags[i] to `a IS DISTINCT FROM b`, starting from the flags of a <> b.
void distinctFlags(const Vector& a, const Vector& b, Selection rows, uint8_t* flags) {
   compareFlags(CompareOp::Ne, a, b, rows, flags);
   if (!a.mayHaveNulls() && !b.mayHaveNulls()) return;
   for (uint32_t i = 0; i < rows.count(); ++i) {
      const uint32_t row = rows.row(i);
      const bool aNull = a.isNull(row), bNull = b.isNull(row);
      if (aNull || bNull) flags[i] = aNull != bNull;
   }
}

void anyFlags(CompareOp op, const Vector& a, const Vector& b, Selection rows, uint8_t* flags) {
   if (!isNullSafe(op)) return compareFlags(op, a, b, rows, flags);
   distinctFlags(a, b, rows, flags);
   if (op == CompareOp::IsNotDistinctFrom) negate(flags, rows.count());
}

template <PhysicalType type>
int orderOf(const void* a, const void* b) {
   using T = PhysicalValueType<type>;
   if constexpr (type == PhysicalType::String) {
      return static_cast<const T*>(a)->compare(*static_cast<const T*>(b));
   } else if constexpr (type == PhysicalType::Decimal) {
      return decimal::compare(*static_cast<const T*>(a), *static_cast<const T*>(b));
   } else {
      using C = ValueCompare<type, T>;
      const T x = *static_cast<const T*>(a), y = *static_cast<const T*>(b);
      return static_cast<int>(C::less(y, x)) - static_cast<int>(C::less(x, y));
   }
}

template <PhysicalType type>
bool equalOf(const void* a, const void* b) {
   using T = PhysicalValueType<type>;
   return ValueCompare<type, T>::equal(*static_cast<const T*>(a), *static_cast<const T*>(b));
}

} // namespace

void compareFlags(CompareOp op, const Vector& a, const Vector& b, Selection rows, uint8_t* flags) {
   DCHECK(a.type == b.type);
   dispatchPhysical(a.type, [&](auto tag) { flagsOfType<decltype(tag)::type>(op, a, b, rows, flags); });
   if (op == CompareOp::Ne || op == CompareOp::Ge || op == CompareOp::Le) negate(flags, rows.count());
}

void compareValues(CompareOp op, const Vector& a, const Vector& b, Selection rows, uint8_t* scratch, uint8_t* out) {
   if (rows.isDense()) return anyFlags(op, a, b, rows, out);
   anyFlags(op, a, b, rows, scratch);
   const RowIndex* list = rows.rows();
   for (uint32_t i = 0; i < rows.count(); ++i)
      out[list[i]] = scratch[i];
}

uint32_t compareSelect(CompareOp op, const Vector& a, const Vector& b, Selection rows, uint8_t* scratch,
                       RowIndex* out) {
   if (isNullSafe(op)) {
      anyFlags(op, a, b, rows, scratch);
      return selectFlagged(scratch, nullptr, rows, out);
   }
   // NULLs of one flat side are masked while flags are read. NULLs of the other side are dropped first.
   const ValidityWord* mask = nullptr;
   for (const Vector* side : {&a, &b}) {
      if (!side->mayHaveNulls()) continue;
      if (side->encoding == Encoding::Flat && mask == nullptr) {
         mask = side->validity;
      } else {
         const uint32_t count = selectNotNull(*side, rows, out);
         rows = narrowed(rows, out, count);
      }
   }
   compareFlags(op, a, b, rows, scratch);
   return selectFlagged(scratch, mask, rows, out);
}

ValueOrder valueOrder(PhysicalType type) {
   ValueOrder order = nullptr;
   dispatchPhysical(type, [&](auto tag) { order = orderOf<decltype(tag)::type>; });
   return order;
}

ValueEquality valueEquality(PhysicalType type) {
   ValueEquality equality = nullptr;
   dispatchPhysical(type, [&](auto tag) { equality = equalOf<decltype(tag)::type>; });
   return equality;
}

int sortOrder(const Vector& a, uint32_t aRow, const Vector& b, uint32_t bRow, bool descending, bool nullsFirst) {
   const bool aNull = a.isNull(aRow), bNull = b.isNull(bRow);
   if (aNull || bNull) return aNull && bNull ? 0 : (aNull == nullsFirst ? -1 : 1);
   const size_t size = physicalSize(a.type);
   const int order = valueOrder(a.type)(static_cast<const char*>(a.data) + a.positionOf(aRow) * size,
                                        static_cast<const char*>(b.data) + b.positionOf(bRow) * size);
   return descending ? -order : order;
}

} // namespace ouzel::executor
