#include "io/format/csv/csv_sniffer.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>

#include "common/error/sql_error.hpp"
#include "io/format/text_guess.hpp"

namespace ouzel::io {

namespace {

constexpr char delimiters[] = {',', '|', ';', '\t'};
constexpr size_t delimiterRowsMax = 200; ///< looked at to choose the delimiter

bool isBoolean(std::string_view text) {
   std::string lower(text);
   std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
   return lower == "true" || lower == "false";
}

bool isInteger(std::string_view text) {
   if (text.starts_with('+')) text.remove_prefix(1);
   int64_t value;
   const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
   return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

bool isReal(std::string_view text) {
   const bool looksLikeOne = !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
      return std::isdigit(c) || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E';
   });
   return (looksLikeOne && parsesAs(oid::float8, text)) || text == "NaN" || text == "Infinity" || text == "-Infinity";
}

/// The types that accept all texts seen so far.
class TypeGuess {
public:
   void see(const CsvField& field) {
      if (field.isNull) return;
      isEmpty_ = false;
      std::erase_if(candidates_, [&](Oid type) { return !fits(type, field.text); });
   }
   bool isEmpty() const { return isEmpty_; }
   SqlType type() const {
      if (isEmpty_ || candidates_.empty()) return {oid::text, -1, defaultCollation};
      return {candidates_.front(), -1, invalidOid};
   }
   bool allows(const CsvField& field) const {
      return field.isNull || type().oid == oid::text || fits(type().oid, field.text);
   }

private:
   static bool fits(Oid type, std::string_view text) {
      switch (type) {
      case oid::boolean: return isBoolean(text);
      case oid::int8: return isInteger(text);
      case oid::float8: return isReal(text);
      case oid::date: return looksLikeDate(text);
      case oid::timestamp: return looksLikeTimestamp(text, false) || looksLikeDate(text);
      default: return looksLikeTimestamp(text, true);
      }
   }
   std::vector<Oid> candidates_{oid::boolean, oid::int8, oid::float8, oid::date, oid::timestamp, oid::timestamptz};
   bool isEmpty_ = true;
};

std::vector<CsvRow> readRows(std::string_view sample, bool isWhole, const RowFormat& format, size_t rowsMax) {
   std::vector<CsvRow> rows;
   while (!sample.empty() && rows.size() < rowsMax) {
      CsvRow row;
      const size_t size = splitCsvRow(sample, format, row);
      if (size == sample.size() && !isWhole && !rows.empty()) break; // the sample may end inside this row
      rows.push_back(std::move(row));
      sample.remove_prefix(size);
   }
   return rows;
}

/// The delimiter that splits all sampled rows into the same number of fields, the most fields if several do.
char chooseDelimiter(std::string_view sample, bool isWhole, RowFormat format) {
   char best = ',';
   size_t bestCount = 1;
   for (const char delimiter : delimiters) {
      format.delimiter = delimiter;
      const std::vector<CsvRow> rows = readRows(sample, isWhole, format, delimiterRowsMax);
      if (rows.empty()) continue;
      const size_t count = rows[0].size();
      if (count > bestCount &&
          std::all_of(rows.begin(), rows.end(), [&](const CsvRow& r) { return r.size() == count; })) {
         best = delimiter;
         bestCount = count;
      }
   }
   return best;
}

/// Column names from a header: an empty name becomes a numbered one, a repeated name gets a number appended.
std::vector<std::string> usableNames(const CsvRow& header) {
   std::vector<std::string> names;
   std::set<std::string> taken;
   for (size_t i = 0; i < header.size(); ++i) {
      const std::string base =
          header[i].isNull || header[i].text.empty() ? "column" + std::to_string(i) : header[i].text;
      std::string name = base;
      for (int number = 1; !taken.insert(name).second; ++number)
         name = base + "_" + std::to_string(number);
      names.push_back(std::move(name));
   }
   return names;
}

} // namespace

