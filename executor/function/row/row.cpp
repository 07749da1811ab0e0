#include "common/type/row.hpp"

#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "common/number/decimal.hpp"
#include "common/thread/stack.hpp"
#include "common/type/array.hpp"
#include "common/type/blanks.hpp"
#include "common/type/order_key.hpp"
#include "common/type/row_text.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/value_builder.hpp"
#include "executor/function/value_text.hpp"

// Row values (common/type/row.hpp): made of their fields, taken apart, tested for NULLs. The binder calls these
// functions; their arguments decide what they return.

namespace ouzel::executor {

namespace {

struct alignas(16) Place {
   std::byte bytes[16];
};

/// The parts of rows whose fields are the arguments of a call from `first` on.
class RowParts {
public:
   RowParts(const KernelCall& call, size_t first) : call_(call), first_(first), places_(call.args.size() - first) {
      for (size_t i = first; i < call.args.size(); ++i) {
         const Oid type = call.argTypes[i].oid;
         const bool isScaled = type == oid::numeric && call.argReprs[i].physical != PhysicalType::Decimal;
         parts_.push_back({type, isScaled ? PhysicalType::Decimal : call.argReprs[i].physical, nullptr});
      }
   }

   /// The parts of one row; valid until the next call.
   const std::vector<RowPart>& at(uint32_t row) {
      padded_.reset();
      for (size_t i = 0; i < parts_.size(); ++i)
         parts_[i].value = valueOf(call_.args[first_ + i], i, row);
      return parts_;
   }

private:
   const void* valueOf(const Vector& vector, size_t i, uint32_t row) {
      if (vector.isNull(row)) return nullptr;
      const SqlType& type = call_.argTypes[first_ + i];
      const Representation repr = call_.argReprs[first_ + i];
      const auto put = [&](StringView text) {
         std::memcpy(places_[i].bytes, static_cast<const void*>(&text), sizeof text);
         return places_[i].bytes;
      };
      if (type.oid == oid::bpchar && type.typmod >= 0) {
         std::string text;
         appendWithBlanks(text, vector.value<StringView>(row).view(), type.typmod);
         return put(padded_.copyString(text));
      }
      if (parts_[i].physical == PhysicalType::Decimal && repr.physical != PhysicalType::Decimal) {
         const int128 value = repr.physical == PhysicalType::I128  ? vector.value<int128>(row)
                              : repr.physical == PhysicalType::I64 ? vector.value<int64_t>(row)
                              : repr.physical == PhysicalType::I32 ? vector.value<int32_t>(row)
                                                                   : vector.value<int16_t>(row);
         return put(decimal::fromInt128(value, repr.scale, padded_));
      }
      return static_cast<const std::byte*>(vector.data) + size_t{vector.positionOf(row)} * physicalSize(vector.type);
   }

