#include "executor/function/value_builder.hpp"

#include <algorithm>

#include "common/error/sql_error.hpp"
#include "common/thread/interruption.hpp"

namespace ouzel::executor {

namespace {

constexpr size_t capacityMin = 128;
/// A value that grows past this asks for cancellation each time it is moved: a batch may have a thousand of them.
constexpr size_t longBytes = size_t{64} << 10;

} // namespace

void ValueBuilder::grow(size_t bytes) {
   if (bytes > StringView::lengthMax - size_)
      throw SqlError(sqlstate::programLimitExceeded, "out of memory")
          .detail("Cannot enlarge string buffer containing " + std::to_string(size_) + " bytes by " +
                  std::to_string(bytes) + " more bytes.");
   const size_t wanted = size_ + bytes;
   if (wanted > longBytes) checkInterrupted();
   if (wanted > capacity_) {
      const size_t capacity = std::min<size_t>(std::max({capacityMin, wanted, 2 * capacity_}), StringView::lengthMax);
      data_ = data_ ? arena_.extend(data_, capacity_, capacity) : static_cast<char*>(arena_.allocate(capacity, 1));
      capacity_ = capacity;
   }
   room_ = std::min(capacity_, wanted + bytesBetweenChecks);
}

ValueBuilder& ValueBuilder::appendLong(std::string_view text) {
   reserve(text.size());
   for (; text.size() > bytesBetweenChecks; text.remove_prefix(bytesBetweenChecks))
      append(text.substr(0, bytesBetweenChecks));
   return append(text);
}

StringView ValueBuilder::finish() {
   DCHECK(size_ <= StringView::lengthMax);
   if (!data_) return StringView();
   const bool isInline = size_ <= StringView::inlineMax;
   const StringView value(data_, static_cast<uint32_t>(size_));
   arena_.giveBack(data_ + (isInline ? 0 : size_), data_ + capacity_);
   data_ = nullptr;
   size_ = room_ = capacity_ = 0;
   return value;
}

} // namespace ouzel::executor