size_t splitCsvRow(std::string_view text, const RowFormat& format, CsvRow& row) {
   row.clear();
   CsvField field;
   bool isQuoted = false, inside = false;
   const auto store = [&] {
      field.isNull = !isQuoted && field.text == format.null;
      row.push_back(std::move(field));
      field = {};
      isQuoted = false;
   };
   for (size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (inside && c == format.escape && i + 1 < text.size() &&
          (text[i + 1] == format.quote || text[i + 1] == format.escape)) {
         field.text += text[++i];
      } else if (c == format.quote) {
         inside = !inside;
         isQuoted = true;
      } else if (inside) {
         field.text += c;
      } else if (c == format.delimiter) {
         store();
      } else if (c == '\n') {
         if (!isQuoted && field.text.ends_with('\r')) field.text.pop_back();
         store();
         return i + 1;
      } else if (c != '\r' || i + 1 >= text.size() || text[i + 1] != '\n') {
         field.text += c;
      }
   }
   store();
   return text.size();
}

CsvShape sniffCsv(std::string_view sample, bool isWhole, const CsvOptions& options, const ExternalRequest& request,
                  const std::string& file) {
   CsvShape shape;
   shape.rows = options.rows;
   if (!options.hasDelimiter) shape.rows.delimiter = chooseDelimiter(sample, isWhole, options.rows);
   const std::vector<CsvRow> rows = readRows(sample, isWhole, shape.rows, size_t{options.sampleRows} + 1);
   const size_t given = std::max(request.names.size(), request.types.size());
   if (!request.names.empty() && !request.types.empty() && request.names.size() != request.types.size())
      throw SqlError(sqlstate::invalidParameterValue, "read_csv was given " + std::to_string(request.names.size()) +
                                                          " names and " + std::to_string(request.types.size()) +
                                                          " types");
   if (rows.empty() && given == 0)
      throw SqlError(sqlstate::badCopyFileFormat, "file \"" + file + "\" is empty: its columns are not known")
          .hint("Name them: read_csv(...) AS t(a integer, b text).");
   const size_t columns = rows.empty() ? given : rows[0].size();
   if (given != 0 && given != columns)
      throw SqlError(sqlstate::badCopyFileFormat, "file \"" + file + "\" has " + std::to_string(columns) +
                                                      " columns, but " + std::to_string(given) + " were named");
   std::vector<TypeGuess> guesses(columns);
   for (size_t i = 1; i < rows.size(); ++i)
      for (size_t c = 0; c < std::min(columns, rows[i].size()); ++c)
         guesses[c].see(rows[i][c]);
   if (!options.hasHeader && !rows.empty()) {
      bool allText = true, contradicts = false;
      for (size_t c = 0; c < columns; ++c) {
         const SqlType type = request.types.empty() ? guesses[c].type() : request.types[c];
         if (rows.size() > 1 && guesses[c].isEmpty() && request.types.empty()) continue;
         allText = allText && type.oid == oid::text;
         contradicts =
             contradicts || (type.oid != oid::text && !rows[0][c].isNull && !parsesAs(type.oid, rows[0][c].text));
         if (request.types.empty()) contradicts = contradicts || !guesses[c].allows(rows[0][c]);
      }
      // A file with one row only: the row is a header if all its fields are plain text.
      if (rows.size() == 1 && request.types.empty()) {
         std::vector<TypeGuess> first(columns);
         for (size_t c = 0; c < columns; ++c) {
            first[c].see(rows[0][c]);
            allText = allText && first[c].type().oid == oid::text;
         }
      }
      shape.rows.header = contradicts || (allText && request.names.empty());
   }
   if (!shape.rows.header && !rows.empty())
      for (size_t c = 0; c < columns; ++c)
         guesses[c].see(rows[0][c]);
   if (shape.rows.header && !rows.empty())
      for (const CsvField& field : rows[0])
         shape.header.push_back(field.text);
   std::vector<std::string> names = request.names;
   if (names.empty() && shape.rows.header && !rows.empty()) names = usableNames(rows[0]);
   for (size_t c = 0; c < columns; ++c) {
      const SqlType type = !request.types.empty() ? request.types[c]
                           : options.allText      ? SqlType{oid::text, -1, defaultCollation}
                                                  : guesses[c].type();
      shape.columns.push_back({names.empty() ? "column" + std::to_string(c) : names[c], type});
   }
   shape.bytesPerRow =
       rows.empty() ? 1 : std::max(1.0, static_cast<double>(sample.size()) / static_cast<double>(rows.size()));
   return shape;
}

} // namespace ouzel::io
