#include "io/remote/remote_table.hpp"

#include <algorithm>
#include <libpq-fe.h>

#include "common/error/sql_error.hpp"
#include "common/text/utf8.hpp"
#include "common/type/enum_labels.hpp"
#include "common/type/text_codec.hpp"
#include "io/format/csv/chunk_reader.hpp"

namespace ouzel::io {

namespace {

/// A guess, since nobody asks the other server before a query runs. So many rows that workers wait for the network, and
/// not the session's thread.
constexpr double guessedRows = 20'000;

/// Reads the rows of one cursor.
class RemoteReader final : public ExternalReader {
public:
   RemoteReader(const RemoteTable::Description& table, std::shared_ptr<RemoteLink> link, const ExternalScanSpec& spec)
      : table_(table), link_(std::move(link)), query_(spec.query), memory_(*spec.memory), arena_(&memory_), format_{} {
      format_.types = table.types;
      for (const uint32_t index : spec.columns) {
         const SqlType& type = table.columns[index].type;
         EnumLabelsPtr labels = isEnumType(type.oid) ? labelsOf(type.oid, table.types) : nullptr;
         columns_.push_back({table.localColumns[index], fieldParser(type), std::move(labels), ColumnValues(type)});
      }
   }
   ~RemoteReader() override {
      drop();
      if (cursor_ != 0 && !isLast_) link_->closeCursor(cursor_);
   }

   bool next(Batch& out, uint32_t rowsMax) override {
      if (at_ == count_ && !fetch()) return false;
      const uint32_t count = std::min(rowsMax, count_ - at_);
      arena_.reset();
      out.columns.clear();
      for (size_t i = 0; i < columns_.size(); ++i) {
         parse(columns_[i], static_cast<int>(i), count);
         out.columns.push_back(columns_[i].values.vector());
      }
      out.setDense(count);
      at_ += count;
      return true;
   }

private:
   struct Parsed {
      std::string name;
      FieldParser parser;   ///< null: the type has none
      EnumLabelsPtr labels; ///< null: it is no enum
      ColumnValues values;
   };

   /// False: there are no more rows.
   bool fetch() {
      drop();
      if (isLast_) return false;
      if (cursor_ == 0) cursor_ = link_->openCursor(query_);
      rows_ = link_->fetch(cursor_, table_.fetchSize, query_);
      const size_t bytes = PQresultMemorySize(rows_.get());
      memory_.grow(bytes);
      charged_ = bytes;
      count_ = static_cast<uint32_t>(PQntuples(rows_.get()));
      isLast_ = count_ < table_.fetchSize;
      if (static_cast<size_t>(PQnfields(rows_.get())) != std::max<size_t>(columns_.size(), 1))
         throw SqlError(sqlstate::fdwError, "remote query result does not match the foreign table");
      if (isLast_) link_->closeCursor(cursor_);
      return count_ > 0;
   }
   void drop() {
      rows_.reset();
      memory_.shrink(std::exchange(charged_, 0));
      at_ = count_ = 0;
   }

   void parse(Parsed& column, int field, uint32_t count) {
      const SqlType& type = column.values.type();
      const bool isText = storedRepresentation(type).physical == PhysicalType::String;
      column.values.setAllValid(count);
      std::byte* out = column.values.at(0);
      for (uint32_t row = 0; row < count; ++row, out += column.values.size()) {
         const int from = static_cast<int>(at_ + row);
         if (PQgetisnull(rows_.get(), from, field)) {
            column.values.setNull(row);
            continue;
         }
         const std::string_view text(PQgetvalue(rows_.get(), from, field),
                                     static_cast<size_t>(PQgetlength(rows_.get(), from, field)));
         try {
            if (isText && findInvalidUtf8(text) != text.size()) checkUtf8(text);
            if (column.parser && column.parser(out, text, type.typmod, arena_)) continue;
            if (column.labels)
               putEnum(out, type, text, *column.labels, format_.types);
            else
               parseTextInto(out, type, text, format_, arena_);
         } catch (SqlError& error) {
            error.addContext("column \"" + column.name + "\" of foreign table \"" + table_.localName + "\"");
            throw;
         }
      }
   }

   const RemoteTable::Description& table_;
   const std::shared_ptr<RemoteLink> link_;
   const std::string query_;
   Reservation memory_;
   Arena arena_;
   SessionFormat format_;
   std::vector<Parsed> columns_;
   uint64_t cursor_ = 0; ///< 0: not yet opened
   RemoteRows rows_;
   size_t charged_ = 0; ///< for rows_
   uint32_t at_ = 0, count_ = 0;
   bool isLast_ = false; ///< the cursor has no rows behind those that were fetched
};

class RemoteScan final : public ExternalScan {
public:
   RemoteScan(const RemoteTable::Description& table, std::shared_ptr<RemoteLink> link, ExternalScanSpec spec)
      : table_(table), link_(std::move(link)), spec_(std::move(spec)) {}

   uint32_t readersMax() const override { return 1; }
   std::unique_ptr<ExternalReader> makeReader() override {
      return std::make_unique<RemoteReader>(table_, link_, spec_);
   }
   std::vector<std::pair<std::string, std::string>> facts() const override { return {}; }

private:
   const RemoteTable::Description& table_;
   const std::shared_ptr<RemoteLink> link_;
   const ExternalScanSpec spec_;
};

} // namespace

RemoteTable::RemoteTable(Description description, std::shared_ptr<RemoteLink> link, std::exception_ptr problem)
   : description_(std::move(description)), link_(std::move(link)), problem_(std::move(problem)) {
   columns_ = description_.columns;
   estimatedRows_ = guessedRows;
}

std::unique_ptr<ExternalScan> RemoteTable::scan(ExternalScanSpec spec) const {
   if (problem_) std::rethrow_exception(problem_);
   for (const uint32_t column : spec.columns)
      if (!columns_[column].problem.empty()) throwNotSupported(columns_[column].problem);
   return std::make_unique<RemoteScan>(description_, link_, std::move(spec));
}

} // namespace ouzel::io
