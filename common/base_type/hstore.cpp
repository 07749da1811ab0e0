#include "common/base_type/hstore.hpp"

#include <algorithm>

#include "common/base_type/wire.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/ascii.hpp"
#include "common/text/utf8.hpp"

namespace ouzel {

namespace {

constexpr size_t entrySize = sizeof(uint32_t);

uint32_t readBig(const char* place) {
   return swapBytes(valueAt<uint32_t>(place));
}

} // namespace

int compareHstoreKeys(std::string_view a, std::string_view b) {
   if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
   const int order = a.compare(b);
   return order < 0 ? -1 : order > 0 ? 1 : 0;
}

// ---- reading ----

HstoreView::HstoreView(std::string_view bytes) : bytes_(bytes) {
   if (bytes.empty()) return;
   const size_t zero = bytes.find('\0');
   entries_ = zero + 1 + sizeof(uint32_t);
   if (zero == std::string_view::npos || entries_ > bytes.size()) throwInternal("malformed hstore value");
   size_ = readBig(bytes.data() + zero + 1);
   if ((bytes.size() - entries_) / (2 * entrySize) != size_) throwInternal("malformed hstore value");
}

uint32_t HstoreView::entry(uint32_t i) const {
   return readBig(bytes_.data() + entries_ + i * entrySize);
}

std::string_view HstoreView::text(uint32_t i) const {
   const uint32_t begin = i == 0 ? 0 : entry(i - 1) >> 1;
   return bytes_.substr(begin, (entry(i) >> 1) - begin);
}

std::optional<std::string_view> HstoreView::value(uint32_t i) const {
   if ((entry(2 * i + 1) & 1) != 0) return std::nullopt;
   return text(2 * i + 1);
}

std::vector<HstorePair> HstoreView::pairs() const {
   std::vector<HstorePair> pairs;
   pairs.reserve(size_);
   for (uint32_t i = 0; i < size_; ++i)
      pairs.push_back(pair(i));
   return pairs;
}

std::optional<uint32_t> HstoreView::find(std::string_view wanted) const {
   uint32_t lower = 0, upper = size_;
   while (lower < upper) {
      const uint32_t middle = lower + (upper - lower) / 2;
      const int order = compareHstoreKeys(key(middle), wanted);
      if (order == 0) return middle;
      if (order < 0)
         lower = middle + 1;
      else
         upper = middle;
   }
   return std::nullopt;
}

// ---- writing ----

void sortHstorePairs(std::vector<HstorePair>& pairs) {
   std::stable_sort(pairs.begin(), pairs.end(),
                    [](const HstorePair& a, const HstorePair& b) { return compareHstoreKeys(a.key, b.key) < 0; });
   const auto sameKey = [](const HstorePair& a, const HstorePair& b) { return a.key == b.key; };
   pairs.erase(std::unique(pairs.begin(), pairs.end(), sameKey), pairs.end());
}

std::string storeHstore(const std::vector<HstorePair>& pairs) {
   if (pairs.empty()) return {};
   size_t size = 0;
   for (const HstorePair& pair : pairs)
      size += pair.key.size() + pair.value.value_or("").size();
   if (size + 1 + entrySize * (1 + 2 * pairs.size()) > StringView::lengthMax)
      throw SqlError(sqlstate::programLimitExceeded, "value of type hstore is too large");
   std::string bytes, entries;
   for (const HstorePair& pair : pairs) {
      bytes += pair.key;
      appendBig(entries, static_cast<uint32_t>(bytes.size() << 1));
      bytes += pair.value.value_or("");
      appendBig(entries, static_cast<uint32_t>(bytes.size() << 1 | (pair.value ? 0 : 1)));
   }
   bytes += '\0';
   appendBig(bytes, static_cast<uint32_t>(pairs.size()));
   return bytes + entries;
}

std::string makeHstore(std::vector<HstorePair> pairs) {
   sortHstorePairs(pairs);
   return storeHstore(pairs);
}

void requireHstoreSize(int64_t pairs) {
   if (pairs < 0 || pairs > hstorePairsMax)
      throw SqlError(sqlstate::programLimitExceeded, "number of pairs (" + std::to_string(pairs) +
                                                         ") exceeds the maximum allowed (" +
                                                         std::to_string(hstorePairsMax) + ")");
}

namespace {

// ---- text ----

bool isSpace(char c) {
   return c == ' ' || (c >= '\t' && c <= '\r');
}

/// Reads `a=>1, "b c" => NULL`.
class Parser {
public:
   explicit Parser(std::string_view text) : text_(text) {}

