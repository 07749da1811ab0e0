#include "storage/base/definition_codec.hpp"

namespace ouzel::storage {

void writeColumnDefinition(const ColumnDefinition& column, std::string& out) {
   ByteWriter writer(out);
   writer.fixed(column.type.oid);
   writer.fixed(column.type.typmod);
   writer.fixed(column.type.collation);
   writer.fixed(static_cast<uint8_t>(column.representation.physical));
   writer.fixed(column.representation.scale);
   const Value& missing = column.missing;
   writer.fixed(static_cast<uint8_t>(missing.isNull));
   if (missing.isNull) return;
   if (isVariableSize(missing.type))
      writer.string(missing.bytes);
   else
      writer.fixed(missing.i128); // the widest member of the union: all members begin at its first byte
}

ColumnDefinition readColumnDefinition(ByteReader& in) {
   ColumnDefinition column;
   column.type.oid = in.fixed<Oid>();
   column.type.typmod = in.fixed<int32_t>();
   column.type.collation = in.fixed<Oid>();
   const auto physical = in.fixed<uint8_t>();
   if (physical >= physicalTypeCount) ByteReader::corrupted();
   column.representation.physical = static_cast<PhysicalType>(physical);
   column.representation.scale = in.fixed<uint8_t>();
   column.missing = Value::null(column.representation.physical);
   if (in.fixed<uint8_t>() != 0) return column;
   column.missing.isNull = false;
   if (isVariableSize(column.missing.type))
      column.missing.bytes = in.string();
   else
      column.missing.i128 = in.fixed<int128>();
   return column;
}

void writeCounter(Oid id, const Counter& counter, std::string& bytes) {
   ByteWriter out(bytes);
   out.varint(id);
   out.fixed(counter.value);
   out.fixed(static_cast<uint8_t>(counter.isCalled));
}

std::pair<Oid, Counter> readCounter(ByteReader& in) {
   const Oid id = static_cast<Oid>(in.varint());
   Counter counter;
   counter.value = in.fixed<int64_t>();
   counter.isCalled = in.fixed<uint8_t>() != 0;
   return {id, counter};
}

} // namespace ouzel::storage
