#include "common/base_type/ts_query.hpp"

#include <algorithm>
#include <memory>

#include "common/thread/stack.hpp"
#include "common/type/row.hpp"
#include "executor/function/context.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/text_search/ts_match.hpp"
#include "executor/function/text_search/ts_query_tree.hpp"
#include "executor/function/text_search_families.hpp"

// Functions and operators of tsquery, and @@.

namespace ouzel::executor {

namespace {

using Kind = TsQueryNode::Kind;

// ---- queries made of others ----

/// An empty query gives way to the other one.
StringView joined(const StringView& a, const StringView& b, Kind kind, int32_t distance, KernelEnv& env) {
   const TsQuery left(a.view()), right(b.view());
   if (left.isEmpty() || right.isEmpty()) return env.copy(left.isEmpty() ? b.view() : a.view());
   TsQuery both;
   const int32_t first = both.addCopy(left, left.root), second = both.addCopy(right, right.root);
   both.root = both.add(kind, first, second, static_cast<uint16_t>(distance));
   return env.copy(both.store());
}
StringView conjunction(const StringView& a, const StringView& b, KernelEnv& env) {
   return joined(a, b, Kind::And, 0, env);
}
StringView disjunction(const StringView& a, const StringView& b, KernelEnv& env) {
   return joined(a, b, Kind::Or, 0, env);
}
StringView phraseAt(const StringView& a, const StringView& b, int32_t distance, KernelEnv& env) {
   requireTsDistance(distance);
   return joined(a, b, Kind::Phrase, distance, env);
}
StringView phrase(const StringView& a, const StringView& b, KernelEnv& env) {
   return joined(a, b, Kind::Phrase, 1, env);
}
StringView negation(const StringView& bytes, KernelEnv& env) {
   TsQuery query(bytes.view());
   if (query.isEmpty()) return env.copy(bytes.view());
   query.root = query.addNot(query.root);
   return env.copy(query.store());
}

/// A copy that lives as long as the result.
std::string_view keep(KernelEnv& env, std::string_view bytes) {
   auto* target = static_cast<char*>(env.strings.allocate(bytes.size(), 1));
   std::memcpy(target, bytes.data(), bytes.size());
   return {target, bytes.size()};
}

StringView rewrite(const StringView& bytes, const StringView& soughtBytes, const StringView& replacementBytes,
                   KernelEnv& env) {
   const TsQuery query(bytes.view()), sought(soughtBytes.view()), replacement(replacementBytes.view());
   if (query.isEmpty() || sought.isEmpty()) return env.copy(bytes.view());
   TsTree tree = treeOf(query), soughtTree = treeOf(sought);
   for (TsTreeNode* root : {tree.get(), soughtTree.get()}) {
      flatten(*root);
      sortOperands(*root);
   }
   tree = replaced(std::move(tree), *soughtTree, treeOf(replacement).get());
   return env.copy(queryOf(tree.get()).store());
}

void prepareForSearch(TsTreeNode& tree) {
   clearReplacements(tree);
   flatten(tree);
   sortOperands(tree);
}

constexpr Oid rewriteFunction = 3685;

/// ts_rewrite() with a query that gives what to replace, and by what.
StringView rewriteByRows(const StringView& bytes, const StringView& text, KernelEnv& env) {
   const TsQuery query(bytes.view());
   if (query.isEmpty()) return env.copy(bytes.view());
   TsTree tree = treeOf(query);
   prepareForSearch(*tree);
   const RowPart part{oid::text, PhysicalType::String, &text};
   std::string args;
   appendRow(args, oid::record, std::span(&part, 1));
   const std::vector<std::string> rows = env.context.requireSession("ts_rewrite").runRoutine(rewriteFunction, args);
   for (const std::string& row : rows) { // words are views of the rows
      const RowView view(row);
      if (view.size() != 2 || view.field(0).type != oid::tsquery || view.field(1).type != oid::tsquery)
         throw SqlError(sqlstate::invalidParameterValue, "ts_rewrite query must return two tsquery columns");
      const auto soughtBytes = valueOfField(view.field(0)), replacementBytes = valueOfField(view.field(1));
      if (!tree || soughtBytes.isNull || replacementBytes.isNull) continue;
      const TsQuery sought(keep(env, soughtBytes.bytes)), replacement(keep(env, replacementBytes.bytes));
      if (sought.isEmpty()) continue;
      const TsTree soughtTree = treeOf(sought);
      prepareForSearch(*soughtTree);
      tree = replaced(std::move(tree), *soughtTree, treeOf(replacement).get());
      if (tree) prepareForSearch(*tree);
   }
   return env.copy(queryOf(tree.get()).store());
}

// ---- what queries tell ----

int32_t nodeCount(const StringView& bytes) {
   const TsQuery query(bytes.view());
   return static_cast<int32_t>(query.nodeCount(query.root));
}

/// The part of a query that an index can look for: nothing negated.
int32_t withoutNot(TsQuery& query, int32_t number) {
   checkStack();
   const TsQueryNode node = query[number];
   if (node.isWord()) return number;
   if (node.kind == Kind::Not) return TsQuery::none;
   const int32_t left = withoutNot(query, node.left), right = withoutNot(query, node.right);
   if (left != TsQuery::none && right != TsQuery::none) return query.add(node.kind, left, right, node.distance);
   return node.kind == Kind::Or ? TsQuery::none : std::max(left, right);
}
StringView indexedPart(const StringView& bytes, KernelEnv& env) {
   TsQuery query(bytes.view());
   if (query.isEmpty()) return env.copy({});
   query.root = withoutNot(query, query.root);
   if (query.isEmpty()) return env.copy("T");
   std::string text;
   query.print(text);
   return env.copy(text);
}

/// The words of a query, sorted, each once.
std::vector<std::string_view> wordsOf(const TsQuery& query) {
   std::vector<std::string_view> words;
   for (const TsQueryNode& node : query.nodes)
      if (node.isWord()) words.push_back(node.word);
   std::sort(words.begin(), words.end());
   words.erase(std::unique(words.begin(), words.end()), words.end());
   return words;
}
bool contains(const StringView& a, const StringView& b) {
   const TsQuery whole(a.view()), part(b.view());
   const auto words = wordsOf(whole), sought = wordsOf(part);
   return std::includes(words.begin(), words.end(), sought.begin(), sought.end());
}
bool isContained(const StringView& a, const StringView& b) {
   return contains(b, a);
}

int32_t compare(const StringView& a, const StringView& b) {
   const int order = tsQueryKey(a.view()).compare(tsQueryKey(b.view()));
   return order < 0 ? -1 : order > 0 ? 1 : 0;
}
bool isLess(const StringView& a, const StringView& b) {
   return compare(a, b) < 0;
}
bool isAtMost(const StringView& a, const StringView& b) {
   return compare(a, b) <= 0;
}
bool isEqual(const StringView& a, const StringView& b) {
   return compare(a, b) == 0;
}
bool isDifferent(const StringView& a, const StringView& b) {
   return compare(a, b) != 0;
}
bool isAtLeast(const StringView& a, const StringView& b) {
   return compare(a, b) >= 0;
}
bool isGreater(const StringView& a, const StringView& b) {
   return compare(a, b) > 0;
}

// ---- @@ ----

/// Takes a query apart once for rows that follow each other and ask the same.
template <size_t vectorArg>
void match(const KernelCall& call, ResultVector& result) {
   const Vector &vectors = call.args[vectorArg], &queries = call.args[1 - vectorArg];
   auto* out = result.values<uint8_t>();
   StringView asked; // of a row of the batch, which stays while `query` has views of it
   TsQuery query;
   bool isAsked = false;
   forEachRow(call.rows, [&](uint32_t row) {
      const auto& bytes = queries.value<StringView>(row);
      if (!isAsked || !(bytes == asked)) {
         asked = bytes;
         query = TsQuery(asked.view());
         isAsked = true;
      }
      const auto& vector = vectors.value<StringView>(row);
      out[row] = tsMatches(query, TsVectorView(vector.view()));
   });
}

} // namespace

void registerTsQuery() {
   addKernel<conjunction>("tsquery_and");
   addKernel<disjunction>("tsquery_or");
   addKernel<negation>("tsquery_not");
   addKernel<phrase>("tsquery_phrase");
   addKernel<phraseAt>("tsquery_phrase_distance");
   addKernel<rewrite>("tsquery_rewrite");
   addKernel<rewriteByRows>("tsquery_rewrite_query");
   addKernel<nodeCount>("tsquery_numnode");
   addKernel<indexedPart>("tsquerytree");
   addKernel<contains>("tsq_mcontains");
   addKernel<isContained>("tsq_mcontained");
   addKernel<compare>("tsquery_cmp");
   addKernel<isLess>("tsquery_lt");
   addKernel<isAtMost>("tsquery_le");
   addKernel<isEqual>("tsquery_eq");
   addKernel<isDifferent>("tsquery_ne");
   addKernel<isAtLeast>("tsquery_ge");
   addKernel<isGreater>("tsquery_gt");
   registerKernel("ts_match_vq", "ss", {match<0>, true, false});
   registerKernel("ts_match_qv", "ss", {match<1>, true, false});
}

} // namespace ouzel::executor
