#include "protocol/row_encoder.hpp"

#include <algorithm>
#include <cstring>

#include "common/base_type/type_form.hpp"
#include "common/error/check.hpp"
#include "common/value/object_names.hpp"
#include "protocol/message_writer.hpp"

namespace ouzel::protocol {

namespace {

constexpr size_t rowBytesMax = (size_t{1} << 30) - 1; // the most that a client accepts in one message
constexpr size_t rowHeaderBytes = 7;                  // type, length, column count
constexpr size_t slackBytes = 16;                     // small values are copied in one 16-byte move

bool isPlainTextType(const SqlType& type) {
   switch (type.oid) {
   case oid::text:
   case oid::varchar:
   case oid::name:
   case oid::json:
   case oid::unknown:
   case oid::cstring: return true;
   case oid::bpchar: // char(n) lies in memory without its trailing blanks
      return type.typmod < 0;
   default: return false;
   }
}

/// An upper guess of the bytes a variable-size value takes on the wire: each of its bytes takes `growth`, bytea doubles
/// in hex, char(n) is padded.
size_t estimatedBytes(const SqlType& type, size_t growth, const Vector& vector, uint32_t row) {
   if (vector.isNull(row)) return 0;
   const size_t padding = type.oid == oid::bpchar && type.typmod > 0 ? static_cast<size_t>(type.typmod) : 0;
   return size_t{vector.value<StringView>(row).size()} * growth + padding;
}

struct Piece {
   const char* data;
   uint32_t size;
   bool isNull;
};

} // namespace

int16_t typeLength(Oid type) {
   if (isObjectName(type)) return 4;
   switch (type) {
   case oid::boolean:
   case oid::character: return 1;
   case oid::int2: return 2;
   case oid::int4:
   case oid::float4:
   case oid::date:
   case oid::oid:
   case oid::xid:
   case oid::cid:
   case oid::voidType: return 4;
   case oid::tid: return 6;
   case oid::int8:
   case oid::float8:
   case oid::time:
   case oid::timestamp:
   case oid::timestamptz:
   case oid::xid8: return 8;
   case oid::timetz: return 12;
   case oid::interval:
   case oid::uuid: return 16;
   case oid::name: return 64;
   case oid::unknown:
   case oid::cstring: return -2;
   default: break;
   }
   if (isEnumType(type)) return 4;
   const TypeForm* form = findTypeForm(type);
   return form ? form->wireSize : -1;
}

void appendRowDescription(std::string& out, std::span<const ResultColumn> columns, std::span<const ValueFormat> formats,
                          const ClientText& client) {
   std::string storage;
   MessageWriter message(out, 'T');
   message.int16(static_cast<uint16_t>(columns.size()));
   for (size_t i = 0; i < columns.size(); ++i) {
      const ResultColumn& column = columns[i];
      // A domain is shown as its base; an array of domains has no base.
      const Oid type = (column.type.domain & userArrayBit) != 0 ? column.type.domain : column.type.oid;
      message.cstring(client.toClient(column.name, storage))
          .int32(column.tableOid)
          .int16(static_cast<uint16_t>(column.attribute))
          .int32(type)
          .int16(static_cast<uint16_t>(typeLength(type)))
          .int32(static_cast<uint32_t>(column.type.typmod))
          .int16(static_cast<uint16_t>(formatOf(formats, i)));
   }
   message.finish();
}

void RowEncoder::begin(std::span<const ResultColumn> columns, std::span<const ValueFormat> formats,
                       const ValueEncoder& values) {
   checkFormats(formats, columns.size());
   shape_ = columns;
   values_ = &values;
   columns_.resize(columns.size());
   for (size_t i = 0; i < columns.size(); ++i) {
      columns_[i].format = formatOf(formats, i);
      const TypeForm* form = findTypeForm(columns[i].type.oid);
      columns_[i].textGrowth = form ? form->textGrowth : 2;
      columns_[i].isPlainText = values.keepsText() && columns[i].representation.physical == PhysicalType::String &&
                                isPlainTextType(columns[i].type);
   }
}

uint32_t RowEncoder::encode(const Batch& batch, uint32_t first, std::string& out) {
   DCHECK(batch.columns.size() == columns_.size());
   const uint32_t live = batch.liveRows();
   DCHECK(first <= live);
   for (size_t i = 0; i < columns_.size(); ++i)
      columns_[i].vector = &batch.columns[i];

   // Large values: take only as many rows as fit a slice, at least one.
   uint32_t last = live;
   size_t estimate = 0;
   for (size_t c = 0; c < columns_.size(); ++c)
      for (uint32_t i = first; i < live && isVariableSize(columns_[c].vector->type); ++i)
         estimate +=
             estimatedBytes(shape_[c].type, columns_[c].textGrowth, *columns_[c].vector, batch.selection.row(i));
   if (estimate > sliceBytes) {
      estimate = 0;
      for (last = first; last < live; ++last) {
         for (size_t c = 0; c < columns_.size(); ++c)
            if (isVariableSize(columns_[c].vector->type))
               estimate += estimatedBytes(shape_[c].type, columns_[c].textGrowth, *columns_[c].vector,
                                          batch.selection.row(last));
         if (estimate > sliceBytes && last > first) break;
      }
   }

   Selection slice = batch.selection;
   if (first != 0 || last != live) {
      sliceRows_.clear();
      for (uint32_t i = first; i < last; ++i)
         sliceRows_.push_back(batch.selection.row(i));
      slice = Selection::list(sliceRows_);
   }
   for (size_t i = 0; i < columns_.size(); ++i)
      if (!columns_[i].isPlainText) encodeColumn(i, slice);
   assemble(slice, out);
   return last;
}

void RowEncoder::encodeColumn(size_t index, const Selection& slice) {
   Column& column = columns_[index];
   column.bytes.clear();
   if (column.vector->encoding == Encoding::Constant) {
      // One value, written once; assemble() looks at ends[0] only.
      column.ends.resize(1);
      values_->append(*column.vector, Selection::dense(std::min(slice.count(), 1u)), shape_[index], column.format,
                      column.bytes, column.ends.data());
   } else {
      column.ends.resize(slice.count());
      values_->append(*column.vector, slice, shape_[index], column.format, column.bytes, column.ends.data());
   }
   DCHECK(column.ends.empty() || column.ends.back() == column.bytes.size());
   DCHECK(std::is_sorted(column.ends.begin(), column.ends.end()));
   column.bytes.append(slackBytes, '\0');
}

void RowEncoder::assemble(const Selection& slice, std::string& out) const {
   auto piece = [&](const Column& column, uint32_t i, uint32_t row) -> Piece {
      if (column.vector->isNull(row)) return {nullptr, 0, true};
      if (column.isPlainText) {
         const StringView& text = column.vector->value<StringView>(row);
         return {text.data(), text.size(), false};
      }
      const uint32_t at = column.vector->encoding == Encoding::Constant ? 0 : i;
      const uint32_t start = at == 0 ? 0 : column.ends[at - 1];
      return {column.bytes.data() + start, column.ends[at] - start, false};
   };

   // Compute the size of all rows first, so that the loop that copies needs no bounds checks.
   size_t total = slice.count() * (rowHeaderBytes + 4 * columns_.size());
   for (const Column& column : columns_) {
      if (!column.isPlainText && column.vector->encoding != Encoding::Constant) {
         total += slice.count() == 0 ? 0 : column.ends[slice.count() - 1];
         continue;
      }
      for (uint32_t i = 0; i < slice.count(); ++i)
         total += piece(column, i, slice.row(i)).size;
   }
   const size_t before = out.size();
   out.resize(before + total + slackBytes);
   char* target = out.data() + before;
   const auto columnCount = static_cast<uint16_t>(columns_.size());
   for (uint32_t i = 0; i < slice.count(); ++i) {
      const uint32_t row = slice.row(i);
      char* const rowStart = target;
      *target = 'D';
      storeInt16(target + 5, columnCount);
      target += rowHeaderBytes;
      for (const Column& column : columns_) {
         const Piece value = piece(column, i, row);
         storeInt32(target, value.isNull ? UINT32_MAX : value.size);
         target += 4;
         // The 16-byte move may read past the value: encoded columns and inline StringViews have the room. It may write
         // past the value's place: the bytes there are written afterwards.
         if (value.size <= slackBytes && !column.isPlainText && !value.isNull)
            std::memcpy(target, value.data, 16);
         else if (value.size != 0)
            std::memcpy(target, value.data, value.size);
         target += value.size;
      }
      const auto rowBytes = static_cast<size_t>(target - rowStart);
      if (rowBytes > rowBytesMax) throw SqlError(sqlstate::programLimitExceeded, "row is too large to send");
      storeInt32(rowStart + 1, static_cast<uint32_t>(rowBytes - 1));
   }
   CHECK(target <= out.data() + before + total); // the rows fit the size computed above
   out.resize(before + static_cast<size_t>(target - (out.data() + before)));
}

} // namespace ouzel::protocol
