#include "engine/definition/index/index_draft.hpp"

#include <algorithm>

#include "catalog/object/collation.hpp"
#include "catalog/pg_catalog/functions.hpp"
#include "catalog/pg_catalog/operator_classes.hpp"
#include "engine/definition/new_relation.hpp"
#include "engine/query/source_range.hpp"
#include "engine/setting/relation_options.hpp"
#include "sql/parse/node_access.hpp"

// The columns of a new index: of CREATE INDEX, and of exclusion constraints.

namespace ouzel::engine {

using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::stringOf;

namespace {

constexpr size_t columnsMax = 32;

[[noreturn]] void throwUnsupported(const std::string& message) {
   throw SqlError(sqlstate::featureNotSupported, message);
}

/// The text without parentheses around all of it.
std::string_view unwrapped(std::string_view text) {
   while (text.starts_with('(')) {
      const std::string_view inner = parenthesized(text, 0);
      if (inner.size() + 2 != text.size()) break;
      text = expressionText(inner, 0, inner.size());
   }
   return text;
}

} // namespace

bool isPrintedBare(const ::Node* node) {
   const bool isNullIf = isNode(node, T_A_Expr) && sql::as<::A_Expr>(node)->kind == AEXPR_NULLIF;
   return isNullIf || isNode(node, T_FuncCall) || isNode(node, T_CoalesceExpr) || isNode(node, T_MinMaxExpr) ||
          isNode(node, T_SQLValueFunction);
}

std::string_view expressionAt(std::string_view element) {
   const std::string_view inner = parenthesized(element, 0);
   const auto end = static_cast<size_t>(inner.data() + inner.size() - element.data()) + 1;
   return unwrapped(element.substr(0, end));
}

IndexTexts indexTexts(std::string_view text, size_t from) {
   IndexTexts texts;
   const std::string_view list = parenthesized(text, from);
   const auto begin = static_cast<size_t>(list.data() - text.data());
   texts.end = begin + list.size() + 1;
   for (size_t at = begin; at < texts.end;) {
      const std::string_view element = expressionText(text, at, texts.end - 1);
      texts.elements.push_back(element);
      at = nextToken(text, static_cast<size_t>(element.data() + element.size() - text.data())).end;
   }
   return texts;
}

IndexDraft::IndexDraft(CommandContext& context, const catalog::Relation& table, std::string method)
   : context_(context), table_(table) {
   indexOptionOwner(method); // throws for one that there is not
   draft.relationKind = catalog::RelationKind::Index;
   draft.schema = table.schema;
   draft.database = table.database;
   draft.persistence = table.persistence;
   draft.index.emplace();
   draft.index->table = table.oid;
   draft.index->method = std::move(method);
   draft.index->isPartitioned = table.partitionKey.has_value();
}

void IndexDraft::bindExpression(const ::IndexElem& element) {
   if (element.name) return;
   const catalog::SearchPath path = context_.core.searchPath();
   sql::bindExpression(*element.expr, sql::ExpressionUse::IndexExpression, &table_, std::nullopt, {},
                       context_.core.bindContext(path, &context_.source()));
}

void IndexDraft::requireColumns(size_t keys, size_t included) const {
   const std::string& method = draft.index->method;
   if (keys + included > columnsMax)
      throw SqlError(sqlstate::tooManyColumns,
                     "cannot use more than " + std::to_string(columnsMax) + " columns in an index");
   if (included > 0 && method != "btree" && method != "gist" && method != "spgist")
      throwUnsupported("access method \"" + method + "\" does not support included columns");
   if (keys > 1 && (method == "hash" || method == "spgist"))
      throwUnsupported("access method \"" + method + "\" does not support multicolumn indexes");
}

void IndexDraft::requireImmutable(const sql::BoundExpression& bound, const char* what) {
   if (!isImmutable(*bound.expr) || bound.callsMutable)
      throw SqlError(sqlstate::invalidObjectDefinition,
                     "functions in index " + std::string(what) + " must be marked IMMUTABLE");
   for (const sql::GetColumn& input : bound.inputs)
      if (std::find(index().reads.begin(), index().reads.end(), input.attribute) == index().reads.end())
         index().reads.push_back(input.attribute);
}

void IndexDraft::setPredicate(const ::Node& predicate, std::string_view text) {
   const catalog::SearchPath path = context_.core.searchPath();
   const auto bound = sql::bindExpression(predicate, sql::ExpressionUse::IndexPredicate, &table_, std::nullopt, {},
                                          context_.core.bindContext(path, &context_.source()));
   requireImmutable(bound, "predicate");
   std::string stored =
       storedText(context_, predicate, sql::ExpressionUse::IndexPredicate, &table_, std::nullopt, unwrapped(text));
   const bool isBare = isPrintedBare(&predicate) || isNode(&predicate, T_ColumnRef) || isNode(&predicate, T_CaseExpr);
   index().predicate = isBare ? std::move(stored) : "(" + stored + ")";
}

catalog::Column IndexDraft::columnOf(const catalog::Column& column) {
   catalog::Column copy = column;
   copy.notNull = false;
   copy.dropDefault();
   copy.identity = copy.generated = '\0';
   copy.acl = {};
   copy.parentCount = 0;
   copy.isLocal = true;
   return copy;
}

catalog::Column IndexDraft::expressionColumn(const ::IndexElem& element, std::string_view text) {
   const catalog::SearchPath path = context_.core.searchPath();
   const auto bound = sql::bindExpression(*element.expr, sql::ExpressionUse::IndexExpression, &table_, std::nullopt, {},
                                          context_.core.bindContext(path, &context_.source()));
   requireImmutable(bound, "expression");
   std::string stored = storedText(context_, *element.expr, sql::ExpressionUse::IndexExpression, &table_, std::nullopt,
                                   expressionAt(text));
   index().expressions.push_back(isPrintedBare(element.expr) ? std::move(stored) : "(" + stored + ")");
   catalog::Column column;
   column.name =
       element.indexcolname ? element.indexcolname : sql::outputName(element.expr, context_.core.transaction.catalog());
   if (column.name == "?column?") column.name = "expr";
   column.type = bound.expr->type;
   const catalog::TypeInfo* type = catalog::builtins().type(column.type.oid);
   if (type && type->isPseudo())
      throw SqlError(sqlstate::invalidTableDefinition,
                     "column \"" + column.name + "\" has pseudo-type " + formatType({type->oid, -1, invalidOid}));
   return column;
}

void IndexDraft::setCollation(const ::IndexElem& element, catalog::Column& column) const {
   if (element.collation)
      column.type = sql::collated(column.type, element.collation, context_.core.transaction.catalog(),
                                  context_.core.searchPath(), 0);
}

void IndexDraft::setClass(Oid named) {
   index().classes.resize(index().columns.size(), invalidOid); // of this column, and of those before it
   index().classes.back() = named;
}

void IndexDraft::setClass(const ::IndexElem& element, const SqlType& type) {
   const std::string& method = index().method;
   const Oid methodOid = catalog::accessMethod(method);
   const std::string name(element.opclass ? stringOf(ListOf<>(element.opclass).back()) : std::string_view());
   const catalog::OperatorClassInfo* made =
       catalog::madeOperatorClass(context_.core.transaction.catalog(), methodOid, name, type.oid);
   if (made && (element.opclass || !catalog::defaultOperatorClass(methodOid, type.oid))) return setClass(made->oid);
   if (!element.opclass) {
      const catalog::OperatorClassInfo* usual = catalog::defaultOperatorClass(methodOid, type.oid);
      const bool isPlain = plainGist_ && method == "gist" && catalog::defaultOperatorClass(type.oid) != invalidOid;
      if (!usual && !isPlain)
         throw SqlError(sqlstate::undefinedObject, "data type " + formatType({type.oid, -1, invalidOid}) +
                                                       " has no default operator class for access method \"" + method +
                                                       '"')
             .hint("You must specify an operator class for the index or define a default operator class for the data "
                   "type.");
      return;
   }
   const Oid named = catalog::namedOperatorClass(method, name, type.oid);
   if (named == invalidOid) return;
   setClass(named);
   if (name.ends_with("_pattern_ops") &&
       catalog::isNondeterministic(context_.core.transaction.catalog(), type.collation))
      throwUnsupported("nondeterministic collations are not supported for operator class \"" + name + "\"");
}

void IndexDraft::setOrder(const ::IndexElem& element) {
   if (!isOrdered()) {
      const std::string lacks = "access method \"" + index().method + "\" does not support ";
      if (element.ordering != SORTBY_DEFAULT) throwUnsupported(lacks + "ASC/DESC options");
      if (element.nulls_ordering != SORTBY_NULLS_DEFAULT) throwUnsupported(lacks + "NULLS FIRST/LAST options");
   }
   const bool descending = element.ordering == SORTBY_DESC;
   const bool nullsFirst =
       element.nulls_ordering == SORTBY_NULLS_FIRST || (element.nulls_ordering == SORTBY_NULLS_DEFAULT && descending);
   index().options.push_back(static_cast<uint8_t>((descending ? 1 : 0) | (nullsFirst ? 2 : 0)));
}

void IndexDraft::addColumn(catalog::Column column) {
   const std::string name = column.name;
   for (uint32_t number = 1; draft.findColumn(column.name); ++number)
      column.name = name + std::to_string(number);
   column.attribute = static_cast<int16_t>(draft.columns.size() + 1);
   draft.columns.push_back(std::move(column));
}

namespace {

const catalog::Column& indexedColumn(const catalog::Relation& table, const std::string& name) {
   const catalog::Column* column = table.findColumn(name);
   if (column) return *column;
   for (const char* system : {"ctid", "xmin", "cmin", "xmax", "cmax", "tableoid"})
      if (name == system) throwUnsupported("index creation on system columns is not supported");
   throw SqlError(sqlstate::undefinedColumn, "column \"" + name + "\" does not exist");
}

} // namespace

namespace {

/// The key, where ((a COLLATE c)) is the column with that collation.
::IndexElem withoutCollate(::IndexElem element) {
   if (element.name || !isNode(element.expr, T_CollateClause)) return element;
   const auto* clause = as<::CollateClause>(element.expr);
   if (!isNode(clause->arg, T_ColumnRef)) return element;
   const ListOf<> fields(as<::ColumnRef>(clause->arg)->fields);
   if (fields.size() != 1 || !isNode(fields[0], T_String)) return element;
   if (!element.collation) element.collation = clause->collname;
   element.name = const_cast<char*>(stringOf(fields[0]).data()); // the parser's, which ends with a zero
   element.expr = nullptr;
   return element;
}

} // namespace

void IndexDraft::addKey(const ::IndexElem& given, std::string_view text) {
   const ::IndexElem element = withoutCollate(given);
   catalog::Column column =
       element.name ? columnOf(indexedColumn(table_, element.name)) : expressionColumn(element, text);
   index().columns.push_back(element.name ? column.attribute : int16_t{0});
   setCollation(element, column);
   if (!element.name && column.type.collation == sql::conflictingCollation)
      throw SqlError(sqlstate::indeterminateCollation,
                     "could not determine which collation to use for index expression")
          .hint("Use the COLLATE clause to set the collation explicitly.");
   setClass(element, column.type);
   setOrder(element);
   addColumn(std::move(column));
}

void IndexDraft::addIncluded(const ::IndexElem& element) {
   if (!element.name) throwUnsupported("expressions are not supported in included columns");
   const catalog::Column& column = indexedColumn(table_, element.name);
   const auto refuse = [](const char* what) {
      throw SqlError(sqlstate::invalidObjectDefinition, std::string("including column does not support ") + what);
   };
   if (element.collation) refuse("a collation");
   if (element.opclass) refuse("an operator class");
   if (element.ordering != SORTBY_DEFAULT) refuse("ASC/DESC options");
   if (element.nulls_ordering != SORTBY_NULLS_DEFAULT) refuse("NULLS FIRST/LAST options");
   addIncluded(column);
}

void IndexDraft::addIncluded(const catalog::Column& included) {
   catalog::Column column = columnOf(included);
   index().included.push_back(column.attribute);
   column.type.collation = invalidOid;
   addColumn(std::move(column));
}

std::vector<int16_t> includedColumns(const catalog::Relation& table, const ::Constraint& key, uint32_t position) {
   std::vector<int16_t> columns;
   for (const ::Node* name : ListOf<>(key.including)) {
      const auto found = std::find_if(table.columns.begin(), table.columns.end(), [&](const catalog::Column& column) {
         return column.name == stringOf(name) && !column.isDropped;
      });
      if (found == table.columns.end())
         throw SqlError(sqlstate::undefinedColumn,
                        "column \"" + std::string(stringOf(name)) + "\" named in key does not exist")
             .at(position);
      columns.push_back(static_cast<int16_t>(found - table.columns.begin() + 1));
   }
   return columns;
}

void followType(SessionCore& core, const catalog::Relation& table, int16_t attribute, const SqlType& before) {
   catalog::CatalogEditor& editor = core.transaction.editor();
   const catalog::SearchPath path = core.searchPath();
   for (const catalog::RelationPtr& index : editor.snapshot().indexesOf(table.oid)) {
      const catalog::IndexDefinition& definition = *index->index;
      if (!definition.has(attribute)) continue;
      catalog::Relation changed = *index;
      const auto bind = [&](const std::string& text, sql::ExpressionUse use) {
         const auto script = sql::ParsedScript::parseExpression(text);
         return sql::bindExpression(*script.expression(), use, &table, std::nullopt, {},
                                    core.bindContext(path, nullptr))
             .expr->type;
      };
      for (size_t i = 0, expression = 0; i < definition.columns.size(); ++i) {
         SqlType& type = changed.columns[i].type;
         if (definition.columns[i] == attribute) {
            const SqlType after = table.column(attribute)->type;
            const Oid collation = type.collation;
            type = after;
            if (collation != before.collation && after.collation != invalidOid) type.collation = collation;
         } else if (definition.columns[i] == 0) {
            type = bind(definition.expressions.at(expression), sql::ExpressionUse::IndexExpression);
         }
         expression += definition.columns[i] == 0;
      }
      if (!definition.predicate.empty()) bind(definition.predicate, sql::ExpressionUse::IndexPredicate);
      for (size_t i = 0; i < definition.included.size(); ++i)
         if (definition.included[i] == attribute) {
            SqlType& type = changed.columns[definition.columns.size() + i].type;
            type = table.column(attribute)->type;
            type.collation = invalidOid;
         }
      editor.replaceRelation(std::move(changed));
   }
}

} // namespace ouzel::engine
