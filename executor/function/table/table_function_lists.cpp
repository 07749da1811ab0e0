#include <functional>
#include <unordered_map>

#include "catalog/builtin/builtin.hpp"
#include "common/error/sql_error.hpp"
#include "common/type/array.hpp"
#include "executor/function/table/table_function_rows.hpp"
#include "executor/function/text/regex_matches.hpp"
#include "executor/function/text/text_search.hpp"
#include "executor/function/text/utf8_text.hpp"

// Set-returning functions with few rows, which are computed at once: unnest, regexp_matches, string_to_table, ...

namespace ouzel::executor {

namespace {

struct ListCall {
   const TableFunctionSignature& signature;
   std::span<const Vector> args;
   uint32_t row;
   FunctionContext& context;
   RowList& rows;

   bool isNull(size_t i) const { return args[i].isNull(row); }
   std::string_view text(size_t i) const { return args[i].value<StringView>(row).view(); }
};
using Lister = void (*)(const ListCall&);
Value textValue(std::string_view text) {
   return Value::string(std::string(text));
}

void unnest(const ListCall& call) {
   ArrayValue array = readArray(call.text(0));
   const PhysicalType wanted = call.signature.resultReprs[0].physical;
   for (Value& element : array.elements) {
      element.type = wanted; // integers of all widths use the same member of Value
      call.rows.add(std::move(element));
   }
}

void generateSubscripts(const ListCall& call) {
   const ArrayValue array = readArray(call.text(0));
   const int32_t dimension = call.args[1].value<int32_t>(call.row);
   const bool isReversed = call.args.size() == 3 && call.args[2].value<uint8_t>(call.row) != 0;
   if (dimension < 1 || static_cast<size_t>(dimension) > array.dimensions.size()) return;
   const ArrayDimension& d = array.dimensions[static_cast<size_t>(dimension - 1)];
   for (int32_t i = 0; i < d.length; ++i)
      call.rows.add(Value::integer(PhysicalType::I32, isReversed ? d.lower + d.length - 1 - i : d.lower + i));
}

RegexFlags flagsOf(const ListCall& call, bool* isGlobal) {
   return call.args.size() == 3 ? parseRegexFlags(call.text(2), isGlobal) : RegexFlags{};
}

void regexpMatches(const ListCall& call) {
   bool isGlobal = false;
   const RegexFlags flags = flagsOf(call, &isGlobal);
   const Regex& regex = Regex::find(call.text(1), flags);
   RegexMatches matches(regex, call.text(0));
   std::vector<RegexSpan> spans;
   while (matches.next(spans, true)) {
      call.rows.add(Value::string(captureArray(regex, call.text(0), spans)));
      if (!isGlobal) return;
   }
}

void regexpSplit(const ListCall& call) {
   bool isGlobal = false;
   const RegexFlags flags = flagsOf(call, &isGlobal);
   if (isGlobal)
      throw SqlError(sqlstate::invalidParameterValue, "regexp_split_to_table() does not support the \"global\" option");
   for (const std::string_view piece : splitByRegex(Regex::find(call.text(1), flags), call.text(0)))
      call.rows.add(textValue(piece));
}

void stringToTable(const ListCall& call) {
   if (call.isNull(0)) return;
   std::string_view text = call.text(0);
   const bool hasNullText = call.args.size() == 3 && !call.isNull(2);
   const auto add = [&](std::string_view field) {
      call.rows.add(hasNullText && field == call.text(2) ? Value::null(PhysicalType::String) : textValue(field));
   };
   if (call.isNull(1)) {
      for (; !text.empty(); text.remove_prefix(characterBytes(text[0])))
         add(text.substr(0, characterBytes(text[0])));
      return;
   }
   if (text.empty()) return;
   const std::string_view separator = call.text(1);
   size_t found;
   while (!separator.empty() && (found = findBytes(text, separator)) != std::string_view::npos) {
      add(text.substr(0, found));
      text.remove_prefix(found + separator.size());
   }
   add(text);
}

void keywords(const ListCall& call) {
   struct Keyword {
      const char* word;
      char category;
      bool isBareLabel;
   };
   static constexpr Keyword all[] = {
#define KEYWORD(word, category, bare) {word, category, bare},
#include "executor/function/system/keywords.def"
#undef KEYWORD
   };
   for (const Keyword& keyword : all) {
      call.rows.add(textValue(keyword.word));
      call.rows.add(textValue({&keyword.category, 1}));
      call.rows.add(Value::boolean(keyword.isBareLabel));
      call.rows.add(textValue(keyword.category == 'U'   ? "unreserved"
                              : keyword.category == 'C' ? "unreserved (cannot be function or type name)"
                              : keyword.category == 'T' ? "reserved (can be function or type name)"
                                                        : "reserved"));
      call.rows.add(textValue(keyword.isBareLabel ? "can be bare label" : "requires AS"));
   }
}

void optionsToTable(const ListCall& call) {
   for (const Value& option : readArray(call.text(0)).elements) {
      if (option.isNull) continue;
      const size_t equals = option.bytes.find('=');
      call.rows.add(textValue(std::string_view(option.bytes).substr(0, equals)));
      call.rows.add(equals == std::string::npos ? Value::null(PhysicalType::String)
                                                : textValue(std::string_view(option.bytes).substr(equals + 1)));
   }
}

/// For functions that list objects which this server never has.
void nothing(const ListCall&) {}

struct ListerEntry {
   Lister lister;
   bool strict = true;
};
const ListerEntry* findLister(std::string_view source) {
   static const std::unordered_map<std::string_view, ListerEntry> listers{
       {"array_unnest", {unnest}},
       {"generate_subscripts", {generateSubscripts}},
       {"generate_subscripts_nodir", {generateSubscripts}},
       {"regexp_matches", {regexpMatches}},
       {"regexp_matches_no_flags", {regexpMatches}},
       {"regexp_split_to_table", {regexpSplit}},
       {"regexp_split_to_table_no_flags", {regexpSplit}},
       {"text_to_table", {stringToTable, false}},
       {"text_to_table_null", {stringToTable, false}},
       {"pg_get_keywords", {keywords}},
       {"pg_options_to_table", {optionsToTable}},
       {"pg_available_extensions", {nothing}},
       {"pg_available_extension_versions", {nothing}},
       {"pg_cursor", {nothing}},
       {"pg_get_publication_tables", {nothing}},
       {"pg_get_replication_slots", {nothing}},
       {"pg_hba_file_rules", {nothing}},
       {"pg_ident_file_mappings", {nothing}},
       {"pg_listening_channels", {nothing}},
       {"pg_partition_ancestors", {nothing}},
       {"pg_partition_tree", {nothing}},
       {"pg_prepared_xact", {nothing}},
       {"pg_tablespace_databases", {nothing}},
       {"show_all_file_settings", {nothing}},
   };
   const auto it = listers.find(source);
   return it == listers.end() ? nullptr : &it->second;
}

class ListFunction : public TableFunction {
public:
   ListFunction(TableFunctionSignature signature, FunctionContext& context, const ListerEntry& entry)
      : signature_(std::move(signature)), context_(context), entry_(entry), rows_(signature_.resultReprs) {}

   void begin(std::span<const Vector> args, uint32_t row) override {
      rows_.clear();
      if (entry_.strict)
         for (const Vector& arg : args)
            if (arg.isNull(row)) return;
      entry_.lister({signature_, args, row, context_, rows_});
   }
   uint32_t next(uint32_t rowsMax, std::span<Vector> columns) override { return rows_.emit(rowsMax, columns); }

private:
   TableFunctionSignature signature_;
   FunctionContext& context_;
   ListerEntry entry_;
   RowList rows_;
};

} // namespace

std::unique_ptr<TableFunction> makeRowLister(TableFunctionSignature& signature, FunctionContext& context) {
   const ListerEntry* entry = findLister(signature.function->source);
   if (!entry) return nullptr;
   return std::make_unique<ListFunction>(std::move(signature), context, *entry);
}

} // namespace ouzel::executor
