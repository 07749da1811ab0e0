#include "common/json/jsonb_text.hpp"

#include "common/number/decimal.hpp"
#include "common/text/ascii.hpp"
#include "common/text/number_text.hpp"
#include "common/thread/stack.hpp"

namespace ouzel::json {

namespace {

void appendScalar(std::string& out, const JsonbView& value) {
   switch (value.kind()) {
   case Kind::Null: out.append("null"); return;
   case Kind::Boolean: out.append(value.boolean() ? "true" : "false"); return;
   case Kind::Number:
      if (const auto small = value.smallInteger()) return appendInteger(out, *small);
      return decimal::append(out, value.number());
   case Kind::String: return appendQuoted(out, value.string());
   default: return;
   }
}

void appendIndent(std::string& out, uint32_t level) {
   out.push_back('\n');
   out.append(size_t{level} * 4, ' ');
}

/// A value inside `level` containers, on lines of its own if `isPretty`.
template <bool isPretty>
void append(std::string& out, const JsonbView& value, [[maybe_unused]] uint32_t level) {
   if (value.isScalar()) return appendScalar(out, value);
   checkStack();
   const bool isObject = value.kind() == Kind::Object;
   out.push_back(isObject ? '{' : '[');
   for (uint32_t i = 0; i < value.size(); ++i) {
      if (i != 0) out.append(isPretty ? "," : ", ");
      if constexpr (isPretty) appendIndent(out, level + 1);
      if (isObject) {
         appendQuoted(out, value.key(i));
         out.append(": ");
      }
      append<isPretty>(out, value.element(i), level + 1);
   }
   if constexpr (isPretty) appendIndent(out, level);
   out.push_back(isObject ? '}' : ']');
}

} // namespace

void appendQuoted(std::string& out, std::string_view text) {
   out.push_back('"');
   size_t copied = 0;
   for (size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (static_cast<unsigned char>(c) >= ' ' && c != '"' && c != '\\') continue;
      out.append(text, copied, i - copied);
      copied = i + 1;
      out.push_back('\\');
      if (c == '"' || c == '\\') {
         out.push_back(c);
      } else if (const char letter = controlLetter(c)) {
         out.push_back(letter);
      } else {
         constexpr char digits[] = "0123456789abcdef";
         out.append("u00");
         out.push_back(digits[static_cast<unsigned char>(c) >> 4]);
         out.push_back(digits[c & 15]);
      }
   }
   out.append(text, copied, text.size() - copied);
   out.push_back('"');
}

void appendText(std::string& out, const JsonbView& value) {
   append<false>(out, value, 0);
}

void appendPretty(std::string& out, const JsonbView& value) {
   append<true>(out, value, 0);
}

void appendPlain(std::string& out, const JsonbView& value) {
   if (value.kind() == Kind::String)
      out.append(value.string());
   else
      append<false>(out, value, 0);
}

} // namespace ouzel::json
