#include "executor/pipeline/runtime_filter.hpp"

#include <algorithm>
#include <bit>

#include "common/hash/vector_hash.hpp"
#include "common/value/dispatch.hpp"

namespace ouzel::executor {

namespace {

constexpr uint64_t smallRange = uint64_t{1} << 20;    // a bitmap of this many bits is always cheap
constexpr uint64_t bitsPerRowMax = 64;                // with more, a Bloom filter is smaller and about as good
constexpr uint64_t bitmapBitsMax = uint64_t{1} << 31; // 256 MiB

void setBits(uint64_t& word, uint64_t mask) {
   std::atomic_ref<uint64_t> shared(word);
   if ((shared.load(std::memory_order_relaxed) & mask) != mask) shared.fetch_or(mask, std::memory_order_relaxed);
}

/// Keep the rows for which pass(position) holds and the value is not NULL. No branch depends on the data.
template <typename Pass>
uint32_t keepRows(const Vector& keys, Selection rows, RowIndex* out, Pass&& pass) {
   uint32_t kept = 0;
   const auto run = [&](auto&& position, auto&& valid) {
      forEachRow(rows, [&](uint32_t row) {
         const uint32_t p = position(row);
         out[kept] = static_cast<RowIndex>(row);
         kept += static_cast<uint32_t>(valid(p)) & static_cast<uint32_t>(pass(p));
      });
   };
   const auto withValidity = [&](auto&& position) {
      if (keys.validity) {
         run(position, [&](uint32_t p) { return isValidBit(keys.validity, p); });
      } else {
         run(position, [](uint32_t) { return true; });
      }
   };
   switch (keys.encoding) {
   case Encoding::Flat: withValidity([](uint32_t row) { return row; }); break;
   case Encoding::Dictionary: withValidity([&](uint32_t row) { return static_cast<uint32_t>(keys.codes[row]); }); break;
   case Encoding::Constant: withValidity([](uint32_t) { return 0u; }); break;
   }
   return kept;
}

} // namespace

uint32_t RuntimeFilter::filter(const Vector& keys, Selection rows, RowIndex* out) const {
   DCHECK(published_);
   if (empty_ || rows.count() == 0) return 0;
   const uint64_t* words = bitmap_.as<uint64_t>();
   if (bounds_ && !hashes_) {
      const uint64_t lower = static_cast<uint64_t>(lower_), range = static_cast<uint64_t>(upper_) - lower;
      const auto run = [&]<typename T>(const T* values) {
         if (bitmapBits_ == 0) {
            return keepRows(keys, rows, out, [&](uint32_t p) {
               return static_cast<uint64_t>(static_cast<int64_t>(values[p])) - lower <= range;
            });
         }
         return keepRows(keys, rows, out, [&](uint32_t p) {
            const uint64_t at = static_cast<uint64_t>(static_cast<int64_t>(values[p])) - lower;
            const uint64_t inside = at <= range, safe = inside ? at : 0;
            return (words[safe >> 6] >> (safe & 63) & inside) != 0;
         });
      };
      switch (keys.type) {
      case PhysicalType::Bool: return run(static_cast<const uint8_t*>(keys.data));
      case PhysicalType::I16: return run(static_cast<const int16_t*>(keys.data));
      case PhysicalType::I32: return run(static_cast<const int32_t*>(keys.data));
      case PhysicalType::I64: return run(static_cast<const int64_t*>(keys.data));
      default: break;
      }
   }
   if (!hashes_) return keepRows(keys, rows, out, [](uint32_t) { return true; });
   uint64_t hashes[batchRowsMax];
   hashVector(keys, rows, hashes);
   uint32_t kept = 0;
   const uint32_t count = rows.count();
   const bool mayHaveNulls = keys.mayHaveNulls();
   const HashFilter& filter = *hashes_;
   for (uint32_t i = 0; i < count; ++i) {
      const RowIndex row = rows.row(i);
      out[kept] = row;
      kept += filter.mayContain(hashes[i]) && !(mayHaveNulls && keys.isNull(row));
   }
   return kept;
}

void RuntimeFilter::publishNothing() {
   bounds_ = false;
   releaseBits();
   empty_ = true;
   publish(true);
}

void RuntimeFilter::setBounds(int64_t lower, int64_t upper) {
   DCHECK(lower <= upper);
   empty_ = false;
   bounds_ = true;
   lower_ = lower;
   upper_ = upper;
}

void RuntimeFilter::allocate(uint64_t rows, Reservation& memory) {
   share(nullptr);
   if (bounds_) {
      const uint64_t range = static_cast<uint64_t>(upper_) - static_cast<uint64_t>(lower_); // one less than the values
      if (range < smallRange || (range < bitmapBitsMax && range / bitsPerRowMax < rows)) {
         bitmapBits_ = range + 1;
         bitmap_ = LargeMemory((bitmapBits_ + 63) / 64 * 8, memory);
         return;
      }
   }
   const uint64_t words = HashFilter::wordsFor(rows);
   if (words > HashFilter::wordsMax) return; // the filter would drop few rows; bounds remain
   hashes_ = std::make_shared<HashFilter>(words, memory);
}

void RuntimeFilter::share(std::shared_ptr<HashFilter> hashes) {
   bitmap_.release();
   bitmapBits_ = 0;
   empty_ = false;
   hashes_ = std::move(hashes);
}

void RuntimeFilter::addValue(int64_t value) {
   const uint64_t at = static_cast<uint64_t>(value) - static_cast<uint64_t>(lower_);
   DCHECK(at < bitmapBits_);
   DCHECK(value <= upper_);
   setBits(bitmap_.as<uint64_t>()[at >> 6], uint64_t{1} << (at & 63));
}

void RuntimeFilter::addHash(uint64_t hash) {
   if (hashes_) hashes_->add(hash);
}

void RuntimeFilter::publish(bool selective) {
   DCHECK(bitmapBits_ == 0 || !hashes_);
   DCHECK(bitmapBits_ == 0 || bounds_);
   if (bitmapBits_ != 0) {
      // A full bitmap says no more than the bounds, which scans test on encoded data.
      uint64_t set = 0;
      const uint64_t* words = bitmap_.as<uint64_t>();
      for (uint64_t w = 0; w < (bitmapBits_ + 63) / 64; ++w)
         set += static_cast<uint64_t>(std::popcount(words[w]));
      if (set > bitmapBits_ - bitmapBits_ / 16) selective = false;
   } else if (!hashes_ && !empty_) {
      selective = false;
   }
   selective_ = selective;
   published_ = true;
}

} // namespace ouzel::executor
