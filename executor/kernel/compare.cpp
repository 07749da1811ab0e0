#include "executor/kernel/compare.hpp"

#include "common/error/sql_error.hpp"
#include "common/value/dispatch.hpp"
#include "executor/kernel/compare_operators.hpp"
#include "executor/kernel/select.hpp"

namespace ouzel::executor {

namespace {

using sql::CompareOp;

template <PhysicalType type, CompareOp op, typename T>
inline bool holds(const T& a, const T& b) {
   using C = ValueCompare<type, T>;
   if constexpr (op == CompareOp::Eq) return C::equal(a, b);
   if constexpr (op == CompareOp::Ne) return !C::equal(a, b);
   if constexpr (op == CompareOp::Lt) return C::less(a, b);
   if constexpr (op == CompareOp::Ge) return !C::less(a, b);
   if constexpr (op == CompareOp::Gt) return C::less(b, a);
   if constexpr (op == CompareOp::Le) return !C::less(b, a);
}

template <PhysicalType type, CompareOp op>
void flagsConstant(const PhysicalValueType<type>* values, PhysicalValueType<type> bound, Selection rows,
                   uint8_t* __restrict flags) {
   const uint32_t count = rows.count();
   if (rows.isDense()) {
      for (uint32_t i = 0; i < count; ++i)
         flags[i] = holds<type, op>(values[i], bound);
   } else {
      const RowIndex* list = rows.rows();
      for (uint32_t i = 0; i < count; ++i)
         flags[i] = holds<type, op>(values[list[i]], bound);
   }
}

template <PhysicalType type, CompareOp op>
void flagsFlat(const PhysicalValueType<type>* a, const PhysicalValueType<type>* b, Selection rows,
               uint8_t* __restrict flags) {
   const uint32_t count = rows.count();
   if (rows.isDense()) {
      for (uint32_t i = 0; i < count; ++i)
         flags[i] = holds<type, op>(a[i], b[i]);
   } else {
      const RowIndex* list = rows.rows();
      for (uint32_t i = 0; i < count; ++i)
         flags[i] = holds<type, op>(a[list[i]], b[list[i]]);
   }
}

template <PhysicalType type, CompareOp op>
void flagsAny(const Vector& a, const Vector& b, Selection rows, uint8_t* __restrict flags) {
   using T = PhysicalValueType<type>;
   const T *av = a.values<T>(), *bv = b.values<T>();
   const uint32_t count = rows.count();
   for (uint32_t i = 0; i < count; ++i) {
      const uint32_t row = rows.row(i);
      flags[i] = holds<type, op>(av[a.positionOf(row)], bv[b.positionOf(row)]);
   }
}

template <PhysicalType type, CompareOp op>
void flagsOf(const Vector& a, const Vector& b, Selection rows, uint8_t* flags) {
   using T = PhysicalValueType<type>;
   if (a.encoding == Encoding::Flat && b.encoding == Encoding::Constant) {
      flagsConstant<type, op>(a.values<T>(), b.values<T>()[0], rows, flags);
   } else if (a.encoding == Encoding::Flat && b.encoding == Encoding::Flat) {
      flagsFlat<type, op>(a.values<T>(), b.values<T>(), rows, flags);
   } else {
      flagsAny<type, op>(a, b, rows, flags);
   }
}

template <PhysicalType type>
void flagsOfType(CompareOp op, const Vector& a, const Vector& b, Selection rows, uint8_t* flags) {
   switch (op) {
   case CompareOp::Eq:
      return flagsOf<type, CompareOp::Eq>(a, b, rows, flags);
   case CompareOp::Ne:
      return flagsOf<type, CompareOp::Ne>(a, b, rows, flags);
   case CompareOp::Lt:
      return flagsOf<type, CompareOp::Lt>(a, b, rows, flags);
   case CompareOp::Le:
      return flagsOf<type, CompareOp::Le>(a, b, rows, flags);
   case CompareOp::Gt:
      return flagsOf<type, CompareOp::Gt>(a, b, rows, flags);
   case CompareOp::Ge:
      return flagsOf<type, CompareOp::Ge>(a, b, rows, flags);
   default:
      throwInternal("not a comparison of two values");
   }
}

/// flags[i] of `a IS DISTINCT FROM b` from the flags of a <> b.
void distinctFlags(const Vector& a, const Vector& b, Selection rows, uint8_t* flags) {
   compareFlags(CompareOp::Ne, a, b, rows, flags);
   if (!a.mayHaveNulls() && !b.mayHaveNulls()) return;
   for (uint32_t i = 0; i < rows.count(); ++i) {
      const uint32_t row = rows.row(i);
      const bool aNull = a.isNull(row), bNull = b.isNull(row);
      if (aNull || bNull) flags[i] = aNull != bNull;
   }
}

bool isNullSafe(CompareOp op) {
   return op == CompareOp::IsDistinctFrom || op == CompareOp::IsNotDistinctFrom;
}

void anyFlags(CompareOp op, const Vector& a, const Vector& b, Selection rows, uint8_t* flags) {
   if (!isNullSafe(op)) return compareFlags(op, a, b, rows, flags);
   distinctFlags(a, b, rows, flags);
   if (op == CompareOp::IsDistinctFrom) return;
   for (uint32_t i = 0; i < rows.count(); ++i)
      flags[i] ^= 1;
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
   // A constant on the left is turned around, so that only one side needs a constant loop.
   if (a.encoding == Encoding::Constant && b.encoding == Encoding::Flat)
      return compareFlags(sql::commuted(op), b, a, rows, flags);
   dispatchPhysical(a.type, [&](auto tag) { flagsOfType<decltype(tag)::type>(op, a, b, rows, flags); });
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
   // The NULLs of one flat side are masked while the flags are read; whatever else may be NULL is dropped first.
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
