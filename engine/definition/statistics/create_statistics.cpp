#include <algorithm>

#include "catalog/builtin/builtin.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/alter_target.hpp"
#include "engine/definition/lock_found.hpp"
#include "engine/definition/new_relation.hpp"
#include "engine/definition/statistics/statistics.hpp"
#include "engine/query/source_range.hpp"
#include "sql/algebra/expr.hpp"
#include "sql/bind/stored_expression.hpp"
#include "sql/parse/node_access.hpp"

// CREATE STATISTICS, and statistics that a table takes over from another one.

namespace ouzel::engine {

using catalog::RelationKind;
using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::stringOf;

namespace {

constexpr size_t dimensionsMax = 8; // PostgreSQL's STATS_MAX_DIMENSIONS

bool isOrdered(const SqlType& type) {
   return catalog::builtins().comparisonOperator(type.oid, catalog::BtreeStrategy::Less) != nullptr;
}

[[noreturn]] void refuse(SqlState state, const std::string& message) {
   throw SqlError(state, message);
}

/// The table of the statistics. Throws 42809, 42501 and what finding it throws.
catalog::RelationPtr requireMeasured(CommandContext& context, const ::RangeVar& name) {
   SessionCore& core = context.core;
   const auto table = requireTarget(context, core.searchPath(), name);
   if (table->relationKind == RelationKind::Virtual)
      refuse(sqlstate::insufficientPrivilege, "permission denied: \"" + table->name + "\" is a system catalog");
   if (table->relationKind != RelationKind::Table && table->relationKind != RelationKind::MaterializedView)
      throw SqlError(sqlstate::wrongObjectType, "cannot define statistics for relation \"" + table->name + "\"")
          .detail(unsupportedFor(*table));
   requireOwner(core, *table);
   return table;
}

/// Reads the elements of one CREATE STATISTICS.
class Definition {
public:
   Definition(CommandContext& context, const ::CreateStatsStmt& statement, const catalog::Relation& table)
      : context_(context), statement_(statement), table_(table) {}

   /// Binds the expressions. Throws what is wrong with them.
   void readExpressions();
   /// Fills columns, expressions and kinds.
   void finish(catalog::Statistics& draft);

private:
   struct Expression {
      sql::BoundExpression bound;
      std::string text;
      bool readsRow;
      int16_t column; ///< it is no more than this column; 0: it is more
   };
   void addColumn(const catalog::Column& column);
   void addExpression(const Expression& expression);
   void readKinds();

