#include "storage/database/kept_writes.hpp"

#include <algorithm>

#include "common/error/sql_error.hpp"
#include "storage/base/batch_codec.hpp"
#include "storage/table/appender.hpp"
#include "storage/table/local_writes.hpp"

namespace ouzel::storage {

namespace {

constexpr uint64_t formatVersion = 1;

void writeRowIds(const std::vector<LocalWrites::LoggedDeletes>& segments, ByteWriter& out) {
   out.varint(segments.size());
   for (const LocalWrites::LoggedDeletes& segment : segments) {
      out.varint(segment.segment);
      out.varint(segment.rows.size());
      uint32_t previous = 0;
      for (const uint32_t row : segment.rows) {
         out.varint(row - previous);
         previous = row;
      }
   }
}

std::vector<RowId> readRowIds(ByteReader& in) {
   std::vector<RowId> ids;
   for (size_t segments = in.count(); segments > 0; --segments) {
      const SegmentId segment = in.varint();
      if (segment >> segmentIdBits != 0) ByteReader::corrupted();
      uint64_t row = 0;
      for (size_t rows = in.count(); rows > 0; --rows) {
         row += in.varint();
         if (row >= blockRowsMax) ByteReader::corrupted();
         ids.push_back(makeRowId(segment, static_cast<uint32_t>(row)));
      }
   }
   return ids;
}

[[noreturn]] void throwLost() {
   throw SqlError(sqlstate::dataCorrupted, "a prepared transaction has changed rows that are not there");
}

} // namespace

std::string describeWrites(Transaction& transaction) {
   const std::vector<LocalWrites*> all = transaction.allWrites();
   std::string bytes;
   ByteWriter out(bytes);
   out.varint(formatVersion);
   out.varint(all.size());
   for (LocalWrites* writes : all) {
      const LocalWrites::Kept kept = writes->keep();
      out.varint(static_cast<uint64_t>(writes->table().id()));
      out.string(kept.batches);
      writeRowIds(kept.deletes, out);
      writeRowIds(kept.locks, out);
   }
   return bytes;
}

void repeatWrites(Transaction& transaction, std::string_view bytes,
                  const std::function<std::shared_ptr<Table>(StorageId)>& find) {
   ByteReader in(bytes);
   if (in.varint() != formatVersion) ByteReader::corrupted();
   const Snapshot snapshot = transaction.snapshot();
   Arena arena;
   for (size_t tables = in.count(); tables > 0; --tables) {
      const std::shared_ptr<Table> table = find(static_cast<StorageId>(in.varint()));
      if (!table) throwLost();
      const std::string_view rows = in.string();
      const std::vector<RowId> deleted = readRowIds(in), locked = readRowIds(in);
      // Rows that were locked and then deleted are in both lists.
      std::vector<uint8_t> isLocked(locked.size());
      if (!locked.empty()) table->lockRows(transaction, snapshot, locked, false, isLocked);
      if (std::find(isLocked.begin(), isLocked.end(), uint8_t{0}) != isLocked.end()) throwLost();
      if (!deleted.empty() && table->deleteRows(transaction, snapshot, deleted) != deleted.size()) throwLost();
      if (rows.empty()) continue;
      const auto appender = table->appender(transaction, AppendMode::Small);
      for (ByteReader batches(rows); !batches.atEnd();) {
         arena.reset();
         appender->append(decodeBatch(batches, arena));
      }
      appender->finish();
   }
   if (!in.atEnd()) ByteReader::corrupted();
   transaction.nextCommand();
}

} // namespace ouzel::storage
