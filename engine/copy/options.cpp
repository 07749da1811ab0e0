#include "engine/copy/options.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "common/error/sql_error.hpp"
#include "common/text/encoding_converter.hpp"
#include "engine/setting/setting_table.hpp"
#include "sql/parse/node_access.hpp"
#include "sql/parse/parser.hpp"

namespace ouzel::engine {

using sql::as;
using sql::isNode;
using sql::ListOf;

namespace {

std::string textArg(const ::DefElem& option) {
   if (option.arg && isNode(option.arg, T_String)) return as<::String>(option.arg)->sval;
   if (option.arg && isNode(option.arg, T_Integer)) return std::to_string(as<::Integer>(option.arg)->ival);
   if (option.arg && isNode(option.arg, T_Boolean)) return as<::Boolean>(option.arg)->boolval ? "true" : "false";
   throw SqlError(sqlstate::syntaxError, std::string(option.defname) + " requires a parameter");
}

bool boolArg(const ::DefElem& option, const char* orElse = "") {
   if (!option.arg) return true;
   try {
      return canonicalSetting(*findSetting("enable_hashjoin"), textArg(option)) == "on";
   } catch (const SqlError&) {
      throw SqlError(sqlstate::syntaxError, std::string(option.defname) + " requires a Boolean value" + orElse);
   }
}

char oneByte(const ::DefElem& option, const char* what) {
   const std::string text = textArg(option);
   if (text.size() != 1)
      throw SqlError(sqlstate::featureNotSupported,
                     std::string("COPY ") + what + " must be a single one-byte character");
   return text[0];
}

std::vector<std::string> nameList(const ::DefElem& option, uint32_t position) {
   std::vector<std::string> names;
   if (!option.arg || !isNode(option.arg, T_List))
      throw SqlError(sqlstate::invalidParameterValue,
                     "argument to option \"" + std::string(option.defname) + "\" must be a list of column names")
          .at(position);
   for (const ::Node* name : ListOf<>(as<::List>(option.arg)))
      names.emplace_back(sql::stringOf(name));
   return names;
}

void require(bool condition, SqlState state, const char* message) {
   if (!condition) throw SqlError(state, message);
}

void refuseIn(const char* mode, bool isGiven, SqlState state, const char* option) {
   if (isGiven) throw SqlError(state, std::string("cannot specify ") + option + " in " + mode + " mode");
}

void checkCombination(const CopyOptions& options, bool isFrom, bool sawDelimiter, bool sawNull, bool sawQuote,
                      bool sawEscape) {
   const bool csv = options.format == CopyFormat::Csv, binary = options.format == CopyFormat::Binary;
   const bool json = options.format == CopyFormat::Json;
   require(json || !options.forceArray, sqlstate::featureNotSupported, "COPY force array available only in JSON mode");
   if (options.format == CopyFormat::Parquet) {
      require(!sawDelimiter && !sawNull && !options.header && !sawQuote && !sawEscape, sqlstate::syntaxError,
              "options of text cannot be specified in PARQUET mode");
      return;
   }
   if (binary || json) {
      const char* mode = binary ? "BINARY" : "JSON";
      refuseIn(mode, sawDelimiter, sqlstate::syntaxError, "DELIMITER");
      refuseIn(mode, sawNull, sqlstate::syntaxError, "NULL");
      refuseIn(mode, options.header, sqlstate::featureNotSupported, "HEADER");
   }
   require(!isFrom || !options.forceArray, sqlstate::featureNotSupported,
           "COPY force array only available using COPY TO");
   require(csv || !sawQuote, sqlstate::featureNotSupported, "COPY quote available only in CSV mode");
   require(csv || !sawEscape, sqlstate::featureNotSupported, "COPY escape available only in CSV mode");
   require(csv || (options.forceQuote.empty() && !options.forceQuoteAll), sqlstate::featureNotSupported,
           "COPY force quote available only in CSV mode");
   require(csv || options.forceNotNull.empty(), sqlstate::featureNotSupported,
           "COPY force not null available only in CSV mode");
   require(csv || options.forceNull.empty(), sqlstate::featureNotSupported,
           "COPY force null available only in CSV mode");
   require(!isFrom || (options.forceQuote.empty() && !options.forceQuoteAll), sqlstate::featureNotSupported,
           "COPY force quote only available using COPY TO");
   require(isFrom || options.forceNotNull.empty(), sqlstate::featureNotSupported,
           "COPY force not null only available using COPY FROM");
   require(isFrom || options.forceNull.empty(), sqlstate::featureNotSupported,
           "COPY force null only available using COPY FROM");
   require(options.delimiter != '\n' && options.delimiter != '\r', sqlstate::invalidParameterValue,
           "COPY delimiter cannot be newline or carriage return");
   require(options.null.find_first_of("\r\n") == std::string::npos, sqlstate::invalidParameterValue,
           "COPY null representation cannot use newline or carriage return");
   if (!csv && !binary &&
       std::string_view("\\.abcdefghijklmnopqrstuvwxyz0123456789").find(options.delimiter) != std::string_view::npos)
      throw SqlError(sqlstate::invalidParameterValue,
                     std::string("COPY delimiter cannot be \"") + options.delimiter + "\"");
   require(binary || options.null.find(options.delimiter) == std::string::npos, sqlstate::invalidParameterValue,
           "COPY delimiter must not appear in the NULL specification");
   require(!csv || options.delimiter != options.quote, sqlstate::invalidParameterValue,
           "COPY delimiter and quote must be different");
   require(!csv || options.null.find(options.quote) == std::string::npos, sqlstate::invalidParameterValue,
           "CSV quote character must not appear in the NULL specification");
}

} // namespace

CopyOptions parseCopyOptions(const ::List* list, bool isFrom, const sql::SourceText& source) {
   CopyOptions options;
   std::set<std::string_view> given;
   bool sawDelimiter = false, sawNull = false, sawQuote = false, sawEscape = false, sawParquet = false;
   for (const ::DefElem* option : ListOf<::DefElem>(list)) {
      const std::string_view name = option->defname;
      const uint32_t position = source.position(option->location);
      if (!given.insert(name).second)
         throw SqlError(sqlstate::syntaxError, "conflicting or redundant options").at(position);
      if (name == "format") {
         const std::string format = textArg(*option);
         if (format == "csv")
            options.format = CopyFormat::Csv;
         else if (format == "binary")
            options.format = CopyFormat::Binary;
         else if (format == "parquet")
            options.format = CopyFormat::Parquet;
         else if (format == "json")
            options.format = CopyFormat::Json;
         else if (format != "text")
            throw SqlError(sqlstate::invalidParameterValue, "COPY format \"" + format + "\" not recognized")
                .at(position);
      } else if (name == "delimiter") {
         options.delimiter = oneByte(*option, "delimiter");
         sawDelimiter = true;
      } else if (name == "null") {
         options.null = textArg(*option);
         sawNull = true;
      } else if (name == "header") {
         if (option->arg && isNode(option->arg, T_String) && sql::stringOf(option->arg) == "match") {
            require(isFrom, sqlstate::syntaxError, "cannot use \"match\" with HEADER in COPY TO");
            options.header = options.headerMatch = true;
         } else {
            options.header = boolArg(*option, " or \"match\"");
         }
      } else if (name == "quote") {
         options.quote = oneByte(*option, "quote");
         sawQuote = true;
      } else if (name == "escape") {
         options.escape = oneByte(*option, "escape");
         sawEscape = true;
      } else if (name == "force_quote") {
         if (option->arg && isNode(option->arg, T_A_Star))
            options.forceQuoteAll = true;
         else
            options.forceQuote = nameList(*option, position);
      } else if (name == "force_not_null") {
         options.forceNotNull = nameList(*option, position);
      } else if (name == "force_null") {
         options.forceNull = nameList(*option, position);
      } else if (name == "force_array") {
         options.forceArray = boolArg(*option);
      } else if (name == "compression") {
         options.parquet.compression = textArg(*option);
         sawParquet = true;
      } else if (name == "row_group_size") {
         const std::string text = textArg(*option);
         const auto [end, error] =
             std::from_chars(text.data(), text.data() + text.size(), options.parquet.rowGroupRows);
         require(error == std::errc() && end == text.data() + text.size() && options.parquet.rowGroupRows > 0,
                 sqlstate::invalidParameterValue, "row_group_size must be a positive number of rows");
         sawParquet = true;
      } else if (name == "freeze") {
         boolArg(*option);
      } else if (name == "encoding") {
         options.encoding = encodingNamed(textArg(*option));
         if (!options.encoding)
            throw SqlError(sqlstate::invalidParameterValue,
                           "argument to option \"encoding\" must be a valid encoding name")
                .at(position);
         if (*options.encoding != CharacterEncoding::SqlAscii && !canConvert(*options.encoding))
            throwNotSupported("COPY in the encoding " + std::string(encodingName(*options.encoding)));
      } else {
         throw SqlError(sqlstate::syntaxError, "option \"" + std::string(name) + "\" not recognized").at(position);
      }
   }
   if (options.format == CopyFormat::Csv) {
      if (!sawDelimiter) options.delimiter = ',';
      if (!sawNull) options.null.clear();
      if (sawQuote && !sawEscape) options.escape = options.quote;
   }
   require(!sawParquet || (options.format == CopyFormat::Parquet && !isFrom), sqlstate::syntaxError,
           "compression and row_group_size are for COPY TO in PARQUET mode only");
   checkCombination(options, isFrom, sawDelimiter, sawNull, sawQuote, sawEscape);
   return options;
}

} // namespace ouzel::engine
