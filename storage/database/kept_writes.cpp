#include "storage/database/kept_writes.hpp"

#include <algorithm>
#include <span>

#include "common/error/sql_error.hpp"
#include "storage/base/batch_codec.hpp"
#include "storage/table/appender.hpp"
#include "storage/table/local_writes.hpp"
#include "storage/table/table_core.hpp"

namespace ouzel::storage {

namespace {

constexpr uint64_t formatVersion = 2;
constexpr uint64_t withoutStrengths = 1; ///< the version in which all marks had the strength Update
constexpr LockStrength marking[] = {LockStrength::NoKeyUpdate, LockStrength::Update};

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

void writeShares(const std::vector<LocalWrites::Share>& all, const RowShares& table, ByteWriter& out) {
   out.varint(all.size());
   for (const LocalWrites::Share& share : all) {
      out.varint(static_cast<uint64_t>(share.strength));
      const std::vector<uint32_t> columns = share.place.key ? table.key(share.place.key) : std::vector<uint32_t>();
      out.varint(columns.size());
      for (const uint32_t column : columns)
         out.varint(column);
      out.varint(share.place.value);
   }
}

void repeatShares(Transaction& transaction, Table& table, ByteReader& in) {
   RowShares& shares = table.core().shares;
   for (size_t left = in.count(); left > 0; --left) {
      const uint64_t strength = in.varint();
      if (strength > static_cast<uint64_t>(LockStrength::Share)) ByteReader::corrupted();
      std::vector<uint32_t> columns(in.count());
      for (uint32_t& column : columns)
         column = static_cast<uint32_t>(in.varint());
      const RowShares::Place place{columns.empty() ? 0 : shares.keyOf(columns), in.varint()};
      bool isNew = false;
      shares.add(place, transaction.id(), static_cast<LockStrength>(strength), isNew,
                 [] { return std::optional(TransactionId{0}); });
      if (isNew)
         transaction.writesOf(table).addShares({place}, transaction.commandId(), static_cast<LockStrength>(strength));
   }
}

[[noreturn]] void throwLost() {
   throw SqlError(sqlstate::dataCorrupted, "a prepared transaction has changed rows that are not there");
}

void lockAgain(Transaction& transaction, const Snapshot& snapshot, Table& table, const std::vector<RowId>& rows,
               LockStrength strength) {
   std::vector<uint8_t> isLocked(rows.size());
   table.lockRows(transaction, snapshot, rows, {.strength = strength}, isLocked);
   if (std::find(isLocked.begin(), isLocked.end(), uint8_t{0}) != isLocked.end()) throwLost();
}

void deleteAgain(Transaction& transaction, const Snapshot& snapshot, Table& table, const std::vector<RowId>& rows,
                 LockStrength strength) {
   const std::vector<LockStrength> strengths(rows.size(), strength);
   if (table.deleteRows(transaction, snapshot, rows, {}, strengths) != rows.size()) throwLost();
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
      for (const LocalWrites::KeptRows* rows : {&kept.deletes, &kept.locks})
         for (const std::vector<LocalWrites::LoggedDeletes>& ofStrength : *rows)
            writeRowIds(ofStrength, out);
      writeShares(kept.shares, writes->table().core().shares, out);
   }
   return bytes;
}

void repeatWrites(Transaction& transaction, std::string_view bytes,
                  const std::function<std::shared_ptr<Table>(StorageId)>& find) {
   ByteReader in(bytes);
   const uint64_t version = in.varint();
   if (version != formatVersion && version != withoutStrengths) ByteReader::corrupted();
   const Snapshot snapshot = transaction.snapshot();
   Arena arena;
   for (size_t tables = in.count(); tables > 0; --tables) {
      const std::shared_ptr<Table> table = find(static_cast<StorageId>(in.varint()));
      if (!table) throwLost();
      const std::string_view rows = in.string();
      const std::span<const LockStrength> strengths = std::span(marking).subspan(version == withoutStrengths ? 1 : 0);
      std::vector<std::vector<RowId>> deleted, locked; // by strength
      for (auto* ids : {&deleted, &locked})
         for (size_t i = 0; i < strengths.size(); ++i)
            ids->push_back(readRowIds(in));
      for (size_t i = 0; i < strengths.size(); ++i) {
         // Rows that were locked and then deleted are in both lists.
         lockAgain(transaction, snapshot, *table, locked[i], strengths[i]);
         deleteAgain(transaction, snapshot, *table, deleted[i], strengths[i]);
      }
      if (version != withoutStrengths) repeatShares(transaction, *table, in);
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
