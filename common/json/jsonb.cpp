#include "common/json/jsonb.hpp"

#include <algorithm>
#include <cstring>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/json/jsonb_form.hpp"
#include "common/number/decimal.hpp"
#include "common/thread/stack.hpp"

namespace ouzel::json {

namespace {

[[noreturn, gnu::cold]] void throwDamaged() {
   throw SqlError(sqlstate::dataCorrupted, "malformed jsonb value");
}

/// A little-endian word of 1, 2 or 4 bytes.
uint32_t readWord(const char* at, uint32_t width) {
   uint32_t word = 0;
   switch (width) {
   case 1: return static_cast<uint8_t>(*at);
   case 2: std::memcpy(&word, at, 2); return word;
   default: std::memcpy(&word, at, 4); return word;
   }
}

template <typename T>
int threeWay(T a, T b) {
   return a < b ? -1 : a > b ? 1 : 0;
}

/// Whether the bytes are a finite decimal: decimal.hpp's functions trust that they are.
bool isCanonical(std::string_view number) {
   if (number.size() < decimal::headerBytes) return false;
   uint16_t header;
   std::memcpy(&header, number.data(), sizeof header);
   const bool isZero = number.size() == decimal::headerBytes;
   return (header & decimal::kindSpecial) == 0 && (isZero ? (header & decimal::kindNegative) == 0 : number.back() != 0);
}

int compareScalars(const JsonbView& a, const JsonbView& b) {
   switch (a.kind()) {
   case Kind::Boolean: return threeWay(a.boolean(), b.boolean());
   case Kind::Number: return decimal::compare(a.number(), b.number());
   case Kind::String: return threeWay(a.string(), b.string());
   default: return 0;
   }
}

/// Types from the smallest to the largest.
int rank(Kind kind) {
   switch (kind) {
   case Kind::Null: return 0;
   case Kind::String: return 1;
   case Kind::Number: return 2;
   case Kind::Boolean: return 3;
   case Kind::Array: return 4;
   case Kind::Object: return 5;
   }
   return 0;
}

/// The order of values inside of documents: containers first by their numbers of elements.
int compareInside(const JsonbView& a, const JsonbView& b) {
   if (a.kind() != b.kind()) return threeWay(rank(a.kind()), rank(b.kind()));
   if (a.isScalar()) return compareScalars(a, b);
   if (a.size() != b.size()) return threeWay(a.size(), b.size());
   checkStack();
   for (uint32_t i = 0; i < a.size(); ++i) {
      if (a.kind() == Kind::Object)
         if (const int order = threeWay(a.key(i), b.key(i))) return order;
      if (const int order = compareInside(a.element(i), b.element(i))) return order;
   }
   return 0;
}

bool containsInside(const JsonbView& a, const JsonbView& b);

bool arrayHas(const JsonbView& array, const JsonbView& wanted) {
   for (uint32_t i = 0; i < array.size(); ++i) {
      const JsonbView element = array.element(i);
      if (wanted.isScalar() ? element.kind() == wanted.kind() && compareScalars(element, wanted) == 0
                            : !element.isScalar() && containsInside(element, wanted))
         return true;
   }
   return false;
}

/// Of two containers.
bool containsInside(const JsonbView& a, const JsonbView& b) {
   if (a.kind() != b.kind()) return false;
   checkStack();
   if (a.kind() == Kind::Array) {
      for (uint32_t i = 0; i < b.size(); ++i)
         if (!arrayHas(a, b.element(i))) return false;
      return true;
   }
   if (a.size() < b.size()) return false;
   for (uint32_t i = 0; i < b.size(); ++i) {
      const std::optional<JsonbView> mine = a.find(b.key(i));
      const JsonbView wanted = b.element(i);
      if (!mine || mine->kind() != wanted.kind()) return false;
      if (wanted.isScalar() ? compareScalars(*mine, wanted) != 0 : !containsInside(*mine, wanted)) return false;
   }
   return true;
}

} // namespace

JsonbView::JsonbView(std::string_view bytes) : bytes_(bytes) {
   if (bytes.empty()) throwDamaged();
   const auto head = static_cast<uint8_t>(bytes[0]);
   const auto payload = static_cast<uint8_t>(head & form::payloadMask);
   switch (static_cast<form::Type>(head >> form::payloadBits)) {
   case form::Type::Literal:
      if (payload > form::literalTrue) throwDamaged();
      kind_ = payload == form::literalNull ? Kind::Null : Kind::Boolean;
      size_ = payload;
      start_ = 1;
      return;
   case form::Type::Integer:
      kind_ = Kind::Number;
      size_ = form::smallInteger | payload;
      start_ = 1;
      return;
   case form::Type::Number:
   case form::Type::String: {
      kind_ = static_cast<form::Type>(head >> form::payloadBits) == form::Type::Number ? Kind::Number : Kind::String;
      start_ = 1;
      size_ = payload;
      if (payload > form::shortMax) {
         const uint32_t lengthBytes = payload - form::shortMax;
         if (bytes.size() < 1 + lengthBytes) throwDamaged();
         size_ = 0;
         for (uint32_t i = 0; i < lengthBytes; ++i)
            size_ |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[1 + i])) << (8 * i);
         start_ += lengthBytes;
      }
      if (bytes.size() - start_ < size_ || size_ > StringView::lengthMax) throwDamaged();
      if (kind_ == Kind::Number && !isCanonical(bytes.substr(start_, size_))) throwDamaged();
      return;
   }
   case form::Type::Array:
   case form::Type::Object: {
      const bool isObject = static_cast<form::Type>(head >> form::payloadBits) == form::Type::Object;
      kind_ = isObject ? Kind::Object : Kind::Array;
      width_ = payload;
      if ((width_ != 1 && width_ != 2 && width_ != 4) || bytes.size() < size_t{1} + width_) throwDamaged();
      size_ = readWord(bytes.data() + 1, width_);
      start_ = 1 + width_;
      if ((bytes.size() - start_) / width_ / (isObject ? 2 : 1) < size_) throwDamaged();
      return;
   }
   default: throwDamaged();
   }
}

