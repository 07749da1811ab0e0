#include "executor/operator/write/conflict_keys.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/error/check.hpp"
#include "common/hash/hash.hpp"
#include "common/number/decimal.hpp"
#include "common/type/order_key.hpp"
#include "common/value/physical_type.hpp"

namespace ouzel::executor {

namespace {

template <typename T>
void appendRaw(std::string& out, T value) {
   out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Appends bytes that are equal if and only if the values are equal by SQL's =.
void appendCanonical(std::string& out, const Vector& vector, uint32_t row) {
   switch (vector.type) {
   case PhysicalType::Bool: return appendRaw(out, vector.value<uint8_t>(row));
   case PhysicalType::I16: return appendRaw(out, vector.value<int16_t>(row));
   case PhysicalType::I32: return appendRaw(out, vector.value<int32_t>(row));
   case PhysicalType::I64: return appendRaw(out, vector.value<int64_t>(row));
   case PhysicalType::I128: return appendRaw(out, vector.value<int128>(row));
   case PhysicalType::F32:
   case PhysicalType::F64: {
      double value = vector.type == PhysicalType::F32 ? double{vector.value<float>(row)} : vector.value<double>(row);
      value += 0.0; // -0 + 0 = 0
      if (value != value) value = __builtin_nan("");
      return appendRaw(out, value);
   }
   case PhysicalType::Interval: return appendRaw(out, intervalSpan(vector.value<Interval>(row)));
   case PhysicalType::Decimal: {
      const size_t start = out.size() + sizeof(uint32_t);
      appendRaw(out, uint32_t{0});
      decimal::append(out, vector.value<StringView>(row));
      if (out.find('.', start) != std::string::npos) {
         while (out.back() == '0')
            out.pop_back();
         if (out.back() == '.') out.pop_back();
      }
      const auto size = static_cast<uint32_t>(out.size() - start);
      std::memcpy(out.data() + start - sizeof size, &size, sizeof size);
      return;
   }
   case PhysicalType::String: {
      const StringView& text = vector.value<StringView>(row);
      appendRaw(out, text.size());
      out.append(text.view());
      return;
   }
   }
}

void appendKey(std::string& out, const SqlType& type, const StringView& value) {
   std::string key;
   appendOrderKey(key, type, value.view());
   appendRaw(out, static_cast<uint32_t>(key.size()));
   out.append(key);
}

} // namespace

bool ConflictKeys::Shard::contains(uint64_t hash, std::string_view key) const {
   if (entries.empty()) return false;
   const size_t mask = entries.size() - 1;
   for (size_t at = hash & mask;; at = (at + 1) & mask) {
      const Entry& entry = entries[at];
      if (!entry.data) return false;
      if (entry.hash == hash && std::string_view(entry.data, entry.size) == key) return true;
   }
}

void ConflictKeys::Shard::add(uint64_t hash, std::string_view key) {
   DCHECK(!contains(hash, key));
   if ((used + 1) * 4 > entries.size() * 3) grow();
   char* data = static_cast<char*>(bytes.allocate(std::max<size_t>(key.size(), 1), 1));
   std::memcpy(data, key.data(), key.size());
   const size_t mask = entries.size() - 1;
   size_t at = hash & mask;
   while (entries[at].data)
      at = (at + 1) & mask;
   entries[at] = {hash, data, key.size()};
   ++used;
}

void ConflictKeys::Shard::grow() {
   const size_t size = std::max<size_t>(16, entries.size() * 2);
   memory.grow(size * sizeof(Entry));
   std::vector<Entry> old = std::exchange(entries, std::vector<Entry>(size));
   for (const Entry& entry : old) {
      if (!entry.data) continue;
      size_t at = entry.hash & (size - 1);
      while (entries[at].data)
         at = (at + 1) & (size - 1);
      entries[at] = entry;
   }
   memory.shrink(old.size() * sizeof(Entry));
}

ConflictKeys::ShardLocks::ShardLocks(std::vector<Shard*> shards) : shards_(std::move(shards)) {
   std::sort(shards_.begin(), shards_.end());
   shards_.erase(std::unique(shards_.begin(), shards_.end()), shards_.end());
   for (Shard* shard : shards_)
      shard->mutex.lock();
}

ConflictKeys::ShardLocks::~ShardLocks() {
   for (Shard* shard : shards_)
      shard->mutex.unlock();
}

ConflictKeys::ConflictKeys(std::vector<Key> keys, Reservation& memory) : keys_(std::move(keys)) {
   for (uint32_t i = 0; i < shardCount; ++i)
      shards_.push_back(std::make_unique<Shard>(memory));
}

uint32_t ConflictKeys::claim(const Batch& in, Selection rows, RowIndex* out) {
   struct Claim {
      uint64_t hash;
      Shard* shard;
      std::string bytes;
   };
   std::vector<Claim> claims(keys_.size());
   uint32_t kept = 0;
   for (uint32_t i = 0; i < rows.count(); ++i) {
      const uint32_t row = rows.row(i);
      size_t count = 0;
      for (size_t number = 0; number < keys_.size(); ++number) {
         Claim& claim = claims[count];
         claim.bytes.assign(1, static_cast<char>(number));
         bool isDistinct = false; // a NULL makes the key unlike any other
         if (keys_[number].guard) {
            const Vector& guard = in.columns[*keys_[number].guard];
            if (guard.isNull(row) || guard.value<uint8_t>(row) == 0) continue;
         }
         for (size_t k = 0; k < keys_[number].slots.size(); ++k) {
            const Vector& column = in.columns[keys_[number].slots[k]];
            const bool isNull = column.isNull(row);
            isDistinct = isDistinct || (isNull && !keys_[number].nullsNotDistinct);
            claim.bytes.push_back(isNull ? '\1' : '\0');
            if (isNull) continue;
            if (k < keys_[number].types.size() && hasOrderKey(keys_[number].types[k]))
               appendKey(claim.bytes, keys_[number].types[k], column.value<StringView>(row));
            else
               appendCanonical(claim.bytes, column, row);
         }
         if (isDistinct) continue;
         claim.hash = hashBytes(claim.bytes.data(), claim.bytes.size());
         claim.shard = shards_[claim.hash >> 58].get();
         ++count;
      }
      if (count == 1) {
         Shard& shard = *claims[0].shard;
         const MutexLock lock(shard.mutex);
         if (shard.contains(claims[0].hash, claims[0].bytes)) continue;
         shard.add(claims[0].hash, claims[0].bytes);
         out[kept++] = static_cast<RowIndex>(row);
         continue;
      }
      std::vector<Shard*> wanted;
      for (size_t c = 0; c < count; ++c)
         wanted.push_back(claims[c].shard);
      const ShardLocks locks(std::move(wanted));
      const bool isTaken =
          std::any_of(claims.begin(), claims.begin() + static_cast<ptrdiff_t>(count), [](const Claim& c) {
             c.shard->mutex.assertHeld(); // by locks
             return c.shard->contains(c.hash, c.bytes);
          });
      if (isTaken) continue;
      for (size_t c = 0; c < count; ++c) {
         claims[c].shard->mutex.assertHeld(); // by locks
         claims[c].shard->add(claims[c].hash, claims[c].bytes);
      }
      out[kept++] = static_cast<RowIndex>(row);
   }
   return kept;
}

} // namespace ouzel::executor
