#include "io/format/json/json_array.hpp"

#include "common/json/json_parser.hpp"

namespace ouzel::io {

namespace {

/// Hears of the parts of a JSON array.
class ArrayText {
public:
   static constexpr bool decodesStrings = true;
   ArrayText(std::string& out, std::string_view json, bool areJson) : out_(out), json_(json), areJson_(areJson) {}

   void beginArray(size_t) {
      if (objects_ > 0) return;
      separate();
      out_ += '{';
      isFirst_ = true;
   }
   void endArray(size_t) {
      if (objects_ > 0) return;
      out_ += '}';
      isFirst_ = false;
   }
   void beginObject(size_t at) {
      if (objects_++ == 0) objectStart_ = at;
   }
   void endObject(size_t end) {
      if (--objects_ == 0) element(json_.substr(objectStart_, end - objectStart_));
   }
   void key(std::string_view) {}
   void scalar(json::Token token, std::string_view text, size_t at, size_t end) {
      if (objects_ > 0) return;
      if (token != json::Token::Null) return element(areJson_ ? json_.substr(at, end - at) : text);
      separate();
      out_ += "NULL";
   }

private:
   void separate() {
      if (!isFirst_) out_ += ',';
      isFirst_ = false;
   }
   void element(std::string_view text) {
      separate();
      out_ += '"';
      for (const char c : text) {
         if (c == '"' || c == '\\') out_ += '\\';
         out_ += c;
      }
      out_ += '"';
   }

   std::string& out_;
   const std::string_view json_;
   const bool areJson_;
   bool isFirst_ = true;
   size_t objects_ = 0, objectStart_ = 0; ///< objects around, and where the outermost begins
};

} // namespace

void appendArrayOfJson(std::string& out, std::string_view json, bool areJson) {
   ArrayText text(out, json, areJson);
   json::parse(json, text);
}

} // namespace ouzel::io
