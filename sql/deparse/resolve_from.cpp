#include <algorithm>

#include "sql/bind/binder.hpp"
#include "sql/deparse/resolver.hpp"

// FROM: relations, subqueries, functions, joins.

namespace ouzel::sql::deparse {

Source* Resolver::addSource(Query& query, SourceKind kind) {
   query.sources.push_back(std::make_unique<Source>());
   query.sources.back()->kind = kind;
   return query.sources.back().get();
}

void Resolver::relationSource(Source& source, const catalog::RelationPtr& relation) {
   source.relation = relation;
   source.name = relation->name;
   for (const catalog::Column& column : relation->columns)
      if (!column.isDropped) source.columns.push_back({column.name, column.type, column.attribute});
}

std::vector<SourceColumn> Resolver::columnsOf(const Query& query) const {
   std::vector<SourceColumn> columns;
   for (const Target& target : query.targets)
      if (!target.isHidden) columns.push_back({target.name, target.term->type});
   return columns;
}

void Resolver::applyAlias(Source& source, const ::Alias* alias) {
   if (alias == nullptr) return;
   source.alias = alias->aliasname;
   for (const ::Node* name : ListOf<>(alias->colnames))
      source.columnAliases.emplace_back(stringOf(name));
}

const Cte* Resolver::findCte(std::string_view name, const Level& level) const {
   for (const Level* at = &level; at != nullptr; at = at->parent)
      for (auto cte = at->ctes.rbegin(); cte != at->ctes.rend(); ++cte)
         if ((*cte)->name == name) return *cte;
   return nullptr;
}

void Resolver::cteSource(Source& source, const Cte& cte) {
   source.name = cte.name;
   source.columns = cte.columns;
}

void Resolver::functionColumns(FunctionSource& function, const std::string& name, Source& source) {
   const Term& call = *function.call;
   if (!function.definitions.empty()) {
      source.columns.insert(source.columns.end(), function.definitions.begin(), function.definitions.end());
      return;
   }
   size_t before = source.columns.size();
   if (call.function != nullptr && call.kind == TermKind::Call)
      for (size_t i = 0; i < call.function->argModes.size(); ++i) {
         const char mode = call.function->argModes[i];
         if (mode != 'o' && mode != 'b' && mode != 't') continue;
         Oid type = call.function->allArgTypes[i];
         if (isPolymorphic(type)) {
            const Oid given = call.args.empty() ? Oid{oid::unknown} : call.args[0]->type.oid;
            type = type == oid::anyelement && elementType(given) ? elementType(given) : given;
         }
         std::string column(i < call.function->argNames.size() ? call.function->argNames[i] : std::string_view());
         if (column.empty()) column = "column" + std::to_string(source.columns.size() - before + 1);
         source.columns.push_back({column, plainType(type)});
      }
   const size_t outputs = source.columns.size() - before;
   if (outputs > 1) return;
   if (outputs == 1) return; // a single OUT parameter gives the column its name
   if (isRowType(call.type.oid) && call.type.oid != oid::record)
      if (const auto relation = context_.catalog.relationOfType(call.type.oid)) {
         for (const catalog::Column& column : relation->columns)
            if (!column.isDropped) source.columns.push_back({column.name, column.type});
         return;
      }
   source.columns.push_back({name, call.type});
}

void Resolver::functionSource(const ::RangeFunction& node, Source& source, Level& level) {
   const auto definitions = [&](const ::List* list) {
      std::vector<SourceColumn> columns;
      for (const auto* column : ListOf<::ColumnDef>(list))
         columns.push_back({column->colname, resolveColumnType(*column, context_)});
      return columns;
   };
   std::vector<std::string> names;
   for (const auto* pair : ListOf<List>(node.functions)) {
      const ListOf<> parts(pair);
      const ::Node* expression = parts[0];
      const auto* call = isNode(expression, T_FuncCall) ? as<FuncCall>(expression) : nullptr;
      if (call && ListOf<>(call->funcname).size() == 1 && stringOf(ListOf<>(call->funcname)[0]) == "unnest" &&
          ListOf<>(call->args).size() > 1 && !call->agg_order && !call->func_variadic) {
         for (const ::Node* arg : ListOf<>(call->args)) {
            ::FuncCall one = *call;
            ::ListCell cell;
            cell.ptr_value = const_cast<::Node*>(arg);
            ::List single = *call->args;
            single.length = 1;
            single.elements = &cell;
            one.args = &single;
            source.functions.push_back({this->call(one, level), {}});
            names.emplace_back("unnest");
         }
         continue;
      }
      FunctionSource function;
      function.call = known(expression, level);
      if (parts[1]) function.definitions = definitions(as<List>(parts[1]));
      source.functions.push_back(std::move(function));
      names.push_back(outputName(expression, context_.catalog));
   }
   if (node.coldeflist) source.functions[0].definitions = definitions(node.coldeflist);
   source.name = names[0];
   source.hasOrdinality = node.ordinality;
   for (size_t i = 0; i < source.functions.size(); ++i) {
      FunctionSource& function = source.functions[i];
      const bool isOnly = source.functions.size() == 1;
      functionColumns(function, isOnly && node.alias ? std::string(node.alias->aliasname) : names[i], source);
      function.isUnnest = function.call->kind == TermKind::Call && function.call->name == "unnest" &&
                          elementType(function.call->args[0]->type.oid) && function.definitions.empty();
   }
   if (source.hasOrdinality) source.columns.push_back({"ordinality", plainType(oid::int8)});
}

namespace {

bool readsOwnLevel(const Term& term, const Level& level) {
   if (term.kind == TermKind::Column)
      return std::any_of(level.query->sources.begin(), level.query->sources.end(),
                         [&](const auto& source) { return source.get() == term.source; });
   return std::any_of(term.args.begin(), term.args.end(),
                      [&](const TermPtr& arg) { return arg && readsOwnLevel(*arg, level); });
}

bool readsOwnLevel(const XmlTableSource& table, const Level& level) {
   const auto reads = [&](const TermPtr& term) { return term && readsOwnLevel(*term, level); };
   return reads(table.rows) || reads(table.document) ||
          std::any_of(table.namespaces.begin(), table.namespaces.end(),
                      [&](const auto& one) { return reads(one.second); }) ||
          std::any_of(table.columns.begin(), table.columns.end(),
                      [&](const auto& column) { return reads(column.path) || reads(column.byDefault); });
}

} // namespace

/// Adds what `node` brings to `visible`. Names that LATERAL items can use are those of `level` and of `visible`.
std::unique_ptr<JoinTree> Resolver::from(const ::Node* node, Query& query, Level& level,
                                         std::vector<Visible>& visible) {
   if (isNode(node, T_JoinExpr)) return join(*as<JoinExpr>(node), query, level, visible);
   auto tree = std::make_unique<JoinTree>();
   if (isNode(node, T_RangeTableSample)) {
      const auto* sample = as<RangeTableSample>(node);
      tree = from(sample->relation, query, level, visible);
      Source& source = *tree->source;
      source.sampleMethod = stringOf(ListOf<>(sample->method).back());
      for (const ::Node* arg : ListOf<>(sample->args))
         source.sampleArgs.push_back(
             cast(term(arg, level), plainType(oid::float4), CoercionContext::Assignment, Form::Implicit));
      if (sample->repeatable)
         source.sampleSeed =
             cast(term(sample->repeatable, level), plainType(oid::float8), CoercionContext::Assignment, Form::Implicit);
      return tree;
   }
   // What LATERAL items see besides the items before: those on the left in the same join.
   Level lateral = level;
   lateral.visible.insert(lateral.visible.end(), visible.begin(), visible.end());
   Source* source = nullptr;
   if (isNode(node, T_RangeVar)) {
      const auto* name = as<RangeVar>(node);
      const Cte* cte = name->schemaname ? nullptr : findCte(name->relname, level);
      source = addSource(query, cte ? SourceKind::Cte : SourceKind::Relation);
      if (cte) {
         cteSource(*source, *cte);
      } else {
         const auto relation =
             catalog::requireRelation(context_.catalog, state_.uncheckedPath(), qualifiedName(*name, context_));
         relationSource(*source, relation);
         source->isOnly = !name->inh;
      }
      applyAlias(*source, name->alias);
   } else if (isNode(node, T_RangeSubselect)) {
      const auto* item = as<RangeSubselect>(node);
      Level outer = level; // its WITH queries, but of its FROM nothing but OLD and NEW
      std::erase_if(outer.visible, [](const Visible& seen) { return seen.source->kind != SourceKind::Row; });
      auto subquery = select(*as<SelectStmt>(item->subquery), item->lateral ? &lateral : &outer);
      source = addSource(query, SourceKind::Subquery);
      source->columns = columnsOf(*subquery);
      source->query = std::move(subquery);
      source->isLateral = item->lateral;
      source->name = "unnamed_subquery";
      applyAlias(*source, item->alias);
   } else if (isNode(node, T_RangeFunction)) {
      const auto* item = as<RangeFunction>(node);
      auto made = std::make_unique<Source>();
      made->kind = SourceKind::Function;
      functionSource(*item, *made, lateral);
      made->isLateral = item->lateral;
      for (const FunctionSource& function : made->functions)
         made->isLateral |= readsOwnLevel(*function.call, level);
      source = made.get();
      query.sources.push_back(std::move(made));
      applyAlias(*source, item->alias);
   } else if (isNode(node, T_RangeTableFunc)) {
      const auto* item = as<RangeTableFunc>(node);
      auto made = std::make_unique<Source>();
      made->kind = SourceKind::XmlTable;
      made->xmlTable = xmlTable(*item, *made, lateral);
      made->isLateral = item->lateral || readsOwnLevel(*made->xmlTable, level);
      source = made.get();
      query.sources.push_back(std::move(made));
      applyAlias(*source, item->alias);
   } else {
      giveUp();
   }
   tree->source = source;
   visible.push_back({source});
   return tree;
}

void Resolver::fromItems(const ::List* list, Query& query, Level& level) {
   for (const ::Node* item : ListOf<>(list)) {
      std::vector<Visible> visible;
      auto tree = from(item, query, level, visible);
      query.from.push_back(std::move(tree));
      level.visible.insert(level.visible.end(), visible.begin(), visible.end());
   }
}

/// The join's own columns: those that USING merges, then the others of both sides.
void Resolver::mergeColumns(const ::JoinExpr& node, JoinTree& tree, Source& merged, const std::vector<Visible>& left,
                            const std::vector<Visible>& right) {
   struct Input {
      std::string name;
      TermPtr term;
      int32_t number;
   };
   const auto inputs = [&](const std::vector<Visible>& items) {
      std::vector<Input> columns;
      for (const Visible& item : items)
         if (item.byColumn)
            for (size_t i = 0; i < item.source->columns.size(); ++i)
               columns.push_back({item.source->columnName(i), columnAt(*item.source, i), static_cast<int32_t>(i)});
      return columns;
   };
   auto lefts = inputs(left), rights = inputs(right);
   const auto find = [](std::vector<Input>& columns, std::string_view name) {
      return std::find_if(columns.begin(), columns.end(), [&](const Input& input) { return input.name == name; });
   };
   if (node.isNatural) {
      for (const Input& input : lefts)
         if (find(rights, input.name) != rights.end()) tree.usingColumns.push_back(input.name);
   } else {
      for (const ::Node* name : ListOf<>(node.usingClause))
         tree.usingColumns.emplace_back(stringOf(name));
   }
   for (const std::string& name : tree.usingColumns) {
      const auto a = find(lefts, name), b = find(rights, name);
      if (a == lefts.end() || b == rights.end()) giveUp();
      const TermPtr pair[] = {a->term, b->term};
      const SqlType type = commonType(pair);
      TermPtr column;
      const auto fits = [&](const TermPtr& term) { return term->type.named() == type.named(); };
      // One that is computed of both, or cast, is a column of the join itself.
      if (tree.kind == 'i')
         column = fits(a->term) ? a->term : fits(b->term) ? b->term : nullptr;
      else if (tree.kind != 'f')
         column = fits(tree.kind == 'l' ? a->term : b->term) ? (tree.kind == 'l' ? a->term : b->term) : nullptr;
      merged.columns.push_back({name, type});
      merged.joined.push_back(std::move(column));
      merged.fromLeft.push_back(a->number);
      merged.fromRight.push_back(b->number);
      lefts.erase(a);
      rights.erase(b);
   }
   for (auto* side : {&lefts, &rights})
      for (Input& input : *side) {
         merged.columns.push_back({input.name, input.term->type});
         merged.joined.push_back(std::move(input.term));
         merged.fromLeft.push_back(side == &lefts ? input.number : -1);
         merged.fromRight.push_back(side == &lefts ? -1 : input.number);
      }
}

std::unique_ptr<JoinTree> Resolver::join(const ::JoinExpr& node, Query& query, Level& level,
                                         std::vector<Visible>& visible) {
   auto tree = std::make_unique<JoinTree>();
   tree->kind = node.jointype == JOIN_LEFT    ? 'l'
                : node.jointype == JOIN_RIGHT ? 'r'
                : node.jointype == JOIN_FULL  ? 'f'
                                              : 'i';
   // The left side is what the right one may refer to.
   Level inner = level;
   inner.visible.insert(inner.visible.end(), visible.begin(), visible.end());
   std::vector<Visible> left, right;
   tree->left = from(node.larg, query, inner, left);
   Level afterLeft = inner;
   afterLeft.visible.insert(afterLeft.visible.end(), left.begin(), left.end());
   tree->right = from(node.rarg, query, afterLeft, right);
   auto source = std::make_unique<Source>();
   source->kind = SourceKind::Join;
   source->name = "unnamed_join";
   mergeColumns(node, *tree, *source, left, right);
   if (node.quals) {
      Level both = level;
      both.visible = left;
      both.visible.insert(both.visible.end(), right.begin(), right.end());
      tree->condition = condition(node.quals, both);
   }
   tree->source = source.get();
   query.sources.push_back(std::move(source));
   applyAlias(*tree->source, node.alias);
   if (node.join_using_alias) {
      tree->usingAlias = node.join_using_alias->aliasname;
      auto alias = std::make_unique<Source>(*tree->source);
      alias->columns.resize(tree->usingColumns.size());
      alias->name = tree->usingAlias;
      alias->alias.clear();
      visible.push_back({alias.get(), true, false});
      aliasesOfUsing_.push_back(std::move(alias));
   }
   if (!node.alias)
      for (auto* side : {&left, &right})
         for (Visible item : *side) {
            item.byColumn = false;
            visible.push_back(item);
         }
   visible.push_back({tree->source, node.alias != nullptr, true});
   return tree;
}

} // namespace ouzel::sql::deparse