   std::string run() {
      std::vector<std::pair<Word, Word>> words;
      while (auto key = word(false)) {
         skipSpace();
         take('=');
         take('>');
         auto value = word(true);
         if (!value) refuseEnd();
         words.emplace_back(std::move(*key), std::move(*value));
         skipSpace();
         if (at_ == text_.size()) break;
         take(',');
      }
      std::vector<HstorePair> pairs;
      for (const auto& [key, value] : words) {
         const bool isNull = !value.isQuoted && lowerCase(value.text) == "null";
         pairs.push_back({key.text, isNull ? std::nullopt : std::optional<std::string_view>(value.text)});
      }
      return makeHstore(std::move(pairs));
   }

private:
   struct Word {
      std::string text;
      bool isQuoted = false;
   };

   // PostgreSQL 15 reports errors of syntax as internal ones.
   [[noreturn]] void refuseEnd() const { throw SqlError(sqlstate::internalError, "Unexpected end of string"); }
   [[noreturn]] void refuseNear() const {
      size_t end = at_ + 1; // of the character, which is valid UTF-8
      while (end < text_.size() && (text_[end] & 0xC0) == 0x80)
         ++end;
      throw SqlError(sqlstate::internalError, "Syntax error near \"" + std::string(text_.substr(at_, end - at_)) +
                                                  "\" at position " + std::to_string(at_));
   }
   void skipSpace() {
      while (at_ < text_.size() && isSpace(text_[at_]))
         ++at_;
   }
   void take(char c) {
      if (at_ == text_.size()) refuseEnd();
      if (text_[at_] != c) refuseNear();
      ++at_;
   }
   char next() {
      if (at_ == text_.size()) refuseEnd();
      return text_[at_++];
   }

   /// Nothing: the text ends before a word. A key ends at '=', a value at ','; both at white space.
   std::optional<Word> word(bool isValue) {
      skipSpace();
      if (at_ == text_.size()) return std::nullopt;
      if (text_[at_] == '"') return quoted();
      const char end = isValue ? ',' : '=';
      if (!isValue && text_[at_] == end) refuseNear();
      Word result;
      for (bool isFirst = true; at_ < text_.size(); isFirst = false) {
         const char c = text_[at_];
         if (isSpace(c) || (c == end && !isFirst)) break; // a value may begin with a comma
         ++at_;
         result.text += c == '\\' ? next() : c;
      }
      return result;
   }
   Word quoted() {
      Word result{{}, true};
      ++at_;
      for (char c = next(); c != '"'; c = next())
         result.text += c == '\\' ? next() : c;
      return result;
   }

   const std::string_view text_;
   size_t at_ = 0;
};

void appendQuoted(std::string& out, std::string_view text) {
   out += '"';
   for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
   }
   out += '"';
}

void append(std::string& out, const void* value) {
   const auto bytes = valueAt<StringView>(value);
   const HstoreView map(bytes.view());
   for (uint32_t i = 0; i < map.size(); ++i) {
      if (i > 0) out += ", ";
      appendQuoted(out, map.key(i));
      out += "=>";
      if (const auto text = map.value(i))
         appendQuoted(out, *text);
      else
         out += "NULL";
   }
}

void parse(void* target, std::string_view text, int32_t, Arena& arena) {
   putValue(target, arena.copyString(Parser(text).run()));
}

// ---- binary form: the number of pairs; per pair key and value as int32 size and bytes, a negative size for NULL ----

void send(std::string& out, const void* value) {
   const auto bytes = valueAt<StringView>(value);
   const HstoreView map(bytes.view());
   appendBig(out, map.size());
   for (uint32_t i = 0; i < map.size(); ++i) {
      appendBig(out, static_cast<uint32_t>(map.key(i).size()));
      out += map.key(i);
      const auto text = map.value(i);
      appendBig(out, text ? static_cast<uint32_t>(text->size()) : ~uint32_t{0});
      out += text.value_or("");
   }
}

std::string_view receiveText(WireReader& reader, int32_t size) {
   const std::string_view text = reader.takeBytes(static_cast<size_t>(size));
   checkUtf8(text);
   return text;
}

void receive(void* target, std::string_view bytes, int32_t, Arena& arena) {
   WireReader reader(bytes);
   const auto count = static_cast<int32_t>(reader.take<uint32_t>());
   requireHstoreSize(count);
   std::vector<HstorePair> pairs;
   for (int32_t i = 0; i < count; ++i) {
      const auto keySize = static_cast<int32_t>(reader.take<uint32_t>());
      if (keySize < 0) throw SqlError(sqlstate::nullValueNotAllowed, "null value not allowed for hstore key");
      const std::string_view key = receiveText(reader, keySize);
      const auto valueSize = static_cast<int32_t>(reader.take<uint32_t>());
      pairs.push_back({key, {}});
      if (valueSize >= 0) pairs.back().value = receiveText(reader, valueSize);
   }
   reader.finish();
   putValue(target, arena.copyString(makeHstore(std::move(pairs))));
}

} // namespace

const TypeForm hstoreForm{oid::hstore, -1, 4, append, parse, send, receive};

} // namespace ouzel
