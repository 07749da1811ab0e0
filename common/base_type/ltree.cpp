#include "common/base_type/ltree.hpp"

#include <algorithm>

#include "common/base_type/wire.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/utf8.hpp"

namespace ouzel {

void requireLtreeLabelSize(size_t size, size_t character) {
   if (size <= ltreeLabelSizeMax) return;
   throw SqlError(sqlstate::nameTooLong, "label string is too long")
       .detail("Label length is " + std::to_string(size) + ", must be at most " + std::to_string(ltreeLabelSizeMax) +
               ", at character " + std::to_string(character) + ".");
}

void throwLtreeSyntax(const char* type, size_t character) {
   throw SqlError(sqlstate::syntaxError, std::string(type) + " syntax error at character " + std::to_string(character));
}

void throwLtreeEnd(const char* type) {
   throw SqlError(sqlstate::syntaxError, std::string(type) + " syntax error").detail("Unexpected end of input.");
}

void checkLtree(std::string_view text) {
   const size_t labels = 1 + static_cast<size_t>(std::count(text.begin(), text.end(), '.'));
   if (labels > ltreeLabelsMax)
      throw SqlError(sqlstate::programLimitExceeded, "number of ltree labels (" + std::to_string(labels) +
                                                         ") exceeds the maximum allowed (" +
                                                         std::to_string(ltreeLabelsMax) + ")");
   // Bytes are characters up to the first error, as labels are ASCII.
   size_t begin = 0;
   for (size_t at = 0; at < text.size(); ++at) {
      if (isLtreeLabelChar(text[at])) continue;
      if (text[at] != '.' || at == begin) throwLtreeSyntax("ltree", at + 1);
      requireLtreeLabelSize(at - begin, at + 1);
      begin = at + 1;
   }
   if (begin == text.size() && !text.empty()) throwLtreeEnd("ltree");
   requireLtreeLabelSize(text.size() - begin, text.size() + 1);
}

uint32_t ltreeSize(std::string_view path) {
   return path.empty() ? 0 : 1 + static_cast<uint32_t>(std::count(path.begin(), path.end(), '.'));
}

std::vector<std::string_view> ltreeLabels(std::string_view path) {
   std::vector<std::string_view> labels;
   if (path.empty()) return labels;
   for (size_t begin = 0;;) {
      const size_t end = path.find('.', begin);
      labels.push_back(path.substr(begin, end - begin));
      if (end == std::string_view::npos) return labels;
      begin = end + 1;
   }
}

void appendLtreeBinary(std::string& out, const void* value) {
   const auto text = valueAt<StringView>(value);
   out += '\1';
   out += text.view();
}

std::string_view receiveLtreeText(const char* type, std::string_view bytes) {
   WireReader reader(bytes);
   const auto version = reader.take<uint8_t>();
   if (version != 1)
      throw SqlError(sqlstate::internalError,
                     "unsupported " + std::string(type) + " version number " + std::to_string(version));
   const std::string_view text = reader.takeBytes(reader.size());
   checkUtf8(text);
   return text;
}

namespace {

void append(std::string& out, const void* value) {
   const auto path = valueAt<StringView>(value);
   out += path.view();
}

void parse(void* target, std::string_view text, int32_t, Arena& arena) {
   checkLtree(text);
   putValue(target, arena.copyString(text));
}

void receive(void* target, std::string_view bytes, int32_t typmod, Arena& arena) {
   parse(target, receiveLtreeText("ltree", bytes), typmod, arena);
}

} // namespace

const TypeForm ltreeForm{oid::ltree, -1, 1, append, parse, appendLtreeBinary, receive};

} // namespace ouzel
