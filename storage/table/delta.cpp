#include "storage/table/delta.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "common/error/check.hpp"

namespace ouzel::storage {

namespace {
// Few steps where old arrays stay, many where they are freed.
constexpr uint32_t capacitySteps[] = {64, 2048, rowGroupRows};
constexpr uint32_t privateSteps[] = {64, 512, 2048, 4096, 8192, 16384, 32768, rowGroupRows};

uint32_t stepFor(uint32_t rows, std::span<const uint32_t> steps) {
   for (const uint32_t step : steps)
      if (rows <= step) return step;
   return rowGroupRows;
}

// Atomic, since a reader may load the word for its other bits meanwhile.
void clearBit(ValidityWord* validity, uint32_t row) {
   std::atomic_ref(validity[row >> 6]).fetch_and(~(ValidityWord{1} << (row & 63)), std::memory_order_relaxed);
}
void setBit(ValidityWord* validity, uint32_t row) {
   std::atomic_ref(validity[row >> 6]).fetch_or(ValidityWord{1} << (row & 63), std::memory_order_relaxed);
}
} // namespace

Delta::Delta(std::vector<PhysicalType> types, Reservation& memory, DocumentColumns documents)
   : types_(std::move(types)), documents_(std::move(documents)), memory_(memory), strings_(&memory_) {}

Delta::~Delta() {
   for (auto& group : groups_)
      delete group.load();
}

char* Delta::allocate(size_t bytes, uint32_t rowGroup) {
   memory_.grow(bytes);
   buffers_.push_back({std::unique_ptr<char[]>(new char[bytes + 64]), bytes, rowGroup});
   char* start = buffers_.back().memory.get();
   return start + (64 - reinterpret_cast<uintptr_t>(start) % 64) % 64;
}

/// Frees the arrays of a row group that are in front of `end` in the list of buffers.
void Delta::freeOld(uint32_t rowGroup, size_t end) {
   size_t kept = 0;
   for (size_t i = 0; i < buffers_.size(); ++i) {
      if (i < end && buffers_[i].rowGroup == rowGroup) {
         memory_.shrink(buffers_[i].bytes);
         continue;
      }
      if (kept != i) buffers_[kept] = std::move(buffers_[i]);
      ++kept;
   }
   buffers_.resize(kept);
}

void Delta::reserveRows(uint32_t rowGroup, uint32_t rows) {
   RowGroup* group = groups_[rowGroup].load(std::memory_order_relaxed);
   if (group && group->capacity >= rows) return;
   const uint32_t capacity = expectsMany_ ? rowGroupRows
                             : isPrivate_ ? stepFor(rows, privateSteps)
                                          : stepFor(rows, capacitySteps);
   const uint32_t used = group ? group->capacity : 0;
   const size_t oldBuffers = buffers_.size();
   if (!group) {
      group = new RowGroup;
      group->columns = std::make_unique<Column[]>(types_.size());
      groups_[rowGroup].store(group, std::memory_order_release);
   }
   for (size_t i = 0; i < types_.size(); ++i) {
      const size_t size = physicalSize(types_[i]);
      char* values = allocate(size * capacity, rowGroup);
      if (const char* old = group->columns[i].values.load(std::memory_order_relaxed))
         std::memcpy(values, old, size * used);
      group->columns[i].values.store(values, std::memory_order_release);
      if (const ValidityWord* old = group->columns[i].validity.load(std::memory_order_relaxed)) {
         const size_t words = validityWords(capacity);
         auto* validity = reinterpret_cast<ValidityWord*>(allocate(words * sizeof(ValidityWord), rowGroup));
         std::memset(validity, 0xff, words * sizeof(ValidityWord));
         std::memcpy(validity, old, validityWords(used) * sizeof(ValidityWord));
         group->columns[i].validity.store(validity, std::memory_order_release);
      }
   }
   group->capacity = capacity;
   if (isPrivate_ && used > 0) freeOld(rowGroup, oldBuffers);
}

ValidityWord* Delta::writableValidity(uint32_t rowGroup, uint32_t column) {
   RowGroup& group = *groups_[rowGroup].load(std::memory_order_relaxed);
   ValidityWord* validity = group.columns[column].validity.load(std::memory_order_relaxed);
   if (validity) return validity;
   const size_t bytes = validityWords(group.capacity) * sizeof(ValidityWord);
   validity = reinterpret_cast<ValidityWord*>(allocate(bytes, rowGroup));
   std::memset(validity, 0xff, bytes);
   group.columns[column].validity.store(validity, std::memory_order_release);
   return validity;
}

void Delta::appendColumn(uint32_t column, const Vector& vector, const Selection& rows, uint32_t firstSelected,
                         uint32_t count, uint32_t target) {
   CHECK(vector.type == types_[column]);
   RowGroup& group = *groups_[target / rowGroupRows].load(std::memory_order_relaxed);
   const uint32_t start = target % rowGroupRows;
   const size_t size = physicalSize(vector.type);
   char* out = group.columns[column].values.load(std::memory_order_relaxed) + start * size;
   const auto* in = static_cast<const char*>(vector.data);
   const bool isString = isVariableSize(vector.type);

   // A truncated or cleared delta may have stale NULL bits here.
   ValidityWord* validity = group.columns[column].validity.load(std::memory_order_relaxed);
   if (validity)
      for (uint32_t i = 0; i < count; ++i)
         setBit(validity, start + i);
   if (vector.mayHaveNulls()) {
      for (uint32_t i = 0; i < count; ++i) {
         if (!vector.isNull(rows.row(firstSelected + i))) continue;
         if (!validity) validity = writableValidity(target / rowGroupRows, column);
         clearBit(validity, start + i);
      }
   }
   if (isString) {
      for (uint32_t i = 0; i < count; ++i) {
         const uint32_t row = rows.row(firstSelected + i);
         const StringView value = vector.isNull(row) ? StringView() : vector.value<StringView>(row);
         const StringView copy = value.isInline() ? value : strings_.copyString(value.view());
         std::memcpy(out + i * size, &copy, size);
      }
   } else if (vector.encoding == Encoding::Flat && rows.isDense()) {
      std::memcpy(out, in + firstSelected * size, count * size);
   } else {
      for (uint32_t i = 0; i < count; ++i)
         std::memcpy(out + i * size, in + static_cast<size_t>(vector.positionOf(rows.row(firstSelected + i))) * size,
                     size);
   }
}

void Delta::append(const Batch& batch, const std::vector<Value>& missing) {
   const uint32_t count = batch.liveRows();
   const uint32_t before = rowCount_.load(std::memory_order_relaxed);
   CHECK(before + count <= blockRowsMax);
   CHECK(batch.columns.size() <= types_.size());
   for (uint32_t done = 0; done < count;) {
      const uint32_t target = before + done, group = target / rowGroupRows;
      const uint32_t here = std::min(count - done, rowGroupRows - target % rowGroupRows);
      reserveRows(group, target % rowGroupRows + here);
      for (uint32_t column = 0; column < types_.size(); ++column) {
         if (column < batch.columns.size()) {
            appendColumn(column, batch.columns[column], batch.selection, done, here, target);
            continue;
         }
         CHECK(column < missing.size());
         alignas(16) char value[16] = {};
         if (!missing[column].isNull) missing[column].store(value);
         const ValidityWord validity = missing[column].isNull ? 0 : 1;
         appendColumn(column, Vector::constant(types_[column], value, &validity), batch.selection, done, here, target);
      }
      done += here;
   }
   rowCount_.store(before + count, std::memory_order_release);
}

void Delta::truncate(uint32_t rowCount) {
   CHECK(rowCount <= rowCount_.load(std::memory_order_relaxed));
   if (sketchedRows_ > rowCount) { // uncommitted rows are sketched for their own transaction
      sketchedRows_ = 0;
      sketches_.clear();
   }
   {
      const MutexLock lock(summariesMutex_);
      for (Summarized& one : summaries_)
         if (one.rows > rowCount) one = Summarized();
   }
   rowCount_.store(rowCount, std::memory_order_release);
}

void Delta::clear() {
   rowCount_.store(0, std::memory_order_release);
   sketchedRows_ = 0;
   sketches_.clear();
   {
      const MutexLock lock(summariesMutex_);
      summaries_.clear();
   }
   strings_.reset();
   for (auto& slot : groups_) {
      RowGroup* group = slot.load(std::memory_order_relaxed);
      if (!group) break;
      for (size_t i = 0; i < types_.size(); ++i)
         if (ValidityWord* validity = group->columns[i].validity.load(std::memory_order_relaxed))
            std::memset(validity, 0xff, validityWords(group->capacity) * sizeof(ValidityWord));
   }
}

ColumnSlice Delta::slice(uint32_t column, uint32_t firstRow, uint32_t count) const {
   ColumnSlice slice;
   slice.type = types_[column];
   slice.count = count;
   if (count == 0) return slice;
   DCHECK(firstRow / rowGroupRows == (firstRow + count - 1) / rowGroupRows);
   const uint32_t start = firstRow % rowGroupRows;
   DCHECK(start % 64 == 0);
   const RowGroup& group = *groups_[firstRow / rowGroupRows].load(std::memory_order_acquire);
   slice.data = group.columns[column].values.load(std::memory_order_acquire) + start * physicalSize(slice.type);
   if (const ValidityWord* validity = group.columns[column].validity.load(std::memory_order_acquire))
      slice.validity = validity + start / 64;
   return slice;
}

std::vector<ColumnSlice> Delta::slices(uint32_t firstRow, uint32_t count) const {
   std::vector<ColumnSlice> result;
   for (uint32_t column = 0; column < types_.size(); ++column)
      result.push_back(slice(column, firstRow, count));
   return result;
}

const std::vector<ColumnSketch>& Delta::sketches(uint32_t rows) {
   sketches_.resize(types_.size());
   while (sketchedRows_ < rows) {
      // Slices begin at multiples of 64 rows. The rows of the first 64 that are sketched already are skipped, and the
      // others of them are added one by one.
      const uint32_t begin = sketchedRows_ / 64 * 64, skip = sketchedRows_ - begin;
      const uint32_t end = std::min(rows, (begin / rowGroupRows + 1) * rowGroupRows);
      for (uint32_t column = 0; column < types_.size(); ++column) {
         ColumnSlice all = slice(column, begin, end - begin);
         const uint32_t head = skip == 0 ? 0 : std::min(64u, all.count);
         for (uint32_t row = skip; row < head; ++row) {
            const ValidityWord valid = all.isValid(row);
            sketchSlice({all.type, static_cast<const char*>(all.data) + row * physicalSize(all.type), &valid, 1},
                        sketches_[column]);
         }
         all.data = static_cast<const char*>(all.data) + head * physicalSize(all.type);
         if (all.validity) all.validity += head / 64;
         all.count -= head;
         sketchSlice(all, sketches_[column]);
      }
      sketchedRows_ = end;
   }
   return sketches_;
}

const DocumentSummary* Delta::documentsOf(uint32_t column, uint32_t rows) {
   const auto place = std::find(documents_.columns.begin(), documents_.columns.end(), column);
   if (place == documents_.columns.end()) return nullptr;
   const MutexLock lock(summariesMutex_);
   if (summaries_.size() != documents_.columns.size()) summaries_ = std::vector<Summarized>(documents_.columns.size());
   auto& [summary, summarized] = summaries_[static_cast<size_t>(place - documents_.columns.begin())];
   while (summarized < rows) {
      const uint32_t begin = summarized / 64 * 64, end = std::min(rows, (begin / rowGroupRows + 1) * rowGroupRows);
      const ColumnSlice documents = slice(column, begin, end - begin);
      for (; summarized < end; ++summarized)
         if (documents.isValid(summarized - begin))
            summary.add(json::JsonbView(documents.values<StringView>()[summarized - begin].view()));
   }
   return &summary;
}

} // namespace ouzel::storage
