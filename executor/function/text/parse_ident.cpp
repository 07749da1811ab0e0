#include "executor/function/text/parse_ident.hpp"

#include "common/text/number_text.hpp"
#include "executor/function/array_builder.hpp"
#include "executor/function/kernel_helpers.hpp"

// parse_ident(): the parts of a qualified name.

namespace ouzel::executor {

namespace {

bool isStart(char c) {
   return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0;
}
bool isPart(char c) {
   return isStart(c) || isDigit(c) || c == '$';
}

/// Reads one name from left to right.
class NameReader {
public:
   explicit NameReader(std::string_view text) : text_(text) {}

   /// The parts, and whether the text ends with the last of them.
   bool read(ArrayBuilder& parts) {
      bool isAfterDot = false;
      for (;;) {
         skipBlanks();
         if (peek() == '"')
            parts.addText(quoted());
         else if (isStart(peek()))
            parts.addText(plain());
         else
            fail(peek() == '.' ? "No valid identifier before \".\"."
                 : isAfterDot  ? "No valid identifier after \".\"."
                               : nullptr);
         skipBlanks();
         if (peek() != '.') return at_ == text_.size();
         isAfterDot = true;
         ++at_;
      }
   }
   [[noreturn]] void fail(const char* detail) const {
      SqlError error(sqlstate::invalidParameterValue,
                     "string is not a valid identifier: \"" + std::string(text_) + "\"");
      if (detail) throw std::move(error).detail(detail);
      throw error;
   }

private:
   char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
   void skipBlanks() {
      while (at_ < text_.size() && isBlank(text_[at_]))
         ++at_;
   }
   std::string quoted() {
      std::string part;
      for (++at_;; ++at_) {
         if (at_ >= text_.size()) fail("String has unclosed double quotes.");
         if (text_[at_] == '"' && (++at_ >= text_.size() || text_[at_] != '"')) break;
         part.push_back(text_[at_]);
      }
      if (part.empty()) fail("Quoted identifier must not be empty.");
      return part;
   }
   std::string plain() {
      std::string part;
      for (; at_ < text_.size() && isPart(text_[at_]); ++at_)
         part.push_back(text_[at_] >= 'A' && text_[at_] <= 'Z' ? static_cast<char>(text_[at_] + 32) : text_[at_]);
      return part;
   }

   const std::string_view text_;
   size_t at_ = 0;
};

StringView parseIdent(const StringView& text, bool isStrict, KernelEnv& env) {
   ArrayBuilder parts(env.strings, oid::text);
   NameReader reader(text.view());
   if (!reader.read(parts) && isStrict) reader.fail(nullptr);
   return parts.finish();
}

} // namespace

void registerParseIdent() {
   addKernel<parseIdent>("parse_ident");
}

} // namespace ouzel::executor
