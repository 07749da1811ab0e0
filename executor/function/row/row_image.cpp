#include "common/base_type/type_form.hpp"
#include "common/type/row.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"

// Rows compared by the bytes of their values: *=, *<, ... Values that are equal may differ so (1.0 and 1.00), and the
// order is none that means anything; it is PostgreSQL's where its bytes are those of a number.

namespace ouzel::executor {

namespace {

template <typename T>
int order(T a, T b) {
   return a < b ? -1 : a > b;
}

/// PostgreSQL holds these values in a Datum, which it compares as an unsigned number.
template <typename T>
int datumOrder(const RowView::Field& a, const RowView::Field& b) {
   return order(static_cast<uint64_t>(a.as<T>()), static_cast<uint64_t>(b.as<T>()));
}

int fieldOrder(const RowView::Field& a, const RowView::Field& b) {
   switch (a.physical) {
   case PhysicalType::Bool: return datumOrder<uint8_t>(a, b);
   case PhysicalType::I16: return datumOrder<int16_t>(a, b);
   case PhysicalType::I32:
   case PhysicalType::F32: return datumOrder<int32_t>(a, b);
   case PhysicalType::I64:
   case PhysicalType::F64:
      // The integers of such types are not their bytes, but in the order of them.
      if (findTypeForm(a.type) && a.type != oid::money) return order(a.as<int64_t>(), b.as<int64_t>());
      return datumOrder<int64_t>(a, b);
   case PhysicalType::I128: return order(a.as<int128>(), b.as<int128>());
   case PhysicalType::Interval: {
      const Interval& one = a.as<Interval>();
      const Interval& other = b.as<Interval>();
      const auto big = [](uint64_t value) { return __builtin_bswap64(value); };
      const auto small = [](uint32_t value) { return __builtin_bswap32(value); };
      if (one.micros != other.micros)
         return order(big(static_cast<uint64_t>(one.micros)), big(static_cast<uint64_t>(other.micros)));
      if (one.days != other.days)
         return order(small(static_cast<uint32_t>(one.days)), small(static_cast<uint32_t>(other.days)));
      return order(small(static_cast<uint32_t>(one.months)), small(static_cast<uint32_t>(other.months)));
   }
   case PhysicalType::String:
   case PhysicalType::Decimal: return order(a.as<StringView>().view().compare(b.as<StringView>().view()), 0);
   }
   throwInternal("unknown physical type");
}

/// record_image_cmp: NULLs are equal, and larger than values. Columns are compared in pairs, up to the first that
/// differs.
int imageOrder(const StringView& a, const StringView& b) {
   const RowView one(a.view()), other(b.view());
   RowView::Cursor field(one), counterpart(other);
   while (field.next() && counterpart.next()) {
      if (field->type != counterpart->type)
         throw SqlError(sqlstate::datatypeMismatch, "cannot compare dissimilar column types " +
                                                        formatType({field->type, -1, invalidOid}) + " and " +
                                                        formatType({counterpart->type, -1, invalidOid}) +
                                                        " at record column " + std::to_string(field.index() + 1));
      if (field->isNull && counterpart->isNull) continue;
      if (field->isNull || counterpart->isNull) return field->isNull ? 1 : -1;
      if (const int found = fieldOrder(*field, *counterpart)) return found;
   }
   if (one.size() != other.size())
      throw SqlError(sqlstate::datatypeMismatch, "cannot compare record types with different numbers of columns");
   return 0;
}

bool isEqual(const StringView& a, const StringView& b) {
   return imageOrder(a, b) == 0;
}
bool isUnequal(const StringView& a, const StringView& b) {
   return imageOrder(a, b) != 0;
}
bool isLess(const StringView& a, const StringView& b) {
   return imageOrder(a, b) < 0;
}
bool isLessOrEqual(const StringView& a, const StringView& b) {
   return imageOrder(a, b) <= 0;
}
bool isGreater(const StringView& a, const StringView& b) {
   return imageOrder(a, b) > 0;
}
bool isGreaterOrEqual(const StringView& a, const StringView& b) {
   return imageOrder(a, b) >= 0;
}
int32_t compareImages(const StringView& a, const StringView& b) {
   return imageOrder(a, b);
}

} // namespace

void registerRowImage() {
   addKernel<isEqual>("record_image_eq");
   addKernel<isUnequal>("record_image_ne");
   addKernel<isLess>("record_image_lt");
   addKernel<isLessOrEqual>("record_image_le");
   addKernel<isGreater>("record_image_gt");
   addKernel<isGreaterOrEqual>("record_image_ge");
   addKernel<compareImages>("btrecordimagecmp");
}

} // namespace ouzel::executor
