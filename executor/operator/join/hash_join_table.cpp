#include "executor/operator/join/hash_join_table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/hash/hash.hpp"
#include "common/hash/vector_hash.hpp"

namespace ouzel::executor {

namespace {

constexpr uint64_t pointerMask = (uint64_t{1} << 48) - 1;
constexpr uint64_t slotsMin = 32;
/// Size of a piece, the rows that one worker inserts at a time.
constexpr size_t pieceBytesMax = size_t{1} << 20;

/// Sets two of sixteen bits, so that few other hashes pass the tag of a chain of one or two rows.
uint64_t tagOf(uint64_t hash) {
   return uint64_t{1} << (48 + (hash & 15)) | uint64_t{1} << (48 + (hash >> 4 & 15));
}

/// Call body(T{}) with the C++ type of an integer-like physical type.
template <typename Body>
decltype(auto) withInteger(PhysicalType type, Body&& body) {
   switch (type) {
   case PhysicalType::Bool: return body(uint8_t{});
   case PhysicalType::I16: return body(int16_t{});
   case PhysicalType::I32: return body(int32_t{});
   default: return body(int64_t{});
   }
}

/// Put `row` in front of the chain in `entry`; returns the chain's old entry. The header becomes the link.
template <bool exclusive>
uint64_t pushRow(uint64_t& entry, std::byte* row, uint64_t tag) {
   auto& link = *reinterpret_cast<uint64_t*>(row);
   const uint64_t address = reinterpret_cast<uint64_t>(row);
   if constexpr (exclusive) {
      const uint64_t old = entry;
      link = old & pointerMask;
      entry = address | (old & ~pointerMask) | tag;
      return old;
   } else {
      std::atomic_ref<uint64_t> shared(entry);
      uint64_t old = shared.load(std::memory_order_relaxed);
      do {
         link = old & pointerMask;
      } while (!shared.compare_exchange_weak(old, address | (old & ~pointerMask) | tag, std::memory_order_release,
                                             std::memory_order_relaxed));
      return old;
   }
}

} // namespace

void HashJoinTable::KeyBounds::add(const LiveColumn& column, uint32_t count) {
   withInteger(column.type, [&]<typename T>(T) {
      const T* data = static_cast<const T*>(column.data);
      int64_t low = lower, high = upper;
      for (uint32_t i = 0; i < count; ++i) {
         const auto value = static_cast<int64_t>(data[column.position(i)]);
         low = std::min(low, value);
         high = std::max(high, value);
      }
      lower = low;
      upper = high;
   });
}

void HashJoinTable::KeyBounds::add(const KeyBounds& other) {
   lower = std::min(lower, other.lower);
   upper = std::max(upper, other.upper);
}

HashJoinRows::HashJoinRows(std::vector<Key> keys, const std::vector<PhysicalType>& types, bool hasMatchFlags)
   : keys_(std::move(keys)), hasMatchFlags_(hasMatchFlags) {
   DCHECK(keys_.size() <= types.size()); // the keys are the first columns
   for (const PhysicalType type : types)
      layout_.addColumn(type);
   layout_.setHashedColumns(static_cast<uint32_t>(keys_.size()));
   const uint32_t flag = hasMatchFlags ? layout_.addExtra(1, 1) : 0;
   layout_.seal();
   if (hasMatchFlags) flagOffset_ = layout_.extraOffset(flag);
   simpleKey_ = keys_.size() == 1 && isIntegerLike(keys_[0].type) && !keys_[0].nullsEqual;
   for (const Key& key : keys_)
      wantsBounds_.push_back(isIntegerLike(key.type) && (simpleKey_ || key.filter));
}

void HashJoinTable::reset() {
   releaseRows();
   bounds_.assign(rows_.keys().size(), KeyBounds{});
   sawNullKey_ = direct_ = false;
   hasAllRows_ = true;
   hasDuplicates_.store(false);
   rowCount_ = joinableCount_ = 0;
   hashes_.reset();
}

void HashJoinTable::releaseFilters() {
   hashes_.reset();
   for (const HashJoinRows::Key& key : rows_.keys())
      if (key.filter) key.filter->releaseBits();
}

void HashJoinTable::releaseRows() {
   pages_.clear();
   unjoinable_.clear();
   pieces_.clear();
   memoryOfDirectory_.release();
   directory_ = nullptr;
   residentCount_ = slots_ = 0;
   bytes_ = 0;
}

void HashJoinTable::merge(uint64_t joinable, uint64_t unjoinable, const std::vector<KeyBounds>& bounds,
                          bool sawNullKey) {
   DCHECK(bounds.size() == bounds_.size());
   rowCount_ += joinable + unjoinable;
   joinableCount_ += joinable;
   for (size_t k = 0; k < bounds.size(); ++k)
      bounds_[k].add(bounds[k]);
   sawNullKey_ |= sawNullKey;
}

void HashJoinTable::setPages(Pages pages, Pages unjoinable, bool hasAllRows, std::shared_ptr<HashFilter> spilled) {
   pages_ = std::move(pages);
   unjoinable_ = std::move(unjoinable);
   hasAllRows_ = hasAllRows;
   // Rows have the hash of all keys, scans that of one.
   hashes_ = rows_.keys().size() == 1 && rows_.keys()[0].filter ? std::move(spilled) : nullptr;
   residentCount_ = 0;
   for (const auto& page : pages_)
      residentCount_ += page->rowCount(layout().rowSize());
   DCHECK(residentCount_ <= joinableCount_);
   DCHECK(!hasAllRows || residentCount_ == joinableCount_);
}

size_t HashJoinTable::directoryBytes(uint64_t rows) {
   return std::bit_ceil(std::max<uint64_t>(rows, slotsMin)) * sizeof(uint64_t);
}

/// Make the directory of a hashed table, for hashes that start with `prefix`.
void HashJoinTable::allocateDirectory(uint64_t rows, uint32_t prefixBits, uint64_t prefix) {
   DCHECK(prefixBits < 64);
   DCHECK(prefix >> prefixBits == 0);
   direct_ = false;
   slots_ = std::bit_ceil(std::max<uint64_t>(rows, slotsMin));
   const auto isRefused = [&](size_t bytes) {
      if (!memory_.tryGrow(bytes)) return true;
      memory_.shrink(bytes);
      return false;
   };
   // With little memory, longer chains are better than an error.
   while (slots_ > slotsMin && slots_ > rows / 8 && isRefused(slots_ * sizeof(uint64_t)))
      slots_ /= 2;
   shift_ = 64 - prefixBits - static_cast<uint32_t>(std::countr_zero(slots_));
   DCHECK(std::has_single_bit(slots_));
   DCHECK(shift_ < 64);
   memoryOfDirectory_ = LargeMemory(slots_ * sizeof(uint64_t), memory_);
   directory_ = reinterpret_cast<uint64_t*>(reinterpret_cast<uintptr_t>(memoryOfDirectory_.data()) -
                                            prefix * slots_ * sizeof(uint64_t));
   bytes_ = memoryOfDirectory_.bytes() + rows * layout().rowSize();
}

uint32_t HashJoinTable::openDirectory(QueryContext& context) {
   const uint64_t rows = residentCount_;
   direct_ = false;
   if (context.settings().zeroHashes) hashes_.reset(); // scans compute true hashes
   if (rows_.hasSimpleKey() && rows > 0 && hasAllRows_ && !context.settings().zeroHashes) {
      const uint64_t range = static_cast<uint64_t>(bounds_[0].upper) - static_cast<uint64_t>(bounds_[0].lower);
      const uint64_t direct = (range + 1) * sizeof(uint64_t), hashed = directoryBytes(rows);
      // Memory was kept free for a hashed directory; a larger one needs mayGrow().
      if (range < std::max<uint64_t>(4 * rows, 1024) && (direct <= hashed || grant_.mayGrow(direct))) {
         direct_ = true;
         lower_ = bounds_[0].lower;
         slots_ = range + 1;
         DCHECK(bounds_[0].lower <= bounds_[0].upper); // the table has rows
         memoryOfDirectory_ = LargeMemory(slots_ * sizeof(uint64_t), memory_);
         directory_ = memoryOfDirectory_.as<uint64_t>();
         bytes_ = memoryOfDirectory_.bytes() + rows * layout().rowSize();
      }
   }
   if (!direct_) allocateDirectory(rows, 0, 0);
   const auto& keys = rows_.keys();
   for (size_t k = 0; k < keys.size(); ++k) {
      RuntimeFilter* filter = keys[k].filter;
      if (!filter || joinableCount_ == 0) continue;
      if (rows_.wantsBounds(static_cast<uint32_t>(k))) filter->setBounds(bounds_[k].lower, bounds_[k].upper);
      if (hasAllRows_) {
         filter->allocate(rows, context.memory());
      } else {
         filter->share(hashes_);
      }
   }
   if (rows == 0) return tasks_ = 0;
   cutPieces();
   return tasks_ = context.workers() == 1 ? 1 : static_cast<uint32_t>(pieces_.size());
}

void HashJoinTable::cutPieces() {
   const size_t pieceBytes = std::max<size_t>(pieceBytesMax / layout().rowSize(), 1) * layout().rowSize();
   for (const auto& page : pages_)
      for (std::byte* at = page->begin; at < page->cursor; at += pieceBytes)
         pieces_.push_back({at, std::min(at + pieceBytes, page->cursor)});
}

// Rows come in from the last to the first, each before those that are there: where one thread inserts, the rows of a
// key are found in the order in which they came. Clients read the columns of a table from joins without ORDER BY.

template <bool exclusive>
void HashJoinTable::insertHashed(const Piece& piece) {
   constexpr uint32_t ahead = 16;
   uint64_t* directory = directory_;
   const uint32_t rowSize = layout().rowSize(), shift = shift_, rowCount = piece.rowCount(rowSize);
   std::byte* row = piece.end;
   for (uint32_t i = 0; i < rowCount; ++i) {
      row -= rowSize;
      if (i + ahead < rowCount) __builtin_prefetch(directory + (rowHash(row - size_t{ahead} * rowSize) >> shift), 1);
      const uint64_t hash = rowHash(row);
      pushRow<exclusive>(directory[hash >> shift], row, tagOf(hash));
   }
}

template <bool exclusive, typename T>
void HashJoinTable::insertDirect(const Piece& piece) {
   constexpr uint32_t ahead = 16;
   uint64_t* directory = directory_;
   const uint32_t rowSize = layout().rowSize(), offset = layout().offset(0), rowCount = piece.rowCount(rowSize);
   const uint64_t lower = static_cast<uint64_t>(lower_);
   std::byte* row = piece.end;
   const auto slotOf = [&](const std::byte* at) {
      return static_cast<uint64_t>(static_cast<int64_t>(*reinterpret_cast<const T*>(at + offset))) - lower;
   };
   uint64_t olds = 0;
   for (uint32_t i = 0; i < rowCount; ++i) {
      row -= rowSize;
      if (i + ahead < rowCount) __builtin_prefetch(directory + slotOf(row - size_t{ahead} * rowSize), 1);
      olds |= pushRow<exclusive>(directory[slotOf(row)], row, 0);
   }
   if (olds != 0) hasDuplicates_.store(true, std::memory_order_relaxed);
}

/// Add the keys of a piece to the runtime filters.
void HashJoinTable::addToFilters(const Piece& piece) {
   const uint32_t rowSize = layout().rowSize(), rowCount = piece.rowCount(rowSize);
   const auto& keys = rows_.keys();
   for (uint32_t k = 0; k < keys.size(); ++k) {
      RuntimeFilter* filter = keys[k].filter;
      if (!filter) continue;
      const uint32_t offset = layout().offset(k);
      const std::byte* row = piece.begin;
      if (filter->usesBitmap()) {
         withInteger(keys[k].type, [&]<typename T>(T) {
            for (uint32_t i = 0; i < rowCount; ++i, row += rowSize)
               filter->addValue(static_cast<int64_t>(*reinterpret_cast<const T*>(row + offset)));
         });
         continue;
      }
      constexpr uint32_t group = 256;
      alignas(16) std::byte values[group * 16];
      const std::byte* rows[group];
      uint64_t hashes[group];
      ValidityWord validity[validityWords(group)];
      for (uint32_t done = 0; done < rowCount; done += group) {
         const uint32_t count = std::min(group, rowCount - done);
         for (uint32_t i = 0; i < count; ++i, row += rowSize)
            rows[i] = row;
         gatherColumn(layout(), k, rows, count, false, {values, validity});
         hashVector(Vector::flat(keys[k].type, values, nullptr), Selection::dense(count), hashes);
         for (uint32_t i = 0; i < count; ++i)
            filter->addHash(hashes[i]);
      }
   }
}

void HashJoinTable::insert(QueryContext& context, uint32_t task) {
   DCHECK(task < tasks_);
   DCHECK(directory_ != nullptr);
   const size_t first = pieces_.size() * task / tasks_, end = pieces_.size() * (task + 1) / tasks_;
   const bool exclusive = tasks_ == 1;
   const uint32_t rowSize = layout().rowSize();
   for (size_t p = end; p-- > first;) {
      context.checkCancelled();
      const Piece& piece = pieces_[p];
      if (hasAllRows_) addToFilters(piece);
      if (hashes_)
         for (const std::byte* row = piece.begin; row < piece.end; row += rowSize)
            hashes_->add(rowHash(row));
      if (!direct_) {
         exclusive ? insertHashed<true>(piece) : insertHashed<false>(piece);
         continue;
      }
      withInteger(rows_.keys()[0].type,
                  [&]<typename T>(T) { exclusive ? insertDirect<true, T>(piece) : insertDirect<false, T>(piece); });
   }
}

uint32_t HashJoinTable::openPartition(Pages pages, uint32_t bits, const HashJoinTable& all, bool isShared) {
   releaseRows();
   sawNullKey_ = all.sawNullKey_;
   rowCount_ = joinableCount_ = 0;
   for (const auto& page : pages)
      joinableCount_ += page->rowCount(layout().rowSize());
   rowCount_ = joinableCount_;
   setPages(std::move(pages), {}, true);
   if (residentCount_ == 0) return tasks_ = 0;
   const auto first =
       std::find_if(pages_.begin(), pages_.end(), [](const auto& page) { return page->cursor > page->begin; });
   DCHECK(first != pages_.end());
   allocateDirectory(residentCount_, bits, bits == 0 ? 0 : rowHash((*first)->begin) >> (64 - bits));
   cutPieces();
   return tasks_ = isShared ? static_cast<uint32_t>(pieces_.size()) : 1;
}

void HashJoinTable::insertPartition(QueryContext& context, uint32_t task) {
   DCHECK(task < tasks_);
   const size_t first = pieces_.size() * task / tasks_, end = pieces_.size() * (task + 1) / tasks_;
   for (size_t p = end; p-- > first;) {
      context.checkCancelled();
      tasks_ == 1 ? insertHashed<true>(pieces_[p]) : insertHashed<false>(pieces_[p]);
   }
}

void HashJoinTable::publishLookup() {
   if (!lookup_) return;
   lookup_->reset();
   if (joinableCount_ > KeyLookup::keysMax || !hasAllRows_) return;
   std::vector<uint64_t> hashes;
   constexpr uint32_t group = 256;
   alignas(16) std::byte values[group * 16];
   const std::byte* rows[group];
   ValidityWord validity[validityWords(group)];
   for (const auto& page : pages_) {
      const std::byte* row = page->begin;
      const uint32_t rowCount = page->rowCount(layout().rowSize());
      for (uint32_t done = 0; done < rowCount; done += group) {
         const uint32_t count = std::min(group, rowCount - done);
         for (uint32_t i = 0; i < count; ++i, row += layout().rowSize())
            rows[i] = row;
         const size_t begin = hashes.size();
         hashes.resize(begin + count);
         for (size_t k = 0; k < lookupKeys_.size(); ++k) {
            const uint32_t key = lookupKeys_[k];
            gatherColumn(layout(), key, rows, count, false, {values, validity});
            const Vector vector = Vector::flat(rows_.keys()[key].type, values, nullptr);
            if (k == 0)
               hashVector(vector, Selection::dense(count), &hashes[begin]);
            else
               hashCombineVector(vector, Selection::dense(count), &hashes[begin]);
         }
      }
   }
   lookup_->publish(std::move(hashes));
}

void HashJoinTable::publish(QueryContext&) {
   publishLookup();
   for (const HashJoinRows::Key& key : rows_.keys()) {
      if (!key.filter) continue;
      if (joinableCount_ == 0) {
         key.filter->publishNothing();
      } else {
         key.filter->publish(true);
      }
   }
}

uint32_t HashJoinTable::lookup(const uint64_t* hashes, const RowIndex* live, uint32_t count, const std::byte** rows,
                               RowIndex* candidates) const {
   if (residentCount_ == 0) return 0;
   const uint64_t* directory = directory_;
   const uint32_t shift = shift_;
   uint32_t found = 0;
   const auto run = [&](auto&& index) {
      if (isLarge())
         for (uint32_t i = 0; i < count; ++i)
            __builtin_prefetch(directory + (hashes[index(i)] >> shift));
      for (uint32_t i = 0; i < count; ++i) {
         const uint32_t at = index(i);
         const uint64_t hash = hashes[at], entry = directory[hash >> shift], tag = tagOf(hash);
         rows[at] = reinterpret_cast<const std::byte*>(entry & pointerMask);
         candidates[found] = static_cast<RowIndex>(at);
         found += (entry & tag) == tag;
      }
   };
   if (live) {
      run([live](uint32_t i) { return static_cast<uint32_t>(live[i]); });
   } else {
      run([](uint32_t i) { return i; });
   }
   if (isLarge())
      for (uint32_t i = 0; i < found; ++i)
         __builtin_prefetch(rows[candidates[i]]);
   return found;
}

uint32_t HashJoinTable::lookupDirect(const LiveColumn& key, const RowIndex* live, uint32_t count,
                                     const std::byte** rows, RowIndex* candidates) const {
   if (residentCount_ == 0) return 0;
   return withInteger(key.type, [&]<typename T>(T) {
      const uint64_t* directory = directory_;
      const uint64_t lower = static_cast<uint64_t>(lower_), slots = slots_;
      const T* data = static_cast<const T*>(key.data);
      uint32_t found = 0;
      const auto run = [&](auto&& index, auto&& position) {
         const auto slotOf = [&](uint32_t at) {
            return static_cast<uint64_t>(static_cast<int64_t>(data[position(at)])) - lower;
         };
         // A prefetch of an address outside the table is harmless.
         if (isLarge())
            for (uint32_t i = 0; i < count; ++i) {
               const uint64_t slot = slotOf(index(i));
               __builtin_prefetch(directory + (slot < slots ? slot : 0));
            }
         for (uint32_t i = 0; i < count; ++i) {
            const uint32_t at = index(i);
            const uint64_t slot = slotOf(at);
            const uint64_t entry = slot < slots ? directory[slot] : 0;
            rows[at] = reinterpret_cast<const std::byte*>(entry);
            candidates[found] = static_cast<RowIndex>(at);
            found += entry != 0;
         }
      };
      const uint16_t* positions = key.positions;
      const auto listed = [live](uint32_t i) { return static_cast<uint32_t>(live[i]); };
      const auto dense = [](uint32_t i) { return i; };
      const auto mapped = [positions](uint32_t at) { return static_cast<uint32_t>(positions[at]); };
      if (live) {
         positions ? run(listed, mapped) : run(listed, dense);
      } else {
         positions ? run(dense, mapped) : run(dense, dense);
      }
      if (isLarge())
         for (uint32_t i = 0; i < found; ++i)
            __builtin_prefetch(rows[candidates[i]]);
      return found;
   });
}

void HashJoinTable::describe(OperatorProfile& profile) const {
   profile.memoryPeak = std::max(profile.memoryPeak, memory_.peak());
   profile.notes.emplace_back("Build Rows", std::to_string(rowCount_));
   profile.notes.emplace_back("Table", direct_ ? "direct" : "hashed");
}

} // namespace ouzel::executor
