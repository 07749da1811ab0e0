#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/json/json_lexer.hpp"
#include "io/format/csv/row_splitter.hpp"
#include "io/format/json/json_options.hpp"

namespace ouzel::io {

/// The type that fits all values seen of one member.
///
///    booleans                      boolean
///    integers within 64 bits       bigint
///    other numbers                 numeric
///    ISO dates and timestamps      date; timestamp, timestamptz
///    other strings                 text
///    objects, arrays, any mixture, nothing but null    jsonb
class JsonTypeGuess {
public:
   /// A scalar, or the first token of an object or array.
   void see(json::Token token, std::string_view lexeme);
   SqlType type() const;

private:
   void seeString(std::string_view lexeme);

   bool hasBoolean_ = false, hasNumber_ = false, hasString_ = false, hasContainer_ = false;
   bool areIntegers_ = true, areDates_ = true, areTimestamps_ = true, areZoned_ = true;
};

/// Columns of JSON files, as given by the request or derived from a sample.
struct JsonShape {
   std::vector<std::string> keys; ///< of members, by column
   std::vector<ExternalColumn> columns;
   bool isDocument = false; ///< the only column is a row's whole value
   double bytesPerRow = 1;
};

/// Looks at the first rows of JSON files. Columns are the keys of all objects seen, in the order in which they first
/// appear. Rows that are no objects, or objects with more keys than a table has columns, are one column "json".
class JsonSniffer {
public:
   JsonSniffer(const JsonOptions& options, const ExternalRequest& request);

   /// Enough was seen.
   bool isFull() const { return rows_ >= rowsMax_ || bytes_ >= bytesMax; }
   /// Looks at the rows of a chunk. Throws 22P02 for what is no JSON, 22021; the context begins with `subject`.
   void see(const CopyChunk& chunk, const std::string& subject);
   /// Throws 22P04 if there was no row and the request does not name the columns, 22023 for a request that cannot be.
   JsonShape shape(const std::string& file) const;

private:
   static constexpr uint64_t bytesMax = 4 << 20;

   void seeRow(std::string_view row);
   void checkRequest() const;
   bool isDocument() const;
   void addDocument(JsonShape& shape) const;

   const JsonOptions& options_;
   const ExternalRequest& request_;
   const uint64_t rowsMax_;
   uint64_t rows_ = 0, bytes_ = 0;
   bool hasOthers_ = false; ///< rows that are no objects
   std::vector<std::string> keys_;
   std::vector<JsonTypeGuess> guesses_; ///< by key
   std::unordered_map<std::string, size_t> placeOfKey_;
};

} // namespace ouzel::io
