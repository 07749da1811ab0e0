#include "storage/database/commit_record.hpp"

#include "storage/base/definition_codec.hpp"

namespace ouzel::storage {

namespace {

void writeDeletes(const LocalWrites::LoggedDeletes& deletes, ByteWriter& out) {
   out.varint(deletes.segment);
   out.varint(deletes.rows.size());
   uint32_t previous = 0;
   for (const uint32_t row : deletes.rows) {
      out.varint(row - previous);
      previous = row;
   }
}

LocalWrites::LoggedDeletes readDeletes(ByteReader& in) {
   LocalWrites::LoggedDeletes deletes;
   deletes.segment = in.varint();
   deletes.rows.resize(in.count());
   uint64_t row = 0;
   for (uint32_t& entry : deletes.rows) {
      row += in.varint();
      if (row >= uint64_t{1} << rowIdBits) ByteReader::corrupted();
      entry = static_cast<uint32_t>(row);
   }
   return deletes;
}

void writeBlocks(const std::vector<LocalWrites::LoggedBlock>& blocks, ByteWriter& out) {
   out.varint(blocks.size());
   for (const auto& block : blocks) {
      out.varint(block.segment);
      out.string(block.objectName);
   }
}

std::vector<LocalWrites::LoggedBlock> readBlocks(ByteReader& in) {
   std::vector<LocalWrites::LoggedBlock> blocks(in.count());
   for (auto& block : blocks) {
      block.segment = in.varint();
      block.objectName = in.string();
   }
   return blocks;
}

void writeTable(const CommitRecord::TableWrites& table, ByteWriter& out) {
   out.varint(static_cast<uint64_t>(table.id));
   out.varint(table.rows.size());
   for (const auto& rows : table.rows) {
      out.varint(rows.segment);
      out.varint(rows.firstRow);
      out.varint(rows.rowCount);
      out.varint(rows.rawSize);
      out.string(rows.batches);
   }
   writeBlocks(table.blocks, out);
   out.varint(table.deletes.size());
   for (const auto& deletes : table.deletes)
      writeDeletes(deletes, out);
   out.varint(table.rewrites.size());
   for (const auto& rewrite : table.rewrites) {
      out.varint(rewrite.retired.size());
      for (const SegmentId segment : rewrite.retired)
         out.varint(segment);
      writeBlocks(rewrite.blocks, out);
   }
}

CommitRecord::TableWrites readTable(ByteReader& in) {
   CommitRecord::TableWrites table;
   table.id = static_cast<StorageId>(in.varint());
   table.rows.resize(in.count());
   for (auto& rows : table.rows) {
      rows.segment = in.varint();
      rows.firstRow = static_cast<uint32_t>(in.varint());
      rows.rowCount = static_cast<uint32_t>(in.varint());
      rows.rawSize = in.varint();
      rows.batches = in.string();
   }
   table.blocks = readBlocks(in);
   table.deletes.resize(in.count());
   for (auto& deletes : table.deletes)
      deletes = readDeletes(in);
   table.rewrites.resize(in.count());
   for (auto& rewrite : table.rewrites) {
      rewrite.retired.resize(in.count());
      for (SegmentId& segment : rewrite.retired)
         segment = in.varint();
      rewrite.blocks = readBlocks(in);
   }
   return table;
}

} // namespace

std::string CommitRecord::serialize() const {
   std::string bytes;
   bytes.reserve(sizeBound());
   ByteWriter out(bytes);
   out.varint(nextOid);
   out.varint(nextStorage);
   out.varint(nextSegment);
   out.varint(created.size());
   for (const CreatedTable& table : created) {
      out.varint(static_cast<uint64_t>(table.id));
      out.varint(table.columns.size());
      for (const ColumnDefinition& column : table.columns)
         writeColumnDefinition(column, bytes);
   }
   out.varint(dropped.size());
   for (const StorageId id : dropped)
      out.varint(static_cast<uint64_t>(id));
   out.varint(added.size());
   for (const AddedColumn& column : added) {
      out.varint(static_cast<uint64_t>(column.id));
      writeColumnDefinition(column.column, bytes);
   }
   out.varint(writes.size());
   for (const TableWrites& table : writes)
      writeTable(table, out);
   out.string(catalogChange);
   return bytes;
}

CommitRecord CommitRecord::deserialize(std::string_view bytes) {
   ByteReader in(bytes);
   CommitRecord record;
   record.nextOid = static_cast<Oid>(in.varint());
   record.nextStorage = in.varint();
   record.nextSegment = in.varint();
   record.created.resize(in.count());
   for (CreatedTable& table : record.created) {
      table.id = static_cast<StorageId>(in.varint());
      const size_t columns = in.count();
      for (size_t i = 0; i < columns; ++i)
         table.columns.push_back(readColumnDefinition(in));
   }
   record.dropped.resize(in.count());
   for (StorageId& id : record.dropped)
      id = static_cast<StorageId>(in.varint());
   const size_t added = in.count();
   for (size_t i = 0; i < added; ++i) {
      const auto id = static_cast<StorageId>(in.varint());
      record.added.push_back({id, readColumnDefinition(in)});
   }
   const size_t tables = in.count();
   for (size_t i = 0; i < tables; ++i)
      record.writes.push_back(readTable(in));
   record.catalogChange = in.string();
   if (!in.atEnd()) ByteReader::corrupted();
   return record;
}

size_t CommitRecord::sizeBound() const {
   constexpr size_t number = 10;
   size_t size = 16 * number + catalogChange.size() + dropped.size() * number;
   for (const CreatedTable& table : created)
      for (const ColumnDefinition& column : table.columns)
         size += 64 + column.missing.bytes.size();
   size += created.size() * 2 * number;
   for (const AddedColumn& column : added)
      size += 64 + number + column.column.missing.bytes.size();
   for (const TableWrites& table : writes) {
      size += 5 * number;
      for (const auto& rewrite : table.rewrites) {
         size += (2 + rewrite.retired.size()) * number;
         for (const auto& block : rewrite.blocks)
            size += 2 * number + block.objectName.size();
      }
      for (const auto& rows : table.rows)
         size += 5 * number + rows.batches.size();
      for (const auto& block : table.blocks)
         size += 2 * number + block.objectName.size();
      for (const auto& deletes : table.deletes)
         size += 2 * number + deletes.rows.size() * 5;
   }
   return size;
}

} // namespace ouzel::storage
