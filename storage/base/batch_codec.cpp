#include "storage/base/batch_codec.hpp"

#include "common/error/check.hpp"

namespace ouzel::storage {

namespace {

// Per column: type, has-nulls byte, [validity words], values. Strings: lengths as varints, then all bytes.
void encodeVector(const Vector& vector, const Selection& rows, ByteWriter& out) {
   const uint32_t count = rows.count();
   out.fixed(static_cast<uint8_t>(vector.type));
   ValidityWord validity[validityWords(batchRowsMax)] = {};
   bool hasNulls = false;
   if (vector.mayHaveNulls()) {
      for (uint32_t i = 0; i < count; ++i) {
         const bool isNull = vector.isNull(rows.row(i));
         hasNulls |= isNull;
         setValidBit(validity, i, !isNull);
      }
   }
   out.fixed(static_cast<uint8_t>(hasNulls));
   if (hasNulls) out.raw(validity, validityWords(count) * sizeof(ValidityWord));
   if (isVariableSize(vector.type)) {
      for (uint32_t i = 0; i < count; ++i) {
         const uint32_t row = rows.row(i);
         out.varint(vector.isNull(row) ? 0 : vector.value<StringView>(row).size());
      }
      for (uint32_t i = 0; i < count; ++i) {
         const uint32_t row = rows.row(i);
         if (vector.isNull(row)) continue;
         const StringView& value = vector.value<StringView>(row);
         out.raw(value.data(), value.size());
      }
      return;
   }
   const uint32_t size = physicalSize(vector.type);
   const auto* data = static_cast<const char*>(vector.data);
   if (vector.encoding == Encoding::Flat && rows.isDense()) {
      out.raw(data, static_cast<size_t>(size) * count);
      return;
   }
   for (uint32_t i = 0; i < count; ++i)
      out.raw(data + static_cast<size_t>(vector.positionOf(rows.row(i))) * size, size);
}

Vector decodeVector(ByteReader& in, uint32_t count, Arena& arena) {
   const auto typeByte = in.fixed<uint8_t>();
   if (typeByte >= physicalTypeCount) ByteReader::corrupted();
   const auto type = static_cast<PhysicalType>(typeByte);
   ValidityWord* validity = nullptr;
   if (in.fixed<uint8_t>() != 0) {
      const size_t bytes = validityWords(count) * sizeof(ValidityWord);
      validity = arena.allocateArray<ValidityWord>(validityWords(count));
      std::memcpy(validity, in.take(bytes).data(), bytes);
   }
   const uint32_t size = physicalSize(type);
   auto* data = static_cast<char*>(arena.allocate(std::max<size_t>(static_cast<size_t>(size) * count, 1), 64));
   if (!isVariableSize(type)) {
      const std::string_view bytes = in.take(static_cast<size_t>(size) * count);
      std::memcpy(data, bytes.data(), bytes.size());
      return Vector::flat(type, data, validity);
   }
   std::vector<uint32_t> lengths(count);
   for (uint32_t& length : lengths) {
      const uint64_t n = in.varint();
      if (n > StringView::lengthMax) ByteReader::corrupted();
      length = static_cast<uint32_t>(n);
   }
   for (uint32_t i = 0; i < count; ++i) {
      const StringView value = arena.copyString(in.take(lengths[i]));
      std::memcpy(data + i * sizeof value, &value, sizeof value);
   }
   return Vector::flat(type, data, validity);
}

} // namespace

void encodeBatch(const Batch& batch, std::string& out) {
   ByteWriter writer(out);
   writer.varint(batch.columns.size());
   writer.varint(batch.liveRows());
   for (const Vector& column : batch.columns)
      encodeVector(column, batch.selection, writer);
}

Batch decodeBatch(ByteReader& in, Arena& arena) {
   Batch batch;
   const size_t columns = in.count();
   const uint64_t rows = in.varint();
   if (rows > batchRowsMax) ByteReader::corrupted();
   for (size_t i = 0; i < columns; ++i)
      batch.columns.push_back(decodeVector(in, static_cast<uint32_t>(rows), arena));
   batch.setDense(static_cast<uint32_t>(rows));
   return batch;
}

} // namespace ouzel::storage