   CommandContext& context_;
   const ::CreateStatsStmt& statement_;
   const catalog::Relation& table_;
   std::vector<Expression> read_;
   std::vector<const Expression*> expressions_;
   std::vector<int16_t> columns_;
   std::string kinds_;
};

void Definition::readExpressions() {
   const std::string_view text = context_.source().text();
   size_t at = afterKeyword(text, context_.statement.offset, "on");
   const size_t end = afterKeyword(text, at, "from") - std::string_view("from").size();
   const catalog::SearchPath path = context_.core.searchPath();
   for (const ::StatsElem* element : ListOf<::StatsElem>(statement_.exprs)) {
      const std::string_view part = expressionText(text, at, end);
      at = static_cast<size_t>(part.data() - text.data()) + part.size() + 1; // behind the comma
      if (!element->expr) continue;
      const sql::BindContext binding = context_.core.bindContext(path, &context_.source());
      Expression expression;
      expression.bound =
          sql::bindExpression(*element->expr, sql::ExpressionUse::Statistics, &table_, std::nullopt, {}, binding);
      sql::StoredExpression stored =
          sql::storedExpression(*element->expr, sql::ExpressionUse::Statistics, &table_, std::nullopt, binding,
                                static_cast<uint32_t>(part.data() - text.data()), static_cast<uint32_t>(part.size()));
      expression.text = std::move(stored.text);
      expression.readsRow = stored.readsRow;
      const bool isColumn = expression.bound.expr->kind == sql::ExprKind::Column && !stored.readsRow;
      expression.column = isColumn && !expression.bound.inputs.empty() ? expression.bound.inputs[0].attribute : 0;
      read_.push_back(std::move(expression));
   }
}

void Definition::addColumn(const catalog::Column& column) {
   if (!isOrdered(column.type))
      refuse(sqlstate::featureNotSupported, "column \"" + column.name +
                                                "\" cannot be used in statistics because its type " +
                                                formatType(column.type) + " has no default btree operator class");
   columns_.push_back(column.attribute);
}

void Definition::addExpression(const Expression& expression) {
   const SqlType& type = expression.bound.expr->type;
   if (expression.readsRow)
      refuse(sqlstate::featureNotSupported, "statistics creation on system columns is not supported");
   if (ListOf<>(statement_.exprs).size() > 1 && !isOrdered(type))
      refuse(sqlstate::featureNotSupported, "expression cannot be used in multivariate statistics because its type " +
                                                formatType({type.oid, -1, invalidOid}) +
                                                " has no default btree operator class");
   expressions_.push_back(&expression);
}

void Definition::readKinds() {
   const ListOf<> kinds(statement_.stat_types);
   const bool isSingle = ListOf<>(statement_.exprs).size() == 1 && expressions_.size() == 1;
   if (isSingle && kinds.size() > 0)
      refuse(sqlstate::featureNotSupported,
             "when building statistics on a single expression, statistics kinds may not be specified");
   constexpr std::pair<std::string_view, char> known[] = {{"ndistinct", 'd'}, {"dependencies", 'f'}, {"mcv", 'm'}};
   std::string wanted;
   for (const ::Node* kind : kinds) {
      const auto found =
          std::find_if(std::begin(known), std::end(known), [&](const auto& k) { return k.first == stringOf(kind); });
      if (found == std::end(known))
         refuse(sqlstate::syntaxError, "unrecognized statistics kind \"" + std::string(stringOf(kind)) + "\"");
      wanted.push_back(found->second);
   }
   for (const auto& [name, letter] : known)
      if (kinds.size() == 0 ? !isSingle : wanted.find(letter) != std::string::npos) kinds_.push_back(letter);
   if (!expressions_.empty()) kinds_.push_back('e');
}

void Definition::finish(catalog::Statistics& draft) {
   const ListOf<::StatsElem> elements(statement_.exprs);
   if (elements.size() > dimensionsMax)
      refuse(sqlstate::tooManyColumns,
             "cannot have more than " + std::to_string(dimensionsMax) + " columns in statistics");
   size_t next = 0;
   for (const ::StatsElem* element : elements) {
      if (element->expr) {
         const Expression& expression = read_[next++];
         expression.column ? addColumn(*table_.column(expression.column)) : addExpression(expression);
         continue;
      }
      constexpr std::string_view system[] = {"ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"};
      const catalog::Column* column = table_.findColumn(element->name);
      if (!column && std::find(std::begin(system), std::end(system), element->name) != std::end(system))
         refuse(sqlstate::featureNotSupported, "statistics creation on system columns is not supported");
      if (!column) refuse(sqlstate::undefinedColumn, "column \"" + std::string(element->name) + "\" does not exist");
      addColumn(*column);
   }
   readKinds();
   if (elements.size() < 2 && expressions_.size() != 1)
      refuse(sqlstate::invalidObjectDefinition, "extended statistics require at least 2 columns");
   std::sort(columns_.begin(), columns_.end());
   if (std::adjacent_find(columns_.begin(), columns_.end()) != columns_.end())
      refuse(sqlstate::duplicateColumn, "duplicate column name in statistics definition");
   for (size_t i = 0; i < expressions_.size(); ++i)
      for (size_t j = 0; j < i; ++j)
         if (sql::equal(*expressions_[i]->bound.expr, *expressions_[j]->bound.expr))
            refuse(sqlstate::duplicateColumn, "duplicate expression in statistics definition");
   draft.columns = columns_;
   draft.kinds = kinds_;
   for (const Expression* expression : expressions_) {
      draft.expressions.push_back(expression->text);
      for (const sql::GetColumn& input : expression->bound.inputs)
         if (std::find(draft.columnsRead.begin(), draft.columnsRead.end(), input.attribute) == draft.columnsRead.end())
            draft.columnsRead.push_back(input.attribute);
   }
}

catalog::QualifiedName nameOf(const ::List* list) {
   std::vector<std::string> parts;
   for (const ::Node* part : ListOf<>(list))
      parts.emplace_back(stringOf(part));
   return catalog::toQualifiedName(std::move(parts));
}

Oid schemaFor(CommandContext& context, const catalog::QualifiedName& name) {
   SessionCore& core = context.core;
   if (name.schema == "pg_temp") {
      ::RangeVar temporary{};
      temporary.type = T_RangeVar;
      temporary.schemaname = const_cast<char*>("pg_temp");
      temporary.relname = const_cast<char*>(name.name.c_str());
      return newRelation(context, temporary).schema;
   }
   const Oid schema = catalog::creationSchema(core.transaction.catalog(), core.searchPath(), name);
   if (const auto found = core.transaction.catalog().schema(schema))
      requirePrivilege(core, *found, catalog::privilege::create);
   return schema;
}

} // namespace

std::string createStatistics(CommandContext& context, const ::CreateStatsStmt& statement) {
   SessionCore& core = context.core;
   const std::string tag = "CREATE STATISTICS";
   requireWritable(core, tag);
   const ListOf<> relations(statement.relations);
   if (!isNode(relations[0], T_RangeVar))
      refuse(sqlstate::featureNotSupported, "CREATE STATISTICS only supports relation names in the FROM clause");
   const auto& name = *as<::RangeVar>(relations[0]);
   const auto table = lockFound(core, LockMode::ShareUpdateExclusive, false, [&] {
      return requireMeasured(context, name); // its expressions are read below, over the table as it is once locked
   });
   Definition definition(context, statement, *table);
   definition.readExpressions();
   if (relations.size() > 1)
      refuse(sqlstate::featureNotSupported, "only a single relation is allowed in CREATE STATISTICS");
   catalog::Statistics draft;
   const catalog::QualifiedName wanted = nameOf(statement.defnames);
   draft.schema = schemaFor(context, wanted);
   draft.name = wanted.name;
   draft.table = table->oid;
   if (core.transaction.catalog().findStatistics(draft.schema, draft.name)) {
      const std::string message = "statistics object \"" + draft.name + "\" already exists";
      if (!statement.if_not_exists) refuse(sqlstate::duplicateObject, message);
      core.notice(message + ", skipping", {}, sqlstate::duplicateObject);
      return tag;
   }
   definition.finish(draft);
   core.transaction.editor().createStatistics(std::move(draft));
   return tag;
}

void copyStatistics(SessionCore& core, const catalog::Relation& source, const catalog::Relation& table,
                    const std::vector<int16_t>& numbers, bool withComments) {
   catalog::CatalogEditor& editor = core.transaction.editor();
   const catalog::SearchPath path = core.searchPath();
   const auto renumber = [&](std::vector<int16_t>& attributes) {
      for (int16_t& attribute : attributes)
         attribute = numbers[static_cast<size_t>(attribute)];
   };
   for (const catalog::StatisticsPtr& statistics : editor.snapshot().statisticsOf(source.oid)) {
      catalog::Statistics draft = *statistics;
      draft.oid = invalidOid;
      draft.name.clear();
      draft.owner = core.role();
      draft.schema = table.schema;
      draft.table = table.oid;
      draft.target = -1;
      draft.data.clear();
      renumber(draft.columns);
      std::sort(draft.columns.begin(), draft.columns.end());
      renumber(draft.columnsRead);
      for (std::string& expression : draft.expressions)
         expression =
             sql::storedAgain(expression, sql::ExpressionUse::Statistics, source, core.bindContext(path, nullptr)).text;
      const Oid copy = editor.createStatistics(std::move(draft));
      const auto comment = editor.snapshot().comment(catalog::class_oid::pgStatisticExt, statistics->oid);
      if (withComments && comment) editor.setComment(catalog::class_oid::pgStatisticExt, copy, 0, *comment);
   }
}

void retypeStatistics(SessionCore& core, const catalog::Relation& table, int16_t attribute) {
   const catalog::SearchPath path = core.searchPath();
   for (const catalog::StatisticsPtr& statistics : core.transaction.editor().snapshot().statisticsOf(table.oid)) {
      if (!statistics->reads(attribute)) continue;
      if (const catalog::Column& column = *table.column(attribute);
          std::find(statistics->columns.begin(), statistics->columns.end(), attribute) != statistics->columns.end() &&
          !isOrdered(column.type))
         refuse(sqlstate::featureNotSupported, "column \"" + column.name +
                                                   "\" cannot be used in statistics because its type " +
                                                   formatType(column.type) + " has no default btree operator class");
      for (const std::string& expression : statistics->expressions)
         sql::bindExpression(*sql::ParsedScript::parseExpression(expression).expression(),
                             sql::ExpressionUse::Statistics, &table, std::nullopt, {}, core.bindContext(path, nullptr));
   }
   core.transaction.editor().forgetStatistics(table.oid, attribute);
}

} // namespace ouzel::engine
