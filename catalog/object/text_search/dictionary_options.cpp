#include "catalog/object/text_search/dictionary_options.hpp"

#include "catalog/object/search_path.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/ascii.hpp"

namespace ouzel::catalog {

namespace {

[[noreturn]] void throwFormat(std::string_view text) {
   throw SqlError(sqlstate::syntaxError, "invalid parameter list format: \"" + std::string(text) + '"');
}

/// Reads "name = value, ...". Names may stand in double quotes, values in single ones.
class OptionReader {
public:
   explicit OptionReader(std::string_view text) : text_(text) {}
   std::vector<DictionaryOption> run() {
      std::vector<DictionaryOption> options;
      for (skipBlanks(); at_ < text_.size(); skipBlanks()) {
         DictionaryOption option;
         option.name = word();
         skipBlanks();
         if (at_ >= text_.size() || text_[at_++] != '=') throwFormat(text_);
         skipBlanks();
         option.value = word();
         options.push_back(std::move(option));
         skipBlanks();
         if (at_ < text_.size() && text_[at_++] != ',') throwFormat(text_);
      }
      return options;
   }

private:
   static bool isBlank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
   void skipBlanks() {
      while (at_ < text_.size() && isBlank(text_[at_]))
         ++at_;
   }
   std::string word() {
      std::string word;
      if (at_ < text_.size() && (text_[at_] == '\'' || text_[at_] == '"')) {
         const char quote = text_[at_++];
         for (; at_ < text_.size(); ++at_) {
            if (text_[at_] == quote && (at_ + 1 == text_.size() || text_[at_ + 1] != quote)) break;
            if (text_[at_] == quote || (text_[at_] == '\\' && at_ + 1 < text_.size() && text_[at_ + 1] == '\\')) ++at_;
            word += text_[at_];
         }
         if (at_++ >= text_.size()) throwFormat(text_);
         return word;
      }
      while (at_ < text_.size() && !isBlank(text_[at_]) && text_[at_] != '=' && text_[at_] != ',')
         word += text_[at_++];
      if (word.empty()) throwFormat(text_);
      return word;
   }
   std::string_view text_;
   size_t at_ = 0;
};

bool isNumber(std::string_view text) {
   return !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
}

} // namespace

bool DictionaryOption::boolean() const {
   const std::string word = lowerCase(value);
   if (word == "true" || word == "on" || word == "1") return true;
   if (word == "false" || word == "off" || word == "0") return false;
   throw SqlError(sqlstate::syntaxError, name + " requires a Boolean value");
}

std::vector<DictionaryOption> readDictionaryOptions(std::string_view text) {
   return OptionReader(text).run();
}

std::string writeDictionaryOptions(const std::vector<DictionaryOption>& options) {
   std::string text;
   for (const DictionaryOption& option : options) {
      if (!text.empty()) text += ", ";
      text += quoteIdentifier(option.name) + " = ";
      if (isNumber(option.value)) {
         text += option.value;
         continue;
      }
      if (option.value.find('\\') != std::string::npos) text += 'E';
      text += '\'';
      for (const char c : option.value) {
         if (c == '\'' || c == '\\') text += c;
         text += c;
      }
      text += '\'';
   }
   return text;
}

} // namespace ouzel::catalog
