#include <algorithm>
#include <map>
#include <optional>

#include "catalog/builtin/builtin.hpp"
#include "common/base_type/ts_vector.hpp"
#include "common/error/sql_error.hpp"
#include "common/type/array.hpp"
#include "common/type/row.hpp"
#include "executor/function/name_scope.hpp"
#include "executor/function/table/table_function_rows.hpp"
#include "executor/function/text_search/ts_analyzer.hpp"

// Set-returning functions of full text search.

namespace ouzel::executor {

namespace {

/// unnest(tsvector)
class WordRows {
public:
   explicit WordRows(const RowCall& call) : vector_(call.text(0)) {}
   bool next(RowWriter& out) {
      if (next_ == vector_.size()) return false;
      const TsVectorView::Word word = vector_.word(next_++);
      out.addText(word.text());
      if (word.placeCount() == 0) {
         out.addNull();
         out.addNull();
         return true;
      }
      std::vector<Value> positions, weights;
      for (uint32_t i = 0; i < word.placeCount(); ++i) {
         const TsPlace place = word.place(i);
         positions.push_back(Value::integer(PhysicalType::I16, place.position));
         weights.push_back(Value::string(std::string(1, static_cast<char>('D' - place.weight))));
      }
      for (const std::string& array : {makeArray(oid::int2, positions), makeArray(oid::text, weights)}) {
         const StringView bytes = out.strings().copyString(array);
         out.add(PhysicalType::String, &bytes);
      }
      return true;
   }

private:
   const TsVectorView vector_;
   uint32_t next_ = 0;
};

// ---- parsers ----

constexpr Oid defaultNextToken = 3718;

/// Throws 0A000 for a parser that is not the default one under some name.
void requireDefault(const catalog::TextSearchPtr& parser) {
   if (parser->functions.size() < 2 || parser->functions[1] != defaultNextToken)
      throwNotSupported("text search parsers in C");
}
void requireParser(const FunctionContext& context, const RowCall& call) {
   const NameScope scope(context);
   constexpr auto kind = catalog::ObjectKind::TextSearchParser;
   if (call.args[0].type == PhysicalType::I64) {
      const auto oid = static_cast<Oid>(call.value<int64_t>(0));
      const catalog::TextSearchPtr found = catalog::textSearchObject(scope.snapshot(), kind, oid);
      if (!found)
         throw SqlError(sqlstate::internalError, "cache lookup failed for text search parser " + std::to_string(oid));
      return requireDefault(found);
   }
   const catalog::QualifiedName name = catalog::toQualifiedName(catalog::parseQualifiedName(call.text(0)));
   requireDefault(catalog::requireTextSearch(scope.snapshot(), scope.names().path, kind, name));
}

/// ts_token_type()
class TokenTypeRows {
public:
   TokenTypeRows(const FunctionContext& context, const RowCall& call) { requireParser(context, call); }
   bool next(RowWriter& out) {
      if (token_ == tsTokenMax) return false;
      ++token_;
      out.add(token_);
      out.addText(tsTokenName(token_));
      out.addText(tsTokenDescription(token_));
      return true;
   }

private:
   int32_t token_ = 0;
};

/// ts_parse()
class TokenRows {
public:
   TokenRows(const FunctionContext& context, const RowCall& call) : parser_(call.text(1)) {
      requireParser(context, call);
   }
   bool next(RowWriter& out) {
      if (!parser_.next()) return false;
      out.add(static_cast<int32_t>(parser_.token()));
      out.addText(parser_.text());
      return true;
   }

private:
   TsParser parser_;
};

/// ts_debug()
class DebugRows {
public:
   DebugRows(const FunctionContext& context, const RowCall& call)
      : configuration_(configurationOf(context, call.size() == 2 ? static_cast<Oid>(call.value<int64_t>(0))
                                                                 : currentConfiguration(context))),
        parser_(call.text(call.size() - 1)) {}
   bool next(RowWriter& out) {
      if (!parser_.next()) return false;
      const auto token = static_cast<int32_t>(parser_.token());
      out.addText(tsTokenName(token));
      out.addText(tsTokenDescription(token));
      out.addText(parser_.text());
      addDictionaries(out, static_cast<size_t>(token));
      return true;
   }

private:
   static void addArray(RowWriter& out, Oid type, const std::vector<Value>& values) {
      const StringView bytes = out.strings().copyString(makeArray(type, values));
      out.add(PhysicalType::String, &bytes);
   }
   /// All dictionaries of the token, the one that knows it or else the first one, and what that makes of it.
   void addDictionaries(RowWriter& out, size_t token) {
      std::vector<Value> all;
      for (const Oid oid : configuration_->oids[token])
         all.push_back(Value::integer(PhysicalType::I64, oid));
      addArray(out, oid::regdictionary, all);
      std::vector<TsLexeme> lexemes;
      const auto& dictionaries = configuration_->dictionaries[token];
      const auto knows = [&](const auto& dictionary) { return dictionary->normalize(parser_.text(), lexemes); };
      const auto found = std::find_if(dictionaries.begin(), dictionaries.end(), knows);
      if (dictionaries.empty()) {
         out.addNull();
         return out.addNull();
      }
      const bool isKnown = found != dictionaries.end();
      const int64_t chosen =
          configuration_->oids[token][isKnown ? static_cast<size_t>(found - dictionaries.begin()) : 0];
      out.add(PhysicalType::I64, &chosen);
      if (!isKnown) return out.addNull();
      std::vector<Value> texts;
      for (const TsLexeme& lexeme : lexemes)
         texts.push_back(Value::string(lexeme.text));
      addArray(out, oid::text, texts);
   }

