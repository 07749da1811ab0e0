#include "sql/bind/binder.hpp"
#include "sql/deparse/resolver.hpp"

// VALUES, set operations and WITH.

namespace ouzel::sql::deparse {

std::vector<std::vector<TermPtr>> Resolver::rows(const ::List* lists, Level& level, bool keepUnknown, bool unites) {
   std::vector<std::vector<TermPtr>> result;
   for (const auto* list : ListOf<List>(lists)) {
      std::vector<TermPtr> row;
      for (const ::Node* item : ListOf<>(list)) {
         std::vector<Target> expanded;
         if (isNode(item, T_ColumnRef) && isNode(ListOf<>(as<ColumnRef>(item)->fields).back(), T_A_Star))
            expandStar(*as<ColumnRef>(item), level, expanded);
         else
            row.push_back(term(item, level));
         for (Target& target : expanded)
            row.push_back(std::move(target.term));
      }
      result.push_back(std::move(row));
   }
   if (!unites) return result;
   for (size_t column = 0; column < result[0].size(); ++column) {
      std::vector<TermPtr> terms;
      bool isKnown = false;
      for (const auto& row : result) {
         terms.push_back(row.at(column));
         isKnown |= terms.back()->type.oid != oid::unknown;
      }
      if (!isKnown && keepUnknown) continue;
      const SqlType type = commonType(terms);
      for (auto& row : result)
         row[column] = castType(row[column], type, CoercionContext::Implicit, Form::Implicit);
   }
   return result;
}

void Resolver::values(const ::SelectStmt& node, Query& query, Level& level, bool keepUnknown) {
   Source* source = addSource(query, SourceKind::Values);
   source->name = "*VALUES*";
   source->values = rows(node.valuesLists, level, keepUnknown);
   for (size_t i = 0; i < source->values[0].size(); ++i) {
      std::vector<TermPtr> column;
      for (const auto& row : source->values)
         column.push_back(row[i]);
      const SqlType type =
          column[0]->type.oid == oid::unknown ? SqlType{oid::unknown, -1, invalidOid} : commonType(column);
      source->columns.push_back({"column" + std::to_string(i + 1), type});
      query.targets.push_back({columnAt(*source, i), source->columns[i].name});
   }
   auto tree = std::make_unique<JoinTree>();
   tree->source = source;
   query.from.push_back(std::move(tree));
   query.isValues = true;
   level.visible.push_back({source});
}

std::unique_ptr<SetTree> Resolver::setTree(const ::SelectStmt& node, Level& level, Cte* self) {
   auto tree = std::make_unique<SetTree>();
   const bool isLeaf = node.op == SETOP_NONE || node.sortClause || node.limitOffset || node.limitCount ||
                       node.lockingClause || node.withClause;
   if (isLeaf) {
      tree->leaf = select(node, &level, nullptr, true);
      for (const Target& target : tree->leaf->targets)
         if (!target.isHidden) tree->types.push_back(target.term->type);
      return tree;
   }
   tree->kind = node.op == SETOP_UNION ? 'u' : node.op == SETOP_INTERSECT ? 'i' : 'e';
   tree->all = node.all;
   tree->left = setTree(*node.larg, level, nullptr);
   if (self) { // the columns of a recursive query are those of its first term
      castLeaf(*tree->left, tree->left->types);
      const SetTree* first = tree->left.get();
      while (!first->leaf)
         first = first->left.get();
      nameColumns(*self, *first->leaf);
      for (size_t i = 0; i < tree->left->types.size() && i < self->columns.size(); ++i)
         if (tree->left->types[i].oid != oid::unknown) self->columns[i].type = tree->left->types[i];
   }
   tree->right = setTree(*node.rarg, level, nullptr);
   const auto& left = tree->left->types;
   const auto& right = tree->right->types;
   for (size_t i = 0; i < left.size() && i < right.size(); ++i) {
      const TermPtr pair[] = {makeTerm(TermKind::Tested, left[i]), makeTerm(TermKind::Tested, right[i])};
      tree->types.push_back(commonType(pair));
   }
   castLeaf(*tree->left, tree->types);
   castLeaf(*tree->right, tree->types);
   return tree;
}

/// Unknown literals of a query that is operand of a set operation take the type of the result.
void Resolver::castLeaf(SetTree& tree, const std::vector<SqlType>& types) {
   if (!tree.leaf) return;
   const auto literal = [&](TermPtr& value, const SqlType& type) {
      if (value->type.oid == oid::unknown && value->kind == TermKind::Constant)
         value = castType(value, type.oid == oid::unknown ? plainType(oid::text) : type, CoercionContext::Implicit,
                          Form::Implicit);
   };
   if (tree.leaf->isValues)
      for (auto& row : tree.leaf->sources.back()->values)
         for (size_t i = 0; i < row.size() && i < types.size(); ++i)
            literal(row[i], types[i]);
   for (size_t i = 0; i < tree.leaf->targets.size() && i < types.size(); ++i)
      literal(tree.leaf->targets[i].term, types[i]);
}

void Resolver::setOperation(const ::SelectStmt& node, Query& query, Level& level, Cte* self) {
   ::SelectStmt bare = node; // the tree itself: WITH, ORDER BY and LIMIT are those of the whole
   bare.sortClause = nullptr;
   bare.limitOffset = bare.limitCount = nullptr;
   bare.lockingClause = nullptr;
   bare.withClause = nullptr;
   query.setTree = setTree(bare, level, self);
   const SetTree* first = query.setTree.get();
   while (!first->leaf)
      first = first->left.get();
   size_t i = 0;
   for (const Target& target : first->leaf->targets) {
      if (target.isHidden) continue;
      const SqlType type = i < query.setTree->types.size() ? query.setTree->types[i] : target.term->type;
      query.targets.push_back({makeTerm(TermKind::Tested, type), target.name});
      ++i;
   }
}

void Resolver::searchAndCycle(const ::CommonTableExpr& node, Cte& result, Level& level) {
   const auto names = [](const ::List* list) {
      std::string text;
      for (const ::Node* name : ListOf<>(list))
         text += (text.empty() ? "" : ", ") + catalog::quoteIdentifier(stringOf(name));
      return text;
   };
   if (const auto* search = node.search_clause) {
      result.suffix += std::string(" SEARCH ") + (search->search_breadth_first ? "BREADTH" : "DEPTH") + " FIRST BY " +
                       names(search->search_col_list) + " SET " + catalog::quoteIdentifier(search->search_seq_column);
      result.added.push_back(
          {search->search_seq_column, plainType(search->search_breadth_first ? oid::record : oid::recordArray)});
   }
   if (const auto* cycle = node.cycle_clause) {
      result.suffix +=
          " CYCLE " + names(cycle->cycle_col_list) + " SET " + catalog::quoteIdentifier(cycle->cycle_mark_column);
      std::vector<TermPtr> marks;
      for (const ::Node* mark : {cycle->cycle_mark_value, cycle->cycle_mark_default})
         marks.push_back(term(mark, level));
      const SqlType type = commonType(marks);
      castAll(marks, type);
      const bool isDefault = type.oid == oid::boolean && marks[0]->name == "true" && marks[1]->name == "false";
      result.added.push_back({cycle->cycle_mark_column, type});
      result.added.push_back({cycle->cycle_path_column, plainType(oid::recordArray)});
      if (!isDefault) result.marks = std::move(marks);
      result.path = " USING " + catalog::quoteIdentifier(cycle->cycle_path_column);
   }
}

void Resolver::cte(const ::CommonTableExpr& node, Cte& result, Level& level, bool isRecursive) {
   if (!isNode(node.ctequery, T_SelectStmt)) giveUp();
   const auto& query = *as<SelectStmt>(node.ctequery);
   searchAndCycle(node, result, level);
   const bool canRefer = isRecursive && query.op == SETOP_UNION;
   result.query = select(query, &level, canRefer ? &result : nullptr);
   if (!canRefer || result.columns.empty()) nameColumns(result, *result.query);
}

/// The columns of a WITH query are those of `query`, and what SEARCH and CYCLE add.
void Resolver::nameColumns(Cte& cte, const Query& query) const {
   cte.columns = columnsOf(query);
   for (size_t i = 0; i < cte.columns.size(); ++i) {
      if (cte.columns[i].type.oid == oid::unknown) cte.columns[i].type = plainType(oid::text);
      if (i < cte.columnAliases.size()) cte.columns[i].name = cte.columnAliases[i];
   }
   cte.columns.insert(cte.columns.end(), cte.added.begin(), cte.added.end());
}

void Resolver::with(const ::WithClause* node, Query& query, Level& level) {
   if (node == nullptr) return;
   query.isRecursive = node->recursive;
   for (const auto* item : ListOf<CommonTableExpr>(node->ctes)) {
      auto declared = std::make_unique<Cte>();
      declared->name = item->ctename;
      declared->materialized = item->ctematerialized;
      for (const ::Node* alias : ListOf<>(item->aliascolnames))
         declared->columnAliases.emplace_back(stringOf(alias));
      Cte& target = *declared;
      query.ctes.push_back(std::move(declared));
      if (node->recursive) level.ctes.push_back(&target);
      cte(*item, target, level, node->recursive);
      if (!node->recursive) level.ctes.push_back(&target);
   }
}

} // namespace ouzel::sql::deparse
