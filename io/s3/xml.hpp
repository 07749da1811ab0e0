#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ouzel::io {

/// Walks through a small XML text without building a tree: elements and character data. Skips attributes, comments and
/// processing instructions, and refuses document types. Never throws for any text.
class XmlScanner {
public:
   enum class Event : uint8_t { Open, Close, End, Invalid };

   explicit XmlScanner(std::string_view text) : rest_(text) {}
   /// Goes to the next tag. Invalid and End are final.
   Event next();
   /// The tag's name, without a namespace prefix.
   std::string_view name() const { return name_; }
   /// Close: the character data between this tag and the one before, decoded.
   const std::string& text() const { return text_; }
   size_t depth() const { return open_.size(); }

private:
   bool readText(std::string_view raw);
   Event readTag();
   bool skipPast(std::string_view mark);

   std::string_view rest_;
   std::string_view name_;
   std::string text_;
   std::vector<std::string_view> open_;
   bool closesAtOnce_ = false; ///< the tag was <name/>
};

} // namespace ouzel::io
