#pragma once
#include <algorithm>
#include <cstring>
#include <string_view>

#include "common/memory/arena.hpp"
#include "common/value/string_view.hpp"

namespace ouzel::executor {

/// The bytes of one value while a function makes them, in the arena that will own the value. They are charged to the
/// arena's reservation before they are written. Growing also asks whether the statement was cancelled.
///
///    ValueBuilder result(env.strings);
///    result.append(head).append(tail);
///    return result.finish();
///
/// While a builder is open, nothing else may be allocated from its arena. Growing throws 53200 (no memory), 54000 (the
/// value exceeds PostgreSQL's limit of 1 GB) and what checkInterrupted() throws.
class ValueBuilder {
public:
   explicit ValueBuilder(Arena& arena) : arena_(arena) {}
   ~ValueBuilder() {
      if (data_) arena_.giveBack(data_, data_ + capacity_);
   }
   ValueBuilder(const ValueBuilder&) = delete;
   ValueBuilder& operator=(const ValueBuilder&) = delete;

   ValueBuilder& append(std::string_view text) {
      if (text.size() > bytesBetweenChecks) return appendLong(text);
      std::memcpy(extend(text.size()), text.data(), text.size());
      return *this;
   }
   ValueBuilder& append(size_t count, char c) {
      reserve(count);
      for (; count > bytesBetweenChecks; count -= bytesBetweenChecks)
         std::memset(extend(bytesBetweenChecks), c, bytesBetweenChecks);
      std::memset(extend(count), c, count);
      return *this;
   }
   void push_back(char c) { *extend(1) = c; }
   /// Makes the value `bytes` longer. Returns where they begin; valid until the next call.
   char* extend(size_t bytes) {
      if (bytes > room_ - size_) grow(bytes);
      char* at = data_ + size_;
      size_ += bytes;
      return at;
   }

   /// Allocates room for `bytes` more, which saves copies while the value grows to a known size.
   void reserve(size_t bytes) {
      if (bytes > capacity_ - size_) {
         grow(bytes);
         room_ = std::min(capacity_, size_ + bytesBetweenChecks);
      }
   }

   size_t size() const { return size_; }
   std::string_view view() const { return {data_, size_}; }
   char* data() { return data_; }
   /// Forgets the bytes from here on.
   void truncate(size_t size) {
      DCHECK(size <= size_);
      size_ = size;
   }
   /// The value; ends the builder. What was allocated and is not needed goes back to the arena.
   StringView finish();

private:
   static constexpr size_t bytesBetweenChecks = 1 << 20; ///< of cancellation: less than a millisecond's work
   void grow(size_t bytes);
   ValueBuilder& appendLong(std::string_view text);

   Arena& arena_;
   char* data_ = nullptr;
   size_t size_ = 0;
   size_t room_ = 0;     ///< bytes that may be written before the next grow(): ≤ capacity_
   size_t capacity_ = 0; ///< bytes allocated
};

} // namespace ouzel::executor
