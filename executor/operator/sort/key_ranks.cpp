#include "executor/operator/sort/key_ranks.hpp"

#include <algorithm>
#include <atomic>

#include "common/hash/hash_value.hpp"
#include "common/sync/mutex.hpp"

namespace ouzel::executor {

namespace {
constexpr uint32_t textsMax = 2048;    ///< distinct texts of a column; more are looked up more slowly than compared
constexpr uint64_t rowsMin = 4 * 1024; ///< fewer rows are sorted at once
constexpr uint32_t partsPerWorker = 2;
} // namespace

/// A set of texts, each with a rank. The texts lie in the rows.
class KeyRanks::Texts {
   struct Slot {
      uint64_t hash = 0;
      StringView text;
      uint32_t rank = 0;
      bool isUsed = false;
   };

public:
   static constexpr size_t bytesMax = size_t{textsMax} * 2 * sizeof(Slot); ///< half of the slots stay free

   /// False: there are textsMax texts already, and this is another one.
   bool add(const StringView& text) { return add(text, hashString(text)); }
   bool add(const StringView& text, uint64_t hash) {
      Slot& slot = slots_[find(text, hash)];
      if (slot.isUsed) return true;
      if (count_ == textsMax) return false;
      slot = {hash, text, 0, true};
      if (++count_ * 2 > slots_.size()) grow();
      return true;
   }
   bool addAll(const Texts& other) {
      return std::all_of(other.slots_.begin(), other.slots_.end(),
                         [this](const Slot& slot) { return !slot.isUsed || add(slot.text, slot.hash); });
   }
   /// Number the texts by their order.
   void rank() {
      std::vector<Slot*> used;
      for (Slot& slot : slots_)
         if (slot.isUsed) used.push_back(&slot);
      const auto order = valueOrder(PhysicalType::String);
      std::sort(used.begin(), used.end(), [order](const Slot* a, const Slot* b) {
         return order(reinterpret_cast<const std::byte*>(&a->text), reinterpret_cast<const std::byte*>(&b->text)) < 0;
      });
      for (uint32_t i = 0; i < used.size(); ++i)
         used[i]->rank = i;
   }
   uint32_t rankOf(const StringView& text) const { return slots_[find(text, hashString(text))].rank; }

private:
   /// The slot of the text, or the free one where it belongs.
   size_t find(const StringView& text, uint64_t hash) const {
      const size_t mask = slots_.size() - 1;
      size_t at = hash & mask;
      while (slots_[at].isUsed && !(slots_[at].hash == hash && slots_[at].text == text))
         at = (at + 1) & mask;
      return at;
   }
   void grow() {
      std::vector<Slot> old(slots_.size() * 2);
      old.swap(slots_);
      for (const Slot& slot : old)
         if (slot.isUsed) slots_[find(slot.text, slot.hash)] = slot;
   }