   const KernelCall& call_;
   const size_t first_;
   std::vector<Place> places_;
   std::vector<RowPart> parts_;
   Arena padded_; ///< of fields that lie otherwise in a row
};

/// ouzel_row(names, fields...): a row of the call's type; names: text[] or NULL.
void makeRows(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   RowParts parts(call, 1);
   std::vector<std::string> names;
   std::string bytes;
   forEachRow(call.rows, [&](uint32_t row) {
      if (names.empty() && !call.args[0].isNull(row)) // it is a constant
         for (const Value& name : readArray(call.args[0].value<StringView>(row).view()).elements)
            names.push_back(name.bytes);
      bytes.clear();
      appendRow(bytes, call.resultType.oid, parts.at(row), names);
      out[row] = result.strings().copyString(bytes);
   });
}

/// Writes a field to a place of the result, as values of its type lie there.
void putField(const RowView::Field& field, const KernelCall& call, ResultVector& result, uint32_t row) {
   if (field.isNull) return result.setNull(row);
   if (field.physical != result.type())
      throwInternal("a field of a row is of type " + std::to_string(field.type) + ", not of " +
                    std::to_string(call.resultType.oid));
   const uint32_t width = physicalSize(field.physical);
   std::byte* place = static_cast<std::byte*>(result.data()) + size_t{row} * width;
   if (!isVariableSize(field.physical)) {
      std::memcpy(place, field.value, width);
      return;
   }
   std::string_view text = field.as<StringView>().view();
   if (call.resultType.oid == oid::bpchar && call.resultType.typmod >= 0) text = trimTrailingBlanks(text);
   const StringView copy = result.strings().copyString(text);
   std::memcpy(place, static_cast<const void*>(&copy), sizeof copy);
}

/// ouzel_field(row, i): field i of a row, from 0.
void takeField(const KernelCall& call, ResultVector& result) {
   forEachRow(call.rows, [&](uint32_t row) {
      const RowView value(call.args[0].value<StringView>(row).view());
      putField(value.field(static_cast<uint32_t>(call.args[1].value<int32_t>(row))), call, result, row);
   });
}

/// ouzel_row_is(row, wantsNulls): whether all fields are NULL, or none is.
bool rowIs(const StringView& bytes, bool wantsNulls, KernelEnv& env) {
   const RowView row(bytes.view());
   const RowFields columns = row.type() == oid::record ? nullptr : rowFields(row.type(), sessionFormat(env.context));
   for (RowView::Cursor field(row); field.next();)
      if (field->isNull != wantsNulls && !(columns && columnOf(*columns, field.index()).isDropped)) return false;
   if (wantsNulls || !columns) return true;
   for (size_t i = row.size(); i < columns->size(); ++i)
      if (!(*columns)[i].isDropped) return false;
   return true;
}

Value currentPart(Oid type, const Value& value, const SessionFormat& format);

/// A row with a field for each column that its type has now. The fields of dropped columns are NULL.
std::string currentRow(std::string_view bytes, const SessionFormat& format) {
   checkStack();
   const RowView row(bytes);
   const RowFields columns = row.type() == oid::record ? nullptr : rowFields(row.type(), format);
   if (!columns) return std::string(bytes);
   std::vector<Value> values(columns->size());
   for (RowView::Cursor field(row); field.next();) {
      const uint32_t i = field.index();
      if (field->isNull || columnOf(*columns, i).isDropped) continue;
      values[i] =
          currentPart(field->type, Value::fromVector(Vector::flat(field->physical, field->value, nullptr), 0), format);
   }
   return makeRow(row.type(), *columns, values);
}

Value currentPart(Oid type, const Value& value, const SessionFormat& format) {
   if (isRowValue(type)) return Value::string(currentRow(value.bytes, format));
   const Oid element = arrayElementType(type);
   if (element == invalidOid || !isRowValue(element)) return value;
   ArrayValue array = readArray(value.bytes);
   for (Value& item : array.elements)
      if (!item.isNull) item = currentPart(element, item, format);
   return Value::string(makeArray(array));
}

/// ouzel_current_row(value)
StringView refresh(const StringView& bytes, KernelEnv& env) {
   const Value value = Value::string(std::string(bytes.view()));
   return env.copy(currentPart(env.call.argTypes[0].oid, value, sessionFormat(env.context)).bytes);
}

/// ouzel_domain(value, domain): the value, once it has passed the checks of the domain.
void checkValues(const KernelCall& call, ResultVector& result) {
   if (call.rows.count() == 0) return;
   const Vector& values = call.args[0];
   const auto domain = static_cast<Oid>(call.args[1].value<int64_t>(call.rows.row(0)));
   const UserTypes* types = sessionFormat(call.context).types;
   if (!types) throwInternal("a value of a domain, and no catalog to look its checks up in");
   types->checkDomain(domain, values, call.rows);
   const uint32_t width = physicalSize(values.type);
   DCHECK(values.type == result.type());
   forEachRow(call.rows, [&](uint32_t row) {
      if (values.isNull(row)) return result.setNull(row);
      std::byte* place = static_cast<std::byte*>(result.data()) + size_t{row} * width;
      if (!isVariableSize(values.type)) {
         std::memcpy(place, static_cast<const std::byte*>(values.data) + size_t{values.positionOf(row)} * width, width);
         return;
      }
      const StringView copy = result.strings().copyString(values.value<StringView>(row).view());
      std::memcpy(place, static_cast<const void*>(&copy), sizeof copy);
   });
}

int compareFields(const StringView& a, const StringView& b, uint32_t fields) {
   std::string left, right;
   appendRowKey(left, a.view(), fields);
   appendRowKey(right, b.view(), fields);
   return left.compare(right);
}

/// Whether fields of the type cannot be compared: json, point.
bool lacksOperator(Oid type, bool isEquality) {
   if (type >= firstUserOid || type == oid::int4 || type == oid::text) return false;
   return isEquality ? !catalog::builtins().equalityOperator(type)
                     : !catalog::builtins().comparisonOperator(type, catalog::BtreeStrategy::Less);
}

/// record_cmp: NULLs are equal, and larger than values. Columns are compared in pairs, whatever their row types; the
/// first pair that differs decides, and what stands behind need not be comparable.
int compareRows(const StringView& a, const StringView& b, bool isEquality) {
   const RowView one(a.view()), other(b.view());
   RowView::Cursor field(one), counterpart(other);
   while (field.next() && counterpart.next()) {
      if (field->type != counterpart->type) {
         if (const int order = compareFields(a, b, field.index())) return order;
         throw SqlError(sqlstate::datatypeMismatch, "cannot compare dissimilar column types " +
                                                        formatType({field->type, -1, invalidOid}) + " and " +
                                                        formatType({counterpart->type, -1, invalidOid}) +
                                                        " at record column " + std::to_string(field.index() + 1));
      }
      if (lacksOperator(field->type, isEquality)) {
         if (const int order = compareFields(a, b, field.index())) return order;
         throw SqlError(sqlstate::undefinedFunction,
                        std::string("could not identify ") +
                            (isEquality ? "an equality operator" : "a comparison function") + " for type " +
                            formatType({field->type, -1, invalidOid}));
      }
   }
   const uint32_t shared = std::min(one.size(), other.size());
   const int order = compareFields(a, b, shared);
   if (order == 0 && one.size() != other.size())
      throw SqlError(sqlstate::datatypeMismatch, "cannot compare record types with different numbers of columns");
   return order;
}

bool isEqual(const StringView& a, const StringView& b) {
   return compareRows(a, b, true) == 0;
}
bool isUnequal(const StringView& a, const StringView& b) {
   return compareRows(a, b, true) != 0;
}
bool isLess(const StringView& a, const StringView& b) {
   return compareRows(a, b, false) < 0;
}
bool isLessOrEqual(const StringView& a, const StringView& b) {
   return compareRows(a, b, false) <= 0;
}
bool isGreater(const StringView& a, const StringView& b) {
   return compareRows(a, b, false) > 0;
}
bool isGreaterOrEqual(const StringView& a, const StringView& b) {
   return compareRows(a, b, false) >= 0;
}
int32_t sign(const StringView& a, const StringView& b) {
   const int order = compareRows(a, b, false);
   return order < 0 ? -1 : order > 0;
}

} // namespace

void registerRow() {
   addKernel<isEqual>("record_eq");
   addKernel<isUnequal>("record_ne");
   addKernel<isLess>("record_lt");
   addKernel<isLessOrEqual>("record_le");
   addKernel<isGreater>("record_gt");
   addKernel<isGreaterOrEqual>("record_ge");
   addKernel<sign>("btrecordcmp");
   registerKernel("ouzel_row", anyArguments, {makeRows, false, true});
   registerKernel("ouzel_field", anyArguments, {takeField, true, false});
   addKernel<rowIs>("ouzel_row_is");
   addKernel<refresh>("ouzel_current_row");
   registerKernel("ouzel_domain", anyArguments, {checkValues, false, false});
}

} // namespace ouzel::executor
