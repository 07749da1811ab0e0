#include "io/format/json/json_sniffer.hpp"

#include <charconv>
#include <set>

#include "common/error/sql_error.hpp"
#include "common/json/json_input.hpp"
#include "common/text/utf8.hpp"
#include "common/type/text_codec.hpp"
#include "io/format/json/json_members.hpp"
#include "io/format/text_guess.hpp"

namespace ouzel::io {

namespace {

constexpr size_t columnsMax = 1'600; ///< of a table, as in PostgreSQL
/// Rows that tell how long a row is, where columns need not be guessed.
constexpr uint64_t sizeSampleRows = 64;

using json::Token;

bool isInteger(std::string_view text) {
   int64_t value;
   const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
   return error == std::errc() && end == text.data() + text.size();
}

SqlType plainType(Oid type) {
   return {type, -1, type == oid::text ? defaultCollation : invalidOid};
}

/// Names by which SQL can refer to the columns: of at most 63 bytes, not empty, and all different.
std::vector<std::string> usableNames(const std::vector<std::string>& keys) {
   std::vector<std::string> names;
   std::set<std::string> taken(keys.begin(), keys.end());
   for (size_t i = 0; i < keys.size(); ++i) {
      const std::string base(keys[i].empty() ? "column" + std::to_string(i) : truncateName(keys[i]));
      std::string name = base;
      for (int number = 1; name != keys[i] && !taken.insert(name).second; ++number)
         name = base + "_" + std::to_string(number);
      names.push_back(std::move(name));
   }
   return names;
}

} // namespace

void JsonTypeGuess::see(Token token, std::string_view lexeme) {
   switch (token) {
   case Token::Null: return;
   case Token::True:
   case Token::False: hasBoolean_ = true; return;
   case Token::Number:
      hasNumber_ = true;
      areIntegers_ = areIntegers_ && isInteger(lexeme);
      return;
   case Token::String: return seeString(lexeme);
   default: hasContainer_ = true;
   }
}

void JsonTypeGuess::seeString(std::string_view lexeme) {
   hasString_ = true;
   const std::string_view text = lexeme.substr(1, lexeme.size() - 2);
   const bool isDate = (areDates_ || areTimestamps_) && looksLikeDate(text); // good for a timestamp without zone too
   areDates_ = areDates_ && isDate;
   areTimestamps_ = areTimestamps_ && (isDate || looksLikeTimestamp(text, false));
   areZoned_ = areZoned_ && looksLikeTimestamp(text, true);
}

SqlType JsonTypeGuess::type() const {
   if (int{hasBoolean_} + int{hasNumber_} + int{hasString_} + int{hasContainer_} != 1 || hasContainer_)
      return plainType(oid::jsonb);
   if (hasBoolean_) return plainType(oid::boolean);
   // Numbers with a fraction are numeric, which keeps every digit of the text and sums without rounding. A query that
   // would rather be fast asks for double precision by name.
   if (hasNumber_) return plainType(areIntegers_ ? oid::int8 : oid::numeric);
   return plainType(areDates_ ? oid::date : areTimestamps_ ? oid::timestamp : areZoned_ ? oid::timestamptz : oid::text);
}

JsonSniffer::JsonSniffer(const JsonOptions& options, const ExternalRequest& request)
   : options_(options), request_(request), rowsMax_(request.types.empty() ? options.sampleRows : sizeSampleRows) {
   checkRequest();
}

void JsonSniffer::checkRequest() const {
   const auto refuse = [](const std::string& message) { throw SqlError(sqlstate::invalidParameterValue, message); };
   if (!request_.types.empty() && request_.names.size() != request_.types.size())
      refuse("read_json was given " + std::to_string(request_.names.size()) + " names and " +
             std::to_string(request_.types.size()) + " types");
   std::set<std::string> names;
   for (const std::string& name : request_.names)
      if (!names.insert(name).second) refuse("column \"" + name + "\" was named twice");
   if (options_.records == false && request_.names.size() > 1)
      refuse("read_json has one column where records is false, but " + std::to_string(request_.names.size()) +
             " were named");
}

void JsonSniffer::see(const CopyChunk& chunk, const std::string& subject) {
   JsonLines lines(chunk);
   try {
      for (std::string_view row; rows_ < rowsMax_ && lines.next(row);) {
         ++rows_;
         bytes_ += row.size() + 1;
         checkUtf8(row);
         seeRow(row);
      }
   } catch (SqlError& error) {
      const std::string inner = error.contextText().empty() ? std::string() : error.contextText() + '\n';
      error.setContext(inner + subject + ", " + rowName(chunk.countsElements, lines.line()));
      throw;
   }
}

void JsonSniffer::seeRow(std::string_view row) {
   if (options_.records == false || !request_.types.empty()) return; // what is needed is known
   if (row[row.find_first_not_of(" \t\r")] != '{') {
      json::checkJson(row);
      hasOthers_ = true;
      return;
   }
   std::string decoded;
   forEachMember(row, [&](std::string_view key, uint32_t, json::Lexer& lexer) {
      const auto [place, isNew] = placeOfKey_.try_emplace(std::string(textOfString(key, decoded)), keys_.size());
      if (isNew) {
         keys_.push_back(place->first);
         guesses_.emplace_back();
      }
      lexer.next();
      guesses_[place->second].see(lexer.token(), lexer.lexeme());
      json::skipValue(lexer);
   });
}

bool JsonSniffer::isDocument() const {
   if (options_.records) return !*options_.records;
   return request_.names.empty() && (keys_.empty() || hasOthers_ || keys_.size() > columnsMax);
}

void JsonSniffer::addDocument(JsonShape& shape) const {
   shape.isDocument = true;
   shape.keys = {request_.names.empty() ? "json" : request_.names[0]};
   shape.columns.push_back({shape.keys[0], request_.types.empty() ? plainType(oid::jsonb) : request_.types[0]});
}

JsonShape JsonSniffer::shape(const std::string& file) const {
   JsonShape shape;
   if (rows_ > 0) shape.bytesPerRow = static_cast<double>(bytes_) / static_cast<double>(rows_);
   if (rows_ == 0 && request_.names.empty() && !options_.records)
      throw SqlError(sqlstate::badCopyFileFormat, "file \"" + file + "\" has no rows: its columns are not known")
          .hint("Name them: read_json(...) AS t(a integer, b text).");
   if (isDocument()) {
      addDocument(shape);
      return shape;
   }
   shape.keys = request_.names.empty() ? keys_ : request_.names;
   const std::vector<std::string> names = request_.names.empty() ? usableNames(keys_) : request_.names;
   for (size_t i = 0; i < names.size(); ++i) {
      const auto seen = placeOfKey_.find(shape.keys[i]);
      const SqlType type = !request_.types.empty()     ? request_.types[i]
                           : seen == placeOfKey_.end() ? plainType(oid::jsonb)
                                                       : guesses_[seen->second].type();
      shape.columns.push_back({names[i], type});
   }
   return shape;
}

} // namespace ouzel::io