   std::vector<Slot> slots_ = std::vector<Slot>(64);
   uint32_t count_ = 0;
};

struct KeyRanks::Column {
   uint32_t key;    ///< number among the key columns
   uint32_t stored; ///< number among the stored columns
   std::atomic<bool> hasFew{true};
   Mutex mutex;
   std::unique_ptr<Texts> texts GUARDED_BY(mutex); ///< of all parts
   const Texts* ranked = nullptr;                  ///< the same after endCollect(), when nobody changes them
};

KeyRanks::KeyRanks(const SortRowLayout& layout, Reservation& memory) : layout_(layout), memory_(memory) {}

std::unique_ptr<KeyRanks> KeyRanks::plan(const SortRowLayout& layout, std::span<const std::unique_ptr<SortRun>> runs,
                                         uint32_t workers, Reservation& memory) {
   uint64_t rows = 0;
   for (const auto& run : runs)
      rows += run->rowCount();
   if (rows < rowsMin) return nullptr;
   std::unique_ptr<KeyRanks> ranks(new KeyRanks(layout, memory));
   const auto& keys = layout.key.columns();
   for (uint32_t i = 0; i < keys.size(); ++i) {
      if (keys[i].type != PhysicalType::String) continue;
      ranks->columns_.push_back(std::make_unique<Column>());
      ranks->columns_.back()->key = i;
      ranks->columns_.back()->stored = layout.keyColumns[i];
   }
   // The only text of a key, if it is the last column, is sorted by its bytes without comparing rows.
   const bool isLast = ranks->columns_.size() == 1 && ranks->columns_.front()->key + 1 == keys.size();
   if (ranks->columns_.empty() || isLast) return nullptr;
   ranks->addParts(runs, workers);
   const size_t bytes = ranks->columns_.size() * (size_t{workers} + 1) * Texts::bytesMax;
   if (!memory.tryGrow(bytes)) return nullptr;
   ranks->reservedBytes_ = bytes;
   return ranks;
}

KeyRanks::~KeyRanks() {
   memory_.shrink(reservedBytes_);
}

void KeyRanks::addParts(std::span<const std::unique_ptr<SortRun>> runs, uint32_t workers) {
   for (const auto& run : runs) {
      const uint32_t batches = (run->rowCount() + batchRowsMax - 1) / batchRowsMax;
      const uint32_t batchesPerPart = std::max(4u, batches / std::max(1u, workers * partsPerWorker));
      for (uint32_t batch = 0; batch < batches; batch += batchesPerPart)
         parts_.push_back(
             {run.get(), batch * batchRowsMax, std::min(run->rowCount(), (batch + batchesPerPart) * batchRowsMax), {}});
   }
}

void KeyRanks::collect(uint32_t number) {
   const Part& part = parts_[number];
   for (const auto& column : columns_) {
      Texts texts;
      for (uint32_t row = part.from; row < part.end && column->hasFew.load(std::memory_order_relaxed); ++row) {
         if (part.run->isNull(column->stored, row)) continue;
         StringView text;
         std::memcpy(&text, part.run->value(column->stored, row), sizeof text);
         if (!texts.add(text)) column->hasFew = false;
      }
      if (!column->hasFew) continue;
      const MutexLock lock(column->mutex);
      if (!column->texts)
         column->texts = std::make_unique<Texts>(std::move(texts));
      else if (!column->texts->addAll(texts))
         column->hasFew = false;
   }
}

bool KeyRanks::endCollect() {
   std::erase_if(columns_, [](const auto& column) { return !column->hasFew; });
   for (const auto& column : columns_) {
      const MutexLock lock(column->mutex);
      if (!column->texts) column->texts = std::make_unique<Texts>(); // all values are NULL
      column->texts->rank();
      column->ranked = column->texts.get();
   }
   return !columns_.empty();
}

void KeyRanks::replace(uint32_t number) {
   Part& part = parts_[number];
   for (const auto& column : columns_) {
      const SortKeyLayout::Column& key = layout_.key.columns()[column->key];
      const Texts& texts = *column->ranked;
      for (uint32_t row = part.from; row < part.end; ++row) {
         if (part.run->isNull(column->stored, row)) continue;
         StringView text;
         std::memcpy(&text, part.run->value(column->stored, row), sizeof text);
         SortKeyLayout::storeRank(key, texts.rankOf(text), part.run->keyToChange(row));
      }
   }
   for (uint32_t row = part.from; row < part.end; row += batchRowsMax)
      part.spread.add(layout_.key, part.run->key(row), std::min(batchRowsMax, part.end - row));
}

SortKeyLayout KeyRanks::endReplace() {
   for (const Part& part : parts_)
      if (part.from == 0) part.run->setSpread({});
   for (const Part& part : parts_)
      part.run->addSpread(part.spread);
   std::vector<uint32_t> exact;
   for (const auto& column : columns_)
      exact.push_back(column->key);
   return layout_.key.withRanks(exact);
}

} // namespace ouzel::executor
