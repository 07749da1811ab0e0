#include "engine/large_object/pages.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "common/error/check.hpp"
#include "common/hash/hash.hpp"
#include "common/hash/vector_hash.hpp"
#include "common/thread/interruption.hpp"

namespace ouzel::engine {

namespace {

using storage::RowId;
using storage::ScanSpec;

// Columns of the table; a scan has the row's id behind the first two, and then the data.
constexpr uint32_t objectColumn = 0, pageColumn = 1, dataColumn = 2;
constexpr uint32_t objectPlace = 0, pagePlace = 1, rowPlace = 2, dataPlace = 3;

/// Up to so many pages are looked up one by one, by an index of both key columns.
constexpr int64_t lookedUpMax = 64;

/// The part of the table that is wanted.
struct Range {
   int64_t lowerObject, upperObject;
   int64_t firstPage = 0, lastPage = INT32_MAX;

   bool hasOneObject() const { return lowerObject == upperObject; }
   int64_t pages() const { return lastPage - firstPage + 1; }
};

uint64_t hashOf(int64_t number) {
   return hashValue(PhysicalType::I64, &number);
}

storage::ZonePredicate between(uint32_t column, int64_t lower, int64_t upper) {
   return {column, storage::ZonePredicate::Kind::Range, storage::zoneKeyOf(Value::integer(PhysicalType::I64, lower)),
           storage::zoneKeyOf(Value::integer(PhysicalType::I64, upper))};
}

ScanSpec specOf(const Range& range, bool withData) {
   ScanSpec spec;
   spec.columns = {objectColumn, pageColumn, ScanSpec::rowIdColumn};
   if (withData) spec.columns.push_back(dataColumn);
   spec.zonePredicates = {between(objectColumn, range.lowerObject, range.upperObject),
                          between(pageColumn, range.firstPage, range.lastPage)};
   if (!range.hasOneObject()) return spec;
   const uint64_t object = hashOf(range.lowerObject);
   if (range.pages() > lookedUpMax) {
      spec.keys = storage::KeyFilter{{objectColumn}, {object}};
      return spec;
   }
   std::vector<uint64_t> hashes;
   for (int64_t page = range.firstPage; page <= range.lastPage; ++page)
      hashes.push_back(hashCombine(object, hashOf(page)));
   spec.keys = storage::KeyFilter{{objectColumn, pageColumn}, std::move(hashes)};
   return spec;
}

void visitRange(storage::Table& table, const storage::Snapshot& snapshot, const Range& range, bool withData,
                const VisitLargeObjectPage& visit) {
   const auto source = table.scan(snapshot, specOf(range, withData));
   const auto reader = source->makeReader();
   constexpr size_t bytesAtOnce = 4 << 20;
   storage::Morsel morsel;
   RowIndex found[storage::vectorRows];
   while (source->next(morsel)) {
      checkInterrupted();
      reader->open(morsel);
      for (uint32_t first = 0, count = 0; first < reader->rowCount(); first += count) {
         count = std::min(reader->rowCount() - first, storage::vectorRows - first % storage::vectorRows);
         if (reader->canSkip(first, count)) continue;
         if (withData) count = reader->rowsWithin(first, count, bytesAtOnce);
         const Selection visible = reader->visible(first, count);
         uint32_t rows =
             reader->filterRange(objectPlace, first, count, {range.lowerObject, range.upperObject}, visible, found);
         rows = reader->filterRange(pagePlace, first, count, {range.firstPage, range.lastPage},
                                    Selection::list(found, rows), found);
         if (rows == 0) continue;
         const Selection wanted = Selection::list(found, rows);
         const Vector objects = reader->read(objectPlace, first, count, wanted),
                      pages = reader->read(pagePlace, first, count, wanted),
                      ids = reader->read(rowPlace, first, count, wanted),
                      data = withData ? reader->read(dataPlace, first, count, wanted) : pages;
         forEachRow(wanted, [&](uint32_t row) {
            visit(static_cast<Oid>(objects.value<int64_t>(row)), pages.value<int32_t>(row),
                  static_cast<RowId>(ids.value<int64_t>(row)),
                  withData ? data.value<StringView>(row).view() : std::string_view());
         });
      }
   }
}

int32_t pageOf(int64_t offset) {
   return static_cast<int32_t>(offset / largeObjectPageBytes);
}
int64_t startOf(int32_t page) {
   return int64_t{page} * largeObjectPageBytes;
}

/// Hands new pages to the transaction.
void append(storage::Table& table, storage::Transaction& transaction, Oid object, int32_t first,
            std::span<const std::string_view> pages) {
   const auto appender = table.appender(transaction, storage::AppendMode::Small);
   std::vector<int64_t> objects;
   std::vector<int32_t> numbers;
   std::vector<StringView> data;
   for (size_t done = 0; done < pages.size(); done += objects.size()) {
      const size_t count = std::min<size_t>(pages.size() - done, batchRowsMax);
      objects.assign(count, object);
      numbers.clear();
      data.clear();
      for (size_t i = done; i < done + count; ++i) {
         numbers.push_back(first + static_cast<int32_t>(i));
         data.emplace_back(pages[i]);
      }
      Batch batch;
      batch.columns = {Vector::flat(PhysicalType::I64, objects.data(), nullptr),
                       Vector::flat(PhysicalType::I32, numbers.data(), nullptr),
                       Vector::flat(PhysicalType::String, data.data(), nullptr)};
      batch.setDense(static_cast<uint32_t>(count));
      appender->append(batch);
   }
   appender->finish();
}

} // namespace

void forEachLargeObjectPage(storage::Table& table, const storage::Snapshot& snapshot, Oid lower, Oid upper,
                            const VisitLargeObjectPage& visit) {
   visitRange(table, snapshot, {.lowerObject = lower, .upperObject = upper}, true, visit);
}

void LargeObjectPages::forEach(int32_t first, int32_t last, bool withData, const Visit& visit) const {
   visitRange(table_, snapshot_, {object_, object_, first, last}, withData,
              [&](Oid, int32_t page, RowId row, std::string_view data) { visit(page, row, data); });
}

int32_t LargeObjectPages::lastPage() const {
   int32_t last = -1;
   forEach(0, INT32_MAX, false, [&](int32_t page, RowId, std::string_view) { last = std::max(last, page); });
   return last;
}

int64_t LargeObjectPages::size() const {
   const int32_t last = lastPage();
   if (last < 0) return 0;
   int64_t size = startOf(last);
   forEach(last, last, true, [&](int32_t, RowId, std::string_view data) { size += static_cast<int64_t>(data.size()); });
   return size;
}

std::string LargeObjectPages::read(int64_t offset, int64_t count) const {
   DCHECK(offset >= 0 && offset <= largeObjectBytesMax);
   count = std::min(count, largeObjectBytesMax - offset);
   if (count <= 0) return {};
   // A client may ask for more than there is, and is given no memory for that.
   if (count > lookedUpMax * largeObjectPageBytes) count = std::min(count, std::max<int64_t>(size() - offset, 0));
   if (count == 0) return {};
   std::string bytes(static_cast<size_t>(count), '\0');
   int64_t end = offset;
   forEach(pageOf(offset), pageOf(offset + count - 1), true, [&](int32_t page, RowId, std::string_view data) {
      const int64_t start = startOf(page), from = std::max(start, offset),
                    to = std::min(start + static_cast<int64_t>(data.size()), offset + count);
      if (to > from) data.copy(bytes.data() + (from - offset), static_cast<size_t>(to - from), from - start);
      end = std::max(end, to);
   });
   if (end < offset + count) bytes.resize(static_cast<size_t>(std::clamp<int64_t>(size() - offset, 0, count)));
   return bytes;
}

void LargeObjectPages::write(storage::Transaction& transaction, int64_t offset, std::string_view bytes) const {
   DCHECK(offset >= 0 && offset + static_cast<int64_t>(bytes.size()) <= largeObjectBytesMax);
   if (bytes.empty()) return;
   const int64_t end = offset + static_cast<int64_t>(bytes.size());
   const int32_t first = pageOf(offset), last = pageOf(end - 1);
   std::vector<RowId> replaced;
   std::map<int32_t, std::string> edges; // the first and the last page keep what is not written
   forEach(first, last, true, [&](int32_t page, RowId row, std::string_view data) {
      replaced.push_back(row);
      if (page == first || page == last) edges[page] = data;
   });
   const auto edge = [&](int32_t page) -> std::string_view {
      std::string& old = edges[page];
      const int64_t from = std::max<int64_t>(offset - startOf(page), 0),
                    to = std::min(end - startOf(page), largeObjectPageBytes);
      if (static_cast<int64_t>(old.size()) < to) old.resize(static_cast<size_t>(to));
      bytes.copy(old.data() + from, static_cast<size_t>(to - from), static_cast<size_t>(startOf(page) + from - offset));
      return old;
   };
   std::vector<std::string_view> pages;
   for (int32_t page = first; page <= last; ++page)
      pages.push_back(page == first || page == last
                          ? edge(page)
                          : bytes.substr(static_cast<size_t>(startOf(page) - offset), largeObjectPageBytes));
   table_.deleteRows(transaction, snapshot_, replaced);
   append(table_, transaction, object_, first, pages);
   transaction.nextCommand();
}

void LargeObjectPages::truncate(storage::Transaction& transaction, int64_t size) const {
   DCHECK(size >= 0 && size <= largeObjectBytesMax);
   // As in PostgreSQL: the page in which the object ends has a row afterwards, even if it is an empty one.
   const int32_t last = pageOf(size);
   std::vector<RowId> replaced;
   std::string kept;
   forEach(last, INT32_MAX, false, [&](int32_t, RowId row, std::string_view) { replaced.push_back(row); });
   forEach(last, last, true, [&](int32_t, RowId, std::string_view data) { kept = data; });
   kept.resize(static_cast<size_t>(size - startOf(last)));
   table_.deleteRows(transaction, snapshot_, replaced);
   const std::string_view page = kept;
   append(table_, transaction, object_, last, std::span(&page, 1));
   transaction.nextCommand();
}

void LargeObjectPages::remove(storage::Transaction& transaction) const {
   std::vector<RowId> rows;
   forEach(0, INT32_MAX, false, [&](int32_t, RowId row, std::string_view) { rows.push_back(row); });
   if (rows.empty()) return;
   table_.deleteRows(transaction, snapshot_, rows);
   transaction.nextCommand();
}

} // namespace ouzel::engine