   const std::shared_ptr<const TsConfiguration> configuration_;
   TsParser parser_;
};

// ---- ts_stat() ----

constexpr Oid statFunction = 3689;

/// ts_stat(): in how many vectors of a query's result each word stands, and how often. With weights, places of these
/// count only.
class StatRows {
public:
   StatRows(const FunctionContext& context, const RowCall& call) {
      unsigned weights = 0;
      if (call.size() == 2)
         for (const char letter : call.text(1))
            if (const int weight = tsWeightOf(letter); weight >= 0) weights |= 1u << weight;
      const StringView text(call.text(0));
      const RowPart part{oid::text, PhysicalType::String, &text};
      std::string args;
      appendRow(args, oid::record, std::span(&part, 1));
      for (const std::string& row : context.requireSession("ts_stat").runRoutine(statFunction, args)) {
         const RowView view(row);
         const RowView::Field field = view.field(0);
         if (view.size() != 1 || field.type != oid::tsvector)
            throw SqlError(sqlstate::invalidParameterValue, "ts_stat query must return one tsvector column");
         if (!field.isNull) count(TsVectorView(field.as<StringView>().view()), weights);
      }
      next_ = words_.begin();
   }
   bool next(RowWriter& out) {
      if (next_ == words_.end()) return false;
      out.addText(next_->first);
      out.add(next_->second.vectors);
      out.add(next_->second.places);
      ++next_;
      return true;
   }

private:
   struct Counts {
      int32_t vectors = 0, places = 0;
   };
   void count(const TsVectorView& vector, unsigned weights) {
      for (uint32_t i = 0; i < vector.size(); ++i) {
         const TsVectorView::Word word = vector.word(i);
         int32_t places = word.placeCount() == 0 && weights == 0 ? 1 : 0;
         for (uint32_t j = 0; j < word.placeCount(); ++j)
            places += weights == 0 || (weights >> word.place(j).weight & 1) != 0;
         if (places == 0) continue;
         Counts& counts = words_[std::string(word.text())];
         ++counts.vectors;
         counts.places += places;
      }
   }
   std::map<std::string, Counts> words_;
   std::map<std::string, Counts>::const_iterator next_;
};

/// A table function whose rows are made of the session's context and a call.
template <typename Rows>
class ContextRows final : public TableFunction {
public:
   ContextRows(std::vector<Representation> columns, FunctionContext& context, Reservation& memory)
      : context_(context), out_(std::move(columns), memory) {}
   void begin(std::span<const Vector> args, uint32_t row) override {
      rows_.reset();
      for (const Vector& arg : args)
         if (arg.isNull(row)) return;
      rows_.emplace(context_, RowCall{args, row});
   }
   uint32_t next(uint32_t rowsMax, std::span<Vector> columns) override {
      checkInterrupted();
      out_.clear();
      while (rows_ && out_.rowCount() < rowsMax && rows_->next(out_)) {
      }
      out_.give(columns);
      return out_.rowCount();
   }

private:
   FunctionContext& context_;
   std::optional<Rows> rows_;
   RowWriter out_;
};

} // namespace

std::unique_ptr<TableFunction> makeTextSearchRows(TableFunctionSignature& signature, FunctionContext& context,
                                                  Reservation& memory) {
   const std::string_view source = signature.function->source;
   const auto& columns = signature.resultReprs;
   if (source == "tsvector_unnest") return std::make_unique<RowFunction<WordRows>>(columns, memory);
   if (source == "ts_token_type_byid" || source == "ts_token_type_byname")
      return std::make_unique<ContextRows<TokenTypeRows>>(columns, context, memory);
   if (source == "ts_parse_byid" || source == "ts_parse_byname")
      return std::make_unique<ContextRows<TokenRows>>(columns, context, memory);
   if (source == "ts_stat1" || source == "ts_stat2")
      return std::make_unique<ContextRows<StatRows>>(columns, context, memory);
   if (signature.function->name == "ts_debug")
      return std::make_unique<ContextRows<DebugRows>>(columns, context, memory);
   return nullptr;
}

} // namespace ouzel::executor
