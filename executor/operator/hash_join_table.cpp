#include "executor/operator/hash_join_table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "common/hash/hash.hpp"
#include "common/hash/vector_hash.hpp"

namespace ouzel::executor {

namespace {

constexpr uint64_t pointerMask = (uint64_t{1} << 48) - 1;
/// A piece of inserting is at least this many pages.
constexpr uint32_t pagesPerTask = 4;

/// Two of sixteen bits: a chain of one or two rows lets few strangers pass.
uint64_t tagOf(uint64_t hash) {
   return uint64_t{1} << (48 + (hash & 15)) | uint64_t{1} << (48 + (hash >> 4 & 15));
}

bool isIntegerLike(PhysicalType type) {
   return type == PhysicalType::Bool || type == PhysicalType::I16 || type == PhysicalType::I32 ||
          type == PhysicalType::I64;
}

/// Call body(T{}) with the C++ type of an integer-like physical type.
template <typename Body>
decltype(auto) withInteger(PhysicalType type, Body&& body) {
   switch (type) {
   case PhysicalType::Bool:
      return body(uint8_t{});
   case PhysicalType::I16:
      return body(int16_t{});
   case PhysicalType::I32:
      return body(int32_t{});
   default:
      return body(int64_t{});
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

HashJoinTable::HashJoinTable(std::vector<Key> keys, const std::vector<PhysicalType>& types, bool hasMatchFlags,
                             Reservation& memory)
   : keys_(std::move(keys)), memory_(memory), hasMatchFlags_(hasMatchFlags), rows_(layout_, memory_),
     unjoinable_(layout_, memory_) {
   for (const PhysicalType type : types)
      layout_.addColumn(type);
   const uint32_t flag = hasMatchFlags ? layout_.addExtra(1, 1) : 0;
   layout_.seal();
   if (hasMatchFlags) flagOffset_ = layout_.extraOffset(flag);
   simpleKey_ = keys_.size() == 1 && isIntegerLike(keys_[0].type) && !keys_[0].nullsEqual;
   for (const Key& key : keys_)
      wantsBounds_.push_back(isIntegerLike(key.type) && (simpleKey_ || key.filter));
}

void HashJoinTable::reset() {
   rows_.clear();
   unjoinable_.clear();
   directory_.release();
   bounds_.assign(keys_.size(), KeyBounds{});
   sawNullKey_ = direct_ = false;
   hasDuplicates_.store(false);
   rowCount_ = slots_ = 0;
   bytes_ = 0;
}

void HashJoinTable::merge(JoinRows& rows, JoinRows& unjoinable, const std::vector<KeyBounds>& bounds, bool sawNullKey) {
   rowCount_ += rows.rowCount() + unjoinable.rowCount();
   rows_.absorb(rows);
   unjoinable_.absorb(unjoinable);
   for (size_t k = 0; k < bounds.size(); ++k)
      bounds_[k].add(bounds[k]);
   sawNullKey_ |= sawNullKey;
}

uint32_t HashJoinTable::openDirectory(QueryContext& context) {
   const uint64_t rows = rows_.rowCount();
   direct_ = false;
   if (simpleKey_ && rows > 0 && !context.settings().zeroHashes) {
      const uint64_t range = static_cast<uint64_t>(bounds_[0].upper) - static_cast<uint64_t>(bounds_[0].lower);
      if (range < std::max<uint64_t>(4 * rows, 1024)) {
         direct_ = true;
         lower_ = bounds_[0].lower;
         slots_ = range + 1;
      }
   }
   if (!direct_) {
      slots_ = std::bit_ceil(std::max<uint64_t>(rows, 32));
      shift_ = static_cast<uint32_t>(64 - std::countr_zero(slots_));
   }
   directory_ = LargeMemory(slots_ * sizeof(uint64_t), memory_);
   bytes_ = directory_.bytes() + rows * layout_.rowSize();
   for (size_t k = 0; k < keys_.size(); ++k) {
      RuntimeFilter* filter = keys_[k].filter;
      if (!filter || rows == 0) continue;
      if (wantsBounds_[k]) filter->setBounds(bounds_[k].lower, bounds_[k].upper);
      filter->allocate(rows, context.memory());
   }
   if (rows == 0) return tasks_ = 0;
   const auto pages = static_cast<uint32_t>(rows_.pages().size());
   return tasks_ = context.workers() == 1 ? 1 : std::max(1u, (pages + pagesPerTask - 1) / pagesPerTask);
}

template <typename T>
void HashJoinTable::hashSimpleKeys(std::byte* row, uint32_t count, uint64_t* hashes) const {
   const uint32_t offset = layout_.offset(0), rowSize = layout_.rowSize();
   for (uint32_t i = 0; i < count; ++i, row += rowSize)
      hashes[i] = hashI64(static_cast<int64_t>(*reinterpret_cast<const T*>(row + offset)));
}

template <bool exclusive>
void HashJoinTable::insertHashed(QueryContext& context, JoinRows::Page& page) {
   constexpr uint32_t group = 256;
   uint64_t hashes[group];
   auto* directory = directory_.as<uint64_t>();
   const uint32_t rowSize = layout_.rowSize();
   std::byte* row = page.memory.as<std::byte>();
   for (uint32_t done = 0; done < page.rowCount; done += group) {
      const uint32_t count = std::min(group, page.rowCount - done);
      if (simpleKey_ && !context.settings().zeroHashes) {
         withInteger(keys_[0].type, [&]<typename T>(T) { hashSimpleKeys<T>(row, count, hashes); });
      } else {
         for (uint32_t i = 0; i < count; ++i)
            hashes[i] = rowHash(row + size_t{i} * rowSize);
      }
      for (uint32_t i = 0; i < count; ++i)
         __builtin_prefetch(directory + (hashes[i] >> shift_), 1);
      for (uint32_t i = 0; i < count; ++i, row += rowSize)
         pushRow<exclusive>(directory[hashes[i] >> shift_], row, tagOf(hashes[i]));
   }
}

template <bool exclusive, typename T>
void HashJoinTable::insertDirect(JoinRows::Page& page) {
   constexpr uint32_t ahead = 16;
   auto* directory = directory_.as<uint64_t>();
   const uint32_t rowSize = layout_.rowSize(), offset = layout_.offset(0);
   const uint64_t lower = static_cast<uint64_t>(lower_);
   std::byte* row = page.memory.as<std::byte>();
   const auto slotOf = [&](const std::byte* at) {
      return static_cast<uint64_t>(static_cast<int64_t>(*reinterpret_cast<const T*>(at + offset))) - lower;
   };
   uint64_t olds = 0;
   for (uint32_t i = 0; i < page.rowCount; ++i, row += rowSize) {
      if (i + ahead < page.rowCount) __builtin_prefetch(directory + slotOf(row + size_t{ahead} * rowSize), 1);
      olds |= pushRow<exclusive>(directory[slotOf(row)], row, 0);
   }
   if (olds != 0) hasDuplicates_.store(true, std::memory_order_relaxed);
}

/// Tell the filters the keys of a page.
void HashJoinTable::addToFilters(JoinRows::Page& page) {
   const uint32_t rowSize = layout_.rowSize();
   for (uint32_t k = 0; k < keys_.size(); ++k) {
      RuntimeFilter* filter = keys_[k].filter;
      if (!filter) continue;
      const uint32_t offset = layout_.offset(k);
      const std::byte* row = page.memory.as<std::byte>();
      if (filter->usesBitmap()) {
         withInteger(keys_[k].type, [&]<typename T>(T) {
            for (uint32_t i = 0; i < page.rowCount; ++i, row += rowSize)
               filter->addValue(static_cast<int64_t>(*reinterpret_cast<const T*>(row + offset)));
         });
         continue;
      }
      constexpr uint32_t group = 256;
      alignas(16) std::byte values[group * 16];
      const std::byte* rows[group];
      uint64_t hashes[group];
      ValidityWord validity[validityWords(group)];
      for (uint32_t done = 0; done < page.rowCount; done += group) {
         const uint32_t count = std::min(group, page.rowCount - done);
         for (uint32_t i = 0; i < count; ++i, row += rowSize)
            rows[i] = row;
         gatherColumn(layout_, k, rows, count, false, {values, validity});
         hashVector(Vector::flat(keys_[k].type, values, nullptr), Selection::dense(count), hashes);
         for (uint32_t i = 0; i < count; ++i)
            filter->addHash(hashes[i]);
      }
   }
}

void HashJoinTable::insert(QueryContext& context, uint32_t task) {
   auto& pages = rows_.pages();
   const size_t first = pages.size() * task / tasks_, end = pages.size() * (task + 1) / tasks_;
   const bool exclusive = tasks_ == 1;
   for (size_t p = first; p < end; ++p) {
      context.checkCancelled();
      JoinRows::Page& page = pages[p];
      addToFilters(page);
      if (!direct_) {
         exclusive ? insertHashed<true>(context, page) : insertHashed<false>(context, page);
         continue;
      }
      withInteger(keys_[0].type,
                  [&]<typename T>(T) { exclusive ? insertDirect<true, T>(page) : insertDirect<false, T>(page); });
   }
}

void HashJoinTable::publishLookup() {
   if (!lookup_) return;
   lookup_->reset();
   if (rows_.rowCount() > KeyLookup::keysMax) return;
   std::vector<uint64_t> hashes;
   constexpr uint32_t group = 256;
   alignas(16) std::byte values[group * 16];
   const std::byte* rows[group];
   ValidityWord validity[validityWords(group)];
   for (JoinRows::Page& page : rows_.pages()) {
      const std::byte* row = page.memory.as<std::byte>();
      for (uint32_t done = 0; done < page.rowCount; done += group) {
         const uint32_t count = std::min(group, page.rowCount - done);
         for (uint32_t i = 0; i < count; ++i, row += layout_.rowSize())
            rows[i] = row;
         const size_t begin = hashes.size();
         hashes.resize(begin + count);
         for (size_t k = 0; k < lookupKeys_.size(); ++k) {
            const uint32_t key = lookupKeys_[k];
            gatherColumn(layout_, key, rows, count, false, {values, validity});
            const Vector vector = Vector::flat(keys_[key].type, values, nullptr);
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
   for (const Key& key : keys_) {
      if (!key.filter) continue;
      if (rows_.rowCount() == 0) {
         key.filter->publishNothing();
      } else {
         key.filter->publish(true);
      }
   }
}

uint32_t HashJoinTable::lookup(const uint64_t* hashes, const RowIndex* live, uint32_t count, const std::byte** rows,
                               RowIndex* candidates) const {
   if (rows_.rowCount() == 0) return 0;
   const auto* directory = directory_.as<const uint64_t>();
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
   if (rows_.rowCount() == 0) return 0;
   return withInteger(key.type, [&]<typename T>(T) {
      const auto* directory = directory_.as<const uint64_t>();
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
