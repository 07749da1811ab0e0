#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace ouzel {

/// Appends the text as a JSON string.
void appendJsonText(std::string& out, std::string_view text);

/// Appends a JSON object, member by member. A text without a value is left out.
class JsonObject {
public:
   explicit JsonObject(std::string& out) : out_(out) { out_ += '{'; }

   void text(std::string_view key, std::string_view value) {
      if (value.empty()) return;
      name(key);
      appendJsonText(out_, value);
   }
   void number(std::string_view key, uint64_t value) { raw(key, std::to_string(value)); }
   /// A value that is JSON already.
   void raw(std::string_view key, std::string_view json) {
      name(key);
      out_ += json;
   }
   void finish() { out_ += '}'; }

private:
   void name(std::string_view key) {
      if (!isFirst_) out_ += ',';
      isFirst_ = false;
      appendJsonText(out_, key);
      out_ += ':';
   }
   std::string& out_;
   bool isFirst_ = true;
};

} // namespace ouzel
