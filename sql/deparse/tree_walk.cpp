#include "sql/deparse/tree_walk.hpp"

#include "common/thread/stack.hpp"

namespace ouzel::sql::deparse {

namespace {

void each(const std::vector<TermPtr>& terms, const TreeVisitor& visitor) {
   for (const TermPtr& term : terms)
      if (term) walk(*term, visitor);
}

void one(const TermPtr& term, const TreeVisitor& visitor) {
   if (term) walk(*term, visitor);
}

void each(const std::vector<SortItem>& items, const TreeVisitor& visitor) {
   for (const SortItem& item : items)
      one(item.term, visitor);
}

void each(const std::vector<Target>& targets, const TreeVisitor& visitor) {
   for (const Target& target : targets)
      one(target.term, visitor);
}

void each(const std::vector<GroupingItem>& items, const TreeVisitor& visitor) {
   for (const GroupingItem& item : items) {
      each(item.terms, visitor);
      each(item.items, visitor);
   }
}

void window(const WindowSpec& spec, const TreeVisitor& visitor) {
   each(spec.partition, visitor);
   each(spec.order, visitor);
   one(spec.start, visitor);
   one(spec.end, visitor);
}

void setTree(const SetTree* tree, const TreeVisitor& visitor) {
   if (tree == nullptr) return;
   if (tree->leaf) walk(*tree->leaf, visitor);
   setTree(tree->left.get(), visitor);
   setTree(tree->right.get(), visitor);
}

void joinTree(const JoinTree* tree, const TreeVisitor& visitor) {
   if (tree == nullptr) return;
   one(tree->condition, visitor);
   joinTree(tree->left.get(), visitor);
   joinTree(tree->right.get(), visitor);
}

void xmlTable(const XmlTableSource& table, const TreeVisitor& visitor) {
   for (const auto& [name, address] : table.namespaces)
      one(address, visitor);
   one(table.rows, visitor);
   one(table.document, visitor);
   for (const XmlTableSource::Column& column : table.columns) {
      one(column.path, visitor);
      one(column.byDefault, visitor);
   }
}

void source(Source& source, const TreeVisitor& visitor) {
   if (visitor.source) visitor.source(source);
   if (source.query) walk(*source.query, visitor);
   for (const FunctionSource& function : source.functions)
      one(function.call, visitor);
   if (source.xmlTable) xmlTable(*source.xmlTable, visitor);
   for (const auto& row : source.values)
      each(row, visitor);
   each(source.sampleArgs, visitor);
   one(source.sampleSeed, visitor);
}

} // namespace

void walk(Term& term, const TreeVisitor& visitor) {
   checkStack();
   if (visitor.term) visitor.term(term);
   each(term.args, visitor);
   each(term.order, visitor);
   one(term.filter, visitor);
   if (term.window) window(*term.window, visitor);
   if (term.query) walk(*term.query, visitor);
}

void walk(Query& query, const TreeVisitor& visitor) {
   checkStack();
   if (visitor.query) visitor.query(query);
   for (const auto& cte : query.ctes) {
      walk(*cte->query, visitor);
      each(cte->marks, visitor);
   }
   for (const auto& item : query.sources)
      source(*item, visitor);
   for (const auto& tree : query.from)
      joinTree(tree.get(), visitor);
   setTree(query.setTree.get(), visitor);
   each(query.targets, visitor);
   each(query.distinctOn, visitor);
   one(query.where, visitor);
   one(query.having, visitor);
   each(query.groupBy, visitor);
   each(query.groupingSets, visitor);
   for (const auto& spec : query.windows)
      window(*spec, visitor);
   each(query.order, visitor);
   one(query.limit, visitor);
   one(query.offset, visitor);
   for (const Written& column : query.written)
      one(column.value, visitor);
   for (const auto& row : query.rows)
      each(row, visitor);
   if (query.selectSource) walk(*query.selectSource, visitor);
   each(query.returning, visitor);
}

} // namespace ouzel::sql::deparse
