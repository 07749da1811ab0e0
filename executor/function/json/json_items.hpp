#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "common/json/json_parser.hpp"

namespace ouzel::executor {

/// One value in a JSON text.
struct JsonItem {
   std::string key;      ///< of a member
   json::Token token;    ///< a scalar's, or the one that begins a container
   std::string_view raw; ///< as it stands in the text
   std::string text;     ///< what a string stands for

   bool isNull() const { return token == json::Token::Null; }
   /// As ->> gives it. REQUIRES: not a JSON null.
   std::string_view plain() const { return token == json::Token::String ? std::string_view(text) : raw; }
};

/// The members or elements of the outermost value of a JSON text, in their order, with all of equal keys.
class JsonItems {
public:
   static constexpr bool decodesStrings = true;
   explicit JsonItems(std::string_view text);

   /// Of the outermost value.
   json::Token root() const { return root_; }
   bool isObject() const { return root_ == json::Token::ObjectStart; }
   bool isArray() const { return root_ == json::Token::ArrayStart; }
   const std::vector<JsonItem>& items() const { return items_; }
   /// The last member with the key; null: there is none.
   const JsonItem* find(std::string_view key) const;

   // ---- events of the parser ----
   void beginObject(size_t at) { begin(json::Token::ObjectStart, at); }
   void endObject(size_t end) { finish(end); }
   void beginArray(size_t at) { begin(json::Token::ArrayStart, at); }
   void endArray(size_t end) { finish(end); }
   void key(std::string_view text) {
      if (depth_ == 1) key_ = text;
   }
   void scalar(json::Token token, std::string_view text, size_t at, size_t end);

private:
   void begin(json::Token token, size_t at);
   void finish(size_t end);

   const std::string_view text_;
   json::Token root_ = json::Token::Null;
   std::vector<JsonItem> items_;
   std::string key_;
   size_t depth_ = 0, start_ = 0;
};

} // namespace ouzel::executor
