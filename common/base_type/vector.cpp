#include "common/base_type/vector.hpp"

#include <charconv>
#include <cmath>

#include "common/base_type/wire.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/number_text.hpp"

namespace ouzel {

void requireFinite(float value) {
   if (std::isnan(value)) throw SqlError(sqlstate::dataException, "NaN not allowed in vector");
   if (std::isinf(value)) throw SqlError(sqlstate::dataException, "infinite value not allowed in vector");
}

void requireDimensions(size_t count) {
   if (count < 1) throw SqlError(sqlstate::dataException, "vector must have at least 1 dimension");
   if (count > vectorDimensionsMax)
      throw SqlError(sqlstate::programLimitExceeded,
                     "vector cannot have more than " + std::to_string(vectorDimensionsMax) + " dimensions");
}

void requireTypmod(uint32_t dimensions, int32_t typmod) {
   if (typmod != -1 && static_cast<int64_t>(dimensions) != typmod)
      throw SqlError(sqlstate::dataException,
                     "expected " + std::to_string(typmod) + " dimensions, not " + std::to_string(dimensions));
}

namespace {

bool isSpace(char c) {
   return c == ' ' || (c >= '\t' && c <= '\r');
}

/// Reads "[1, 2.5, -3e4]".
class Parser {
public:
   explicit Parser(std::string_view text) : text_(text) {}

   std::string run() {
      skipSpace();
      if (!take('[')) refuse("Vector contents must start with \"[\".");
      skipSpace();
      if (at_ < text_.size() && text_[at_] == ']') requireDimensions(0);
      std::string floats;
      for (bool more = true; more;) {
         const float value = number();
         requireFinite(value);
         floats.append(reinterpret_cast<const char*>(&value), sizeof value);
         requireDimensions(floats.size() / sizeof value);
         skipSpace();
         more = take(',');
      }
      if (!take(']')) refuse({});
      skipSpace();
      if (at_ < text_.size()) refuse("Junk after closing right brace.");
      return floats;
   }

private:
   [[noreturn]] void refuse(const char* detail) const {
      throw SqlError(sqlstate::invalidTextRepresentation,
                     "invalid input syntax for type vector: \"" + std::string(text_) + "\"")
          .detail(detail ? detail : "");
   }
   void skipSpace() {
      while (at_ < text_.size() && isSpace(text_[at_]))
         ++at_;
   }
   bool take(char c) {
      if (at_ == text_.size() || text_[at_] != c) return false;
      ++at_;
      return true;
   }
   float number() {
      skipSpace();
      const size_t begin = at_;
      take('+');
      float value = 0;
      const char *first = text_.data() + at_, *last = text_.data() + text_.size();
      const auto [end, error] = std::from_chars(first, last, value);
      if (end == first || error == std::errc::invalid_argument) refuse(nullptr);
      at_ += static_cast<size_t>(end - first);
      if (error == std::errc::result_out_of_range && isTooLarge(std::string_view(first, end)))
         throw SqlError(sqlstate::numericValueOutOfRange,
                        "\"" + std::string(text_.substr(begin, at_ - begin)) + "\" is out of range for type vector");
      return value;
   }
   /// Else it is too small, and zero.
   static bool isTooLarge(std::string_view digits) {
      double wide = 0;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), wide);
      return error == std::errc() ? std::abs(wide) > 1 : digits.find("e-") == std::string_view::npos;
   }

   const std::string_view text_;
   size_t at_ = 0;
};

void append(std::string& out, const void* value) {
   const auto bytes = valueAt<StringView>(value);
   const FloatsView floats(bytes.view());
   out += '[';
   for (uint32_t i = 0; i < floats.size(); ++i) {
      if (i > 0) out += ',';
      appendFloat(out, floats[i]);
   }
   out += ']';
}

void parse(void* target, std::string_view text, int32_t typmod, Arena& arena) {
   const std::string floats = Parser(text).run();
   requireTypmod(FloatsView(floats).size(), typmod);
   putValue(target, arena.copyString(floats));
}

// pgvector's binary form: the number of dimensions, a number that is 0, the floats.
void send(std::string& out, const void* value) {
   const auto bytes = valueAt<StringView>(value);
   const FloatsView floats(bytes.view());
   appendBig(out, static_cast<uint16_t>(floats.size()));
   appendBig(out, uint16_t{0});
   for (uint32_t i = 0; i < floats.size(); ++i)
      appendBig(out, std::bit_cast<uint32_t>(floats[i]));
}

void receive(void* target, std::string_view bytes, int32_t typmod, Arena& arena) {
   WireReader reader(bytes);
   const auto size = reader.take<uint16_t>();
   const auto unused = reader.take<uint16_t>();
   requireDimensions(size);
   requireTypmod(size, typmod);
   if (unused != 0) throw SqlError(sqlstate::dataException, "expected unused to be 0, not " + std::to_string(unused));
   std::string floats;
   for (uint16_t i = 0; i < size; ++i) {
      const float value = std::bit_cast<float>(reader.take<uint32_t>());
      requireFinite(value);
      floats.append(reinterpret_cast<const char*>(&value), sizeof value);
   }
   reader.finish();
   putValue(target, arena.copyString(floats));
}

StringView applyTypmod(StringView value, int32_t typmod, bool, Arena&) {
   requireTypmod(FloatsView(value.view()).size(), typmod);
   return value;
}

int32_t typmodOf(std::span<const int32_t> values) {
   if (values.size() != 1) throw SqlError(sqlstate::invalidParameterValue, "invalid type modifier");
   if (values[0] < 1) throw SqlError(sqlstate::invalidParameterValue, "dimensions for type vector must be at least 1");
   if (values[0] > static_cast<int32_t>(vectorDimensionsMax))
      throw SqlError(sqlstate::invalidParameterValue,
                     "dimensions for type vector cannot exceed " + std::to_string(vectorDimensionsMax));
   return values[0];
}

} // namespace

const TypeForm vectorForm{oid::vector, -1, 4, append, parse, send, receive, applyTypmod, typmodOf, nullptr, false};

} // namespace ouzel
