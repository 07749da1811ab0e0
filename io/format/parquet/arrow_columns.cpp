#include "io/format/parquet/arrow_columns.hpp"

#include <arrow/api.h>
#include <arrow/extension_type.h>
#include <arrow/util/bitmap_ops.h>
#include <arrow/util/float16.h>
#include <cstring>

#include "common/error/sql_error.hpp"
#include "common/json/json_input.hpp"
#include "common/text/utf8.hpp"

namespace ouzel::io {

namespace {

constexpr int64_t daysToEpoch = 10'957;                           // from 1970-01-01 to 2000-01-01
constexpr int64_t microsToEpoch = daysToEpoch * 86'400'000'000LL; // the same in microseconds
// PostgreSQL's ranges: 4713-11-24 BC and later; before 5874898-01-01 and 294277-01-01.
constexpr int64_t dayMin = -2'451'545, dayMax = 2'145'031'948;
constexpr int64_t microsMin = -211'813'488'000'000'000, microsMax = 9'223'371'331'200'000'000;

SqlType plain(Oid type) {
   return {type, -1, type == oid::text ? defaultCollation : invalidOid};
}

bool isBinaryLike(arrow::Type::type id) {
   using arrow::Type;
   return id == Type::STRING || id == Type::LARGE_STRING || id == Type::STRING_VIEW || id == Type::BINARY ||
          id == Type::LARGE_BINARY || id == Type::BINARY_VIEW;
}

/// Floor of a division by a positive number.
int64_t floorDivide(int64_t value, int64_t by) {
   const int64_t quotient = value / by;
   return value % by < 0 ? quotient - 1 : quotient;
}

/// Microseconds of a value in the unit; false when they do not fit.
bool toMicros(int64_t value, arrow::TimeUnit::type unit, int64_t& micros) {
   switch (unit) {
   case arrow::TimeUnit::SECOND: return !__builtin_mul_overflow(value, int64_t{1'000'000}, &micros);
   case arrow::TimeUnit::MILLI: return !__builtin_mul_overflow(value, int64_t{1'000}, &micros);
   case arrow::TimeUnit::MICRO: micros = value; return true;
   case arrow::TimeUnit::NANO: micros = floorDivide(value, 1000); return true;
   }
   return false;
}

} // namespace

ExternalColumn mapColumn(const std::string& name, const arrow::DataType& type) {
   using arrow::Type;
   const auto as = [&](Oid oid) { return ExternalColumn{name, plain(oid)}; };
   switch (type.id()) {
   case Type::BOOL: return as(oid::boolean);
   case Type::INT8:
   case Type::UINT8:
   case Type::INT16: return as(oid::int2);
   case Type::UINT16:
   case Type::INT32: return as(oid::int4);
   case Type::UINT32:
   case Type::INT64: return as(oid::int8);
   case Type::UINT64: return {name, {oid::numeric, numericTypmod(20, 0), invalidOid}};
   case Type::HALF_FLOAT:
   case Type::FLOAT: return as(oid::float4);
   case Type::DOUBLE: return as(oid::float8);
   case Type::DECIMAL128: {
      const auto& decimal = static_cast<const arrow::DecimalType&>(type);
      if (decimal.scale() >= 0 && decimal.scale() <= decimal.precision())
         return {name, {oid::numeric, numericTypmod(decimal.precision(), decimal.scale()), invalidOid}};
      break;
   }
   case Type::DATE32:
   case Type::DATE64: return as(oid::date);
   case Type::TIME32:
   case Type::TIME64: return as(oid::time);
   case Type::TIMESTAMP:
      return as(static_cast<const arrow::TimestampType&>(type).timezone().empty() ? oid::timestamp : oid::timestamptz);
   case Type::DURATION: return as(oid::interval);
   case Type::STRING:
   case Type::LARGE_STRING:
   case Type::STRING_VIEW:
   case Type::NA: return as(oid::text);
   case Type::BINARY:
   case Type::LARGE_BINARY:
   case Type::BINARY_VIEW:
   case Type::FIXED_SIZE_BINARY: return as(oid::bytea);
   case Type::DICTIONARY: {
      const arrow::DataType& values = *static_cast<const arrow::DictionaryType&>(type).value_type();
      if (isBinaryLike(values.id())) return mapColumn(name, values);
      break;
   }
   case Type::EXTENSION: {
      const auto& extension = static_cast<const arrow::ExtensionType&>(type);
      if (extension.extension_name() == "arrow.uuid") return as(oid::uuid);
      if (extension.extension_name() == "arrow.json") return as(oid::json);
      return mapColumn(name, *extension.storage_type());
   }
   default: break;
   }
   ExternalColumn column = as(oid::text);
   column.problem = type.ToString();
   return column;
}

struct ColumnConverter::Slice {
   const arrow::Array& array;
   int64_t offset;
   uint32_t count;
   const ValidityWord* validity;

   template <typename T>
   const T* values() const {
      return array.data()->GetValues<T>(1) + offset;
   }
};

ColumnConverter::ColumnConverter(const ExternalColumn& column, const std::string& file)
   : type_(column.type), representation_(storedRepresentation(column.type)), name_(column.name), file_(file),
     buffer_(batchRowsMax), validity_(validityWords(batchRowsMax) + 1) {}

void ColumnConverter::outOfRange(const char* what) const {
   throw SqlError(what[0] == 'n' ? sqlstate::numericValueOutOfRange : sqlstate::datetimeFieldOverflow,
                  std::string(what) + " out of range in column \"" + name_ + "\" of file \"" + file_ + "\"");
}

/// Converts each value by make(value, valid, out), which returns false for a value outside the type's range.
template <typename Source, typename Target, typename Change>
const void* ColumnConverter::change(const Slice& slice, const Source* values, Change&& make) {
   Target* out = room<Target>();
   bool isFine = true;
   for (uint32_t i = 0; i < slice.count; ++i) {
      out[i] = Target();
      const bool fits = make(values[i], out[i]);
      isFine = isFine && (fits || !isValidBit(slice.validity, i));
   }
   return isFine ? out : nullptr;
}

Vector ColumnConverter::convert(const arrow::Array& input, int64_t offset, uint32_t count) {
   const arrow::Array* array = &input;
   while (array->type_id() == arrow::Type::EXTENSION)
      array = static_cast<const arrow::ExtensionArray*>(array)->storage().get();
   const ValidityWord* validity = nullptr;
   if (array->type_id() == arrow::Type::NA) {
      std::fill(validity_.begin(), validity_.end(), 0);
      std::memset(buffer_.data(), 0, count * sizeof(Place));
      return Vector::flat(representation_.physical, buffer_.data(), validity_.data());
   }
   if (array->null_bitmap_data() && array->null_count() > 0) {
      arrow::internal::CopyBitmap(array->null_bitmap_data(), array->offset() + offset, count,
                                  reinterpret_cast<uint8_t*>(validity_.data()), 0);
      validity = validity_.data();
   }
   const Slice slice{*array, offset, count, validity};
   return Vector::flat(representation_.physical, data(slice), validity);
}

const void* ColumnConverter::data(const Slice& slice) {
   using arrow::Type;
   switch (slice.array.type_id()) {
   case Type::BOOL: {
      const auto& booleans = static_cast<const arrow::BooleanArray&>(slice.array);
      for (uint32_t i = 0; i < slice.count; ++i)
         room<uint8_t>()[i] = booleans.Value(slice.offset + i);
      return buffer_.data();
   }
   case Type::FLOAT: return slice.values<float>();
   case Type::DOUBLE: return slice.values<double>();
   case Type::HALF_FLOAT:
      return change<uint16_t, float>(slice, slice.values<uint16_t>(), [](uint16_t bits, float& out) {
         out = arrow::util::Float16::FromBits(bits).ToFloat();
         return true;
      });
   case Type::DECIMAL128: return decimals(slice);
   case Type::DATE32:
   case Type::DATE64: return days(slice);
   case Type::TIME32:
   case Type::TIME64:
   case Type::TIMESTAMP:
   case Type::DURATION: return times(slice);
   case Type::FIXED_SIZE_BINARY:
      if (type_.oid == oid::uuid) return uuids(slice);
      return texts(slice);
   case Type::STRING:
   case Type::LARGE_STRING:
   case Type::STRING_VIEW:
   case Type::BINARY:
   case Type::LARGE_BINARY:
   case Type::BINARY_VIEW:
   case Type::DICTIONARY: return texts(slice);
   default: return integers(slice);
   }
}

const void* ColumnConverter::integers(const Slice& slice) {
   using arrow::Type;
   const auto widen = [](auto value, auto& out) {
      out = static_cast<std::remove_reference_t<decltype(out)>>(value);
      return true;
   };
   switch (slice.array.type_id()) {
   case Type::INT8: return change<int8_t, int16_t>(slice, slice.values<int8_t>(), widen);
   case Type::UINT8: return change<uint8_t, int16_t>(slice, slice.values<uint8_t>(), widen);
   case Type::INT16: return slice.values<int16_t>();
   case Type::UINT16: return change<uint16_t, int32_t>(slice, slice.values<uint16_t>(), widen);
   case Type::INT32: return slice.values<int32_t>();
   case Type::UINT32: return change<uint32_t, int64_t>(slice, slice.values<uint32_t>(), widen);
   case Type::INT64: return slice.values<int64_t>();
   case Type::UINT64: return change<uint64_t, int128>(slice, slice.values<uint64_t>(), widen);
   default: throwInternal("an Arrow array of a type that was not mapped");
   }
}

const void* ColumnConverter::decimals(const Slice& slice) {
   // The optimizer relies on the declared precision, so values of the file that exceed it are errors.
   int128 limit = 1;
   for (int32_t i = 0; i < numericModifier(type_.typmod).precision; ++i)
      limit *= 10;
   const int128* values = slice.values<int128>();
   const auto fits = [limit](int128 value) { return value < limit && value > -limit; };
   const void* out = representation_.physical == PhysicalType::I64
                         ? change<int128, int64_t>(slice, values,
                                                   [&](int128 value, int64_t& to) {
                                                      to = static_cast<int64_t>(value);
                                                      return fits(value);
                                                   })
                         : change<int128, int128>(slice, values, [&](int128 value, int128& to) {
                              to = value;
                              return fits(value);
                           });
   if (!out) outOfRange("numeric value");
   return out;
}

const void* ColumnConverter::days(const Slice& slice) {
   const auto shift = [](int64_t day, int32_t& out) {
      day -= daysToEpoch;
      out = static_cast<int32_t>(day);
      return day >= dayMin && day < dayMax;
   };
   const void* out = slice.array.type_id() == arrow::Type::DATE32
                         ? change<int32_t, int32_t>(slice, slice.values<int32_t>(), shift)
                         : change<int64_t, int32_t>(slice, slice.values<int64_t>(), [&](int64_t ms, int32_t& to) {
                              return shift(floorDivide(ms, 86'400'000), to);
                           });
   if (!out) outOfRange("date");
   return out;
}

const void* ColumnConverter::times(const Slice& slice) {
   const arrow::DataType& type = *slice.array.type();
   const void* out = nullptr;
   switch (type.id()) {
   case arrow::Type::TIMESTAMP: {
      const auto unit = static_cast<const arrow::TimestampType&>(type).unit();
      out = change<int64_t, int64_t>(slice, slice.values<int64_t>(), [unit](int64_t value, int64_t& to) {
         int64_t micros = 0;
         const bool fits = toMicros(value, unit, micros) && !__builtin_sub_overflow(micros, microsToEpoch, &to);
         return fits && to >= microsMin && to < microsMax;
      });
      break;
   }
   case arrow::Type::DURATION: {
      const auto unit = static_cast<const arrow::DurationType&>(type).unit();
      out = change<int64_t, Interval>(slice, slice.values<int64_t>(),
                                      [unit](int64_t value, Interval& to) { return toMicros(value, unit, to.micros); });
      break;
   }
   default: {
      const auto unit = static_cast<const arrow::TimeType&>(type).unit();
      const auto ofDay = [unit](int64_t value, int64_t& to) {
         return toMicros(value, unit, to) && to >= 0 && to <= 86'400'000'000;
      };
      out = type.id() == arrow::Type::TIME32 ? change<int32_t, int64_t>(slice, slice.values<int32_t>(), ofDay)
                                             : change<int64_t, int64_t>(slice, slice.values<int64_t>(), ofDay);
   }
   }
   if (!out) outOfRange("time");
   return out;
}

template <typename Array>
const void* ColumnConverter::views(const Slice& slice, const Array& array) {
   StringView* out = room<StringView>();
   for (uint32_t i = 0; i < slice.count; ++i) {
      if (!isValidBit(slice.validity, i)) {
         out[i] = StringView();
         continue;
      }
      const std::string_view text = array.GetView(slice.offset + i);
      if (text.size() > StringView::lengthMax) outOfRange("number of bytes");
      out[i] = StringView(text);
   }
   return out;
}

const void* ColumnConverter::texts(const Slice& slice) {
   using arrow::Type;
   const void* out = nullptr;
   switch (slice.array.type_id()) {
   case Type::STRING:
   case Type::BINARY: out = views(slice, static_cast<const arrow::BinaryArray&>(slice.array)); break;
   case Type::LARGE_STRING:
   case Type::LARGE_BINARY: out = views(slice, static_cast<const arrow::LargeBinaryArray&>(slice.array)); break;
   case Type::STRING_VIEW:
   case Type::BINARY_VIEW: out = views(slice, static_cast<const arrow::BinaryViewArray&>(slice.array)); break;
   case Type::FIXED_SIZE_BINARY:
      out = views(slice, static_cast<const arrow::FixedSizeBinaryArray&>(slice.array));
      break;
   default: return words(slice);
   }
   if (type_.oid != oid::bytea) checkText(static_cast<const StringView*>(out), slice.count);
   if (type_.oid == oid::json)
      for (uint32_t i = 0; i < slice.count; ++i)
         if (isValidBit(slice.validity, i)) json::checkJson(static_cast<const StringView*>(out)[i].view());
   return out;
}

/// Values of a dictionary: each of its words is checked once, not once per row.
const void* ColumnConverter::words(const Slice& slice) {
   using arrow::Type;
   const auto& coded = static_cast<const arrow::DictionaryArray&>(slice.array);
   if (dictionary_ != coded.dictionary()) {
      dictionary_ = coded.dictionary();
      words_.clear();
      words_.reserve(static_cast<size_t>(dictionary_->length()));
      const auto addAll = [this](const auto& array) {
         for (int64_t i = 0; i < array.length(); ++i)
            words_.emplace_back(array.GetView(i));
      };
      switch (dictionary_->type_id()) {
      case Type::LARGE_STRING:
      case Type::LARGE_BINARY: addAll(static_cast<const arrow::LargeBinaryArray&>(*dictionary_)); break;
      case Type::STRING_VIEW:
      case Type::BINARY_VIEW: addAll(static_cast<const arrow::BinaryViewArray&>(*dictionary_)); break;
      default: addAll(static_cast<const arrow::BinaryArray&>(*dictionary_));
      }
      if (type_.oid != oid::bytea) checkText(words_.data(), words_.size());
      if (type_.oid == oid::json)
         for (const StringView& word : words_)
            json::checkJson(word.view());
   }
   StringView* out = room<StringView>();
   const bool isPlain = coded.indices()->type_id() == Type::INT32;
   const int32_t* codes = isPlain ? coded.indices()->data()->GetValues<int32_t>(1) + slice.offset : nullptr;
   for (uint32_t i = 0; i < slice.count; ++i) {
      out[i] = StringView();
      if (!isValidBit(slice.validity, i)) continue;
      const auto code = static_cast<uint64_t>(isPlain ? codes[i] : coded.GetValueIndex(slice.offset + i));
      if (code >= words_.size())
         throw SqlError(sqlstate::badCopyFileFormat, "file \"" + file_ + "\" is not valid Parquet: column \"" + name_ +
                                                         "\" has a code beyond its dictionary");
      out[i] = words_[code];
   }
   return out;
}

void ColumnConverter::checkText(const StringView* texts, size_t count) const {
   for (size_t i = 0; i < count; ++i) {
      const std::string_view text = texts[i].view();
      if (findInvalidUtf8(text) == text.size()) continue;
      try {
         checkUtf8(text);
      } catch (SqlError& error) {
         error.setContext("column \"" + name_ + "\" of file \"" + file_ + "\"");
         throw;
      }
   }
}

const void* ColumnConverter::uuids(const Slice& slice) {
   const auto& fixed = static_cast<const arrow::FixedSizeBinaryArray&>(slice.array);
   int128* out = room<int128>();
   for (uint32_t i = 0; i < slice.count; ++i) {
      uint128 value = 0;
      const uint8_t* bytes = fixed.GetValue(slice.offset + i);
      for (int b = 0; b < 16; ++b)
         value = value << 8 | bytes[b];
      out[i] = static_cast<int128>(value ^ (static_cast<uint128>(1) << 127));
   }
   return out;
}

} // namespace ouzel::io