std::string_view JsonbView::bytes() const {
   return bytes_.substr(0, isScalar() ? start_ + (kind_ >= Kind::Number && !isSmallInteger() ? size_ : 0) : end());
}

bool JsonbView::isSmallInteger() const {
   return kind_ == Kind::Number && size_ >= form::smallInteger;
}

size_t JsonbView::end() const {
   size_t end = start_;
   if (size_ != 0) {
      end = firstElement();
      end += endOf(valueEnds(), size_ - 1);
   }
   if (end > bytes_.size()) throwDamaged();
   return end;
}

bool JsonbView::boolean() const {
   DCHECK(kind_ == Kind::Boolean);
   return size_ == form::literalTrue;
}

StringView JsonbView::number() const {
   DCHECK(kind_ == Kind::Number);
   if (isSmallInteger()) return decimal::fromInt64(size_ & form::payloadMask);
   return StringView(bytes_.data() + start_, size_);
}

std::optional<uint32_t> JsonbView::smallInteger() const {
   return isSmallInteger() ? std::optional(size_ & form::payloadMask) : std::nullopt;
}

std::string_view JsonbView::string() const {
   DCHECK(kind_ == Kind::String);
   return bytes_.substr(start_, size_);
}

uint32_t JsonbView::endOf(size_t ends, uint32_t i) const {
   return readWord(bytes_.data() + ends + size_t{i} * width_, width_);
}

size_t JsonbView::valueEnds() const {
   return start_ + (kind_ == Kind::Object ? size_t{size_} * width_ : 0);
}

size_t JsonbView::firstKey() const {
   return start_ + size_t{size_} * width_ * 2;
}

size_t JsonbView::firstElement() const {
   if (kind_ == Kind::Array) return start_ + size_t{size_} * width_;
   return firstKey() + (size_ == 0 ? 0 : endOf(start_, size_ - 1));
}

/// Item i of those whose ends stand at `ends` and which begin at `first`.
std::string_view JsonbView::item(size_t ends, size_t first, uint32_t i) const {
   const size_t from = first + (i == 0 ? 0 : endOf(ends, i - 1)), to = first + endOf(ends, i);
   if (from > to || to > bytes_.size()) throwDamaged();
   return bytes_.substr(from, to - from);
}

JsonbView JsonbView::element(uint32_t i) const {
   DCHECK(i < size());
   return JsonbView(item(valueEnds(), firstElement(), i));
}

std::string_view JsonbView::key(uint32_t i) const {
   DCHECK(kind_ == Kind::Object && i < size());
   return item(start_, firstKey(), i);
}

std::optional<uint32_t> JsonbView::indexOf(std::string_view wanted) const {
   DCHECK(kind_ == Kind::Object);
   uint32_t from = 0, to = size_;
   while (from < to) {
      const uint32_t middle = (from + to) / 2;
      const std::string_view found = key(middle);
      const int order = form::compareKeys(found, wanted);
      if (order == 0) return middle;
      if (order < 0)
         from = middle + 1;
      else
         to = middle;
   }
   return std::nullopt;
}

std::optional<JsonbView> JsonbView::find(std::string_view wanted) const {
   if (kind_ != Kind::Object) return std::nullopt;
   const std::optional<uint32_t> index = indexOf(wanted);
   return index ? std::optional(element(*index)) : std::nullopt;
}

int compare(JsonbView a, JsonbView b) {
   // As if a scalar were an array of one element, and that array less than others of one element.
   if (a.kind() == Kind::Array && b.isScalar()) return a.size() == 0 ? -1 : 1;
   if (b.kind() == Kind::Array && a.isScalar()) return b.size() == 0 ? 1 : -1;
   return compareInside(a, b);
}

bool equal(JsonbView a, JsonbView b) {
   if (a.kind() != b.kind() || a.size() != b.size()) return false;
   return a.bytes() == b.bytes() || compareInside(a, b) == 0;
}

bool contains(JsonbView a, JsonbView b) {
   if (b.isScalar()) {
      if (a.kind() == Kind::Array) return arrayHas(a, b);
      return a.kind() == b.kind() && compareScalars(a, b) == 0;
   }
   return !a.isScalar() && containsInside(a, b);
}

} // namespace ouzel::json
