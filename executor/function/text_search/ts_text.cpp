#include "executor/function/array_builder.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/name_scope.hpp"
#include "executor/function/text_search/ts_analyzer.hpp"
#include "executor/function/text_search/ts_json.hpp"
#include "executor/function/text_search/ts_match.hpp"
#include "executor/function/text_search/ts_query_builder.hpp"
#include "executor/function/text_search_families.hpp"

// From texts and documents to tsvector and tsquery: to_tsvector(), to_tsquery() and their kin.

namespace ouzel::executor {

namespace {

using Kind = TsQueryNode::Kind;

/// The configuration of a row: the first argument, or what the session has.
template <bool hasConfiguration>
class ConfigurationOfRow {
public:
   explicit ConfigurationOfRow(const KernelCall& call) : call_(call) {
      if (!hasConfiguration) current_ = currentConfiguration(call.context);
   }
   void use(TsAnalyzer& analyzer, uint32_t row) const {
      analyzer.use(call_.context, hasConfiguration ? static_cast<Oid>(call_.args[0].value<int64_t>(row)) : current_);
   }

private:
   const KernelCall& call_;
   Oid current_ = invalidOid;
};

// ---- tsvector ----

/// Adds the words of one argument to an analyzer; `parts` of a document.
using AddTexts = void (*)(TsAnalyzer& analyzer, std::string_view value, uint8_t parts);

void addText(TsAnalyzer& analyzer, std::string_view text, uint8_t) {
   analyzer.add(text);
}
/// The words of different texts are no neighbours.
void addPart(TsAnalyzer& analyzer, std::string_view text) {
   const size_t before = analyzer.words().size();
   analyzer.add(text);
   if (analyzer.words().size() > before) analyzer.skipPosition();
}
void addJsonb(TsAnalyzer& analyzer, std::string_view document, uint8_t parts) {
   forEachTextOfJsonb(document, parts, [&](std::string_view text) { addPart(analyzer, text); });
}
void addJson(TsAnalyzer& analyzer, std::string_view document, uint8_t parts) {
   forEachTextOfJson(document, parts, [&](std::string_view text) { addPart(analyzer, text); });
}

template <AddTexts addTexts, bool hasConfiguration, bool hasParts>
void toVector(const KernelCall& call, ResultVector& result) {
   constexpr size_t first = hasConfiguration ? 1 : 0;
   const ConfigurationOfRow<hasConfiguration> configuration(call);
   auto* out = result.values<StringView>();
   TsAnalyzer analyzer;
   forEachRow(call.rows, [&](uint32_t row) {
      configuration.use(analyzer, row);
      analyzer.clear();
      uint8_t parts = ts_part::string;
      if constexpr (hasParts) parts = tsPartsOf(StringView(call.args[first + 1].value<StringView>(row)).view());
      const auto& value = call.args[first].value<StringView>(row);
      addTexts(analyzer, value.view(), parts);
      out[row] = result.strings().copyString(analyzer.vector());
   });
}

// ---- tsquery ----

using MakeQuery = TsQuery (*)(TsQueryBuilder& builder, std::string_view text);

TsQuery standardQuery(TsQueryBuilder& builder, std::string_view text) {
   return builder.build(text, TsQueryParser::Syntax::Standard);
}
TsQuery webQuery(TsQueryBuilder& builder, std::string_view text) {
   return builder.build(text, TsQueryParser::Syntax::Web);
}
TsQuery plainQuery(TsQueryBuilder& builder, std::string_view text) {
   return builder.build(text, Kind::And);
}
TsQuery phraseQuery(TsQueryBuilder& builder, std::string_view text) {
   return builder.build(text, Kind::Phrase);
}

template <MakeQuery make, bool hasConfiguration>
void toQuery(const KernelCall& call, ResultVector& result) {
   const ConfigurationOfRow<hasConfiguration> configuration(call);
   auto* out = result.values<StringView>();
   TsAnalyzer analyzer;
   TsQueryBuilder builder(analyzer);
   forEachRow(call.rows, [&](uint32_t row) {
      configuration.use(analyzer, row);
      const auto& text = call.args[hasConfiguration ? 1 : 0].value<StringView>(row);
      out[row] = result.strings().copyString(make(builder, text.view()).store());
   });
}

// ---- text @@ ... ----

template <bool isQuery>
void matchText(const KernelCall& call, ResultVector& result) {
   const ConfigurationOfRow<false> configuration(call);
   auto* out = result.values<uint8_t>();
   TsAnalyzer analyzer, queryAnalyzer;
   TsQueryBuilder builder(queryAnalyzer);
   forEachRow(call.rows, [&](uint32_t row) {
      configuration.use(analyzer, row);
      configuration.use(queryAnalyzer, row);
      const auto &text = call.args[0].value<StringView>(row), &asked = call.args[1].value<StringView>(row);
      const TsQuery query = isQuery ? TsQuery(asked.view()) : builder.build(asked.view(), Kind::And);
      analyzer.clear();
      analyzer.add(text.view());
      out[row] = tsMatches(query, TsVectorView(analyzer.vector()));
   });
}

// ---- the parts ----

void currentConfigurationOf(const KernelCall& call, ResultVector& result) {
   const Oid current = currentConfiguration(call.context);
   auto* out = result.values<int64_t>();
   forEachRow(call.rows, [&](uint32_t row) { out[row] = current; });
}

std::shared_ptr<const TsDictionary> dictionaryNamed(int64_t oid, const FunctionContext& context) {
   const NameScope scope(context);
   const auto found =
       catalog::textSearchObject(scope.snapshot(), catalog::ObjectKind::TextSearchDictionary, static_cast<Oid>(oid));
   if (!found)
      throw SqlError(sqlstate::internalError, "cache lookup failed for text search dictionary " + std::to_string(oid));
   return dictionaryOf(scope.snapshot(), found);
}

/// ts_lexize(): NULL for a word that the dictionary does not know.
std::optional<StringView> lexize(int64_t oid, const StringView& token, KernelEnv& env) {
   std::vector<TsLexeme> lexemes;
   if (!dictionaryNamed(oid, env.context)->normalize(token.view(), lexemes)) return std::nullopt;
   ArrayBuilder array(env.strings, oid::text);
   for (const TsLexeme& lexeme : lexemes)
      array.addText(lexeme.text);
   return array.finish();
}

/// unaccent(regdictionary, text): what a dictionary makes of a whole text, or the text.
StringView normalized(int64_t oid, const StringView& text, KernelEnv& env) {
   std::vector<TsLexeme> lexemes;
   const bool isKnown = dictionaryNamed(oid, env.context)->normalize(text.view(), lexemes) && !lexemes.empty();
   return env.copy(isKnown ? std::string_view(lexemes.front().text) : text.view());
}

void add(std::string_view name, std::string_view arguments, ScalarKernel kernel) {
   registerKernel(name, arguments, {kernel, true, false});
}

} // namespace

void registerTsText() {
   add("to_tsvector", "s", toVector<addText, false, false>);
   add("to_tsvector_byid", "ls", toVector<addText, true, false>);
   add("jsonb_string_to_tsvector", "s", toVector<addJsonb, false, false>);
   add("jsonb_string_to_tsvector_byid", "ls", toVector<addJsonb, true, false>);
   add("json_string_to_tsvector", "s", toVector<addJson, false, false>);
   add("json_string_to_tsvector_byid", "ls", toVector<addJson, true, false>);
   add("jsonb_to_tsvector", "ss", toVector<addJsonb, false, true>);
   add("jsonb_to_tsvector_byid", "lss", toVector<addJsonb, true, true>);
   add("json_to_tsvector", "ss", toVector<addJson, false, true>);
   add("json_to_tsvector_byid", "lss", toVector<addJson, true, true>);
   add("to_tsquery", "s", toQuery<standardQuery, false>);
   add("to_tsquery_byid", "ls", toQuery<standardQuery, true>);
   add("plainto_tsquery", "s", toQuery<plainQuery, false>);
   add("plainto_tsquery_byid", "ls", toQuery<plainQuery, true>);
   add("phraseto_tsquery", "s", toQuery<phraseQuery, false>);
   add("phraseto_tsquery_byid", "ls", toQuery<phraseQuery, true>);
   add("websearch_to_tsquery", "s", toQuery<webQuery, false>);
   add("websearch_to_tsquery_byid", "ls", toQuery<webQuery, true>);
   add("ts_match_tt", "ss", matchText<false>);
   add("ts_match_tq", "ss", matchText<true>);
   add("get_current_ts_config", "", currentConfigurationOf);
   addKernel<lexize>("ts_lexize");
   addKernel<normalized>("unaccent/unaccent_dict");
}

} // namespace ouzel::executor
