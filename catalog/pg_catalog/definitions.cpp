#include <algorithm>
#include <charconv>

#include "catalog/builtin/extension_classes.hpp"
#include "catalog/object/collation.hpp"
#include "catalog/object/collation_text.hpp"
#include "catalog/object/function.hpp"
#include "catalog/object/regclass_text.hpp"
#include "catalog/pg_catalog/constraint/foreign_key_parts.hpp"
#include "catalog/pg_catalog/functions.hpp"
#include "catalog/pg_catalog/operator_classes.hpp"
#include "common/error/sql_error.hpp"

// The DDL text of objects, as PostgreSQL prints it.

namespace ouzel::catalog {

namespace {

std::string columnList(const Relation& relation, const std::vector<int16_t>& attributes) {
   std::string list;
   for (const int16_t attribute : attributes) {
      const Column* column = relation.column(attribute);
      list += (list.empty() ? "" : ", ") + (column != nullptr ? quoteIdentifier(column->name) : "?");
   }
   return list;
}

std::string_view foreignAction(char action) {
   switch (action) {
   case 'r': return "RESTRICT";
   case 'c': return "CASCADE";
   case 'n': return "SET NULL";
   case 'd': return "SET DEFAULT";
   default: return {};
   }
}

std::string foreignKey(const NameContext& context, const Relation& relation, const Constraint& constraint) {
   const RelationPtr target = context.snapshot.relation(constraint.foreignRelation);
   if (!target) return "FOREIGN KEY (" + columnList(relation, constraint.columns) + ")";
   std::string text = "FOREIGN KEY (" + columnList(relation, constraint.columns) + ") REFERENCES " +
                      displayName(context.snapshot, context.path, *target) + "(" +
                      columnList(*target, constraint.foreignColumns) + ")";
   if (constraint.match == 'f') text += " MATCH FULL";
   if (const auto action = foreignAction(constraint.onUpdate); !action.empty())
      text += " ON UPDATE " + std::string(action);
   if (const auto action = foreignAction(constraint.onDelete); !action.empty())
      text += " ON DELETE " + std::string(action);
   if (!constraint.setColumns.empty()) text += " (" + columnList(relation, constraint.setColumns) + ")";
   return text;
}

/// The text of key column `i` (from 0) of an index: a column's name or an expression.
std::string indexKey(const Relation& table, const IndexDefinition& index, size_t i, const ShowExpression& show) {
   if (index.columns[i] != 0) return columnList(table, {index.columns[i]});
   const ShownExpression shown = show(indexKeyText(table, index, i), table);
   return shown.isCall ? shown.text : "(" + shown.text + ")";
}

/// Whether the collation is that of an expression of the index itself: a column has it, or a text names it.
bool isDerived(const NameContext& context, const Relation& table, const IndexDefinition& index,
               const CollationInfo& collation) {
   const SchemaPtr schema = context.snapshot.schema(collation.schema);
   const auto hasIt = [&](int16_t attribute) {
      const Column* column = table.column(attribute);
      return column != nullptr && column->type.collation == collation.oid;
   };
   const auto namesIt = [&](const std::string& text) {
      return namesCollation(text, schema ? schema->name : "", collation.name);
   };
   return std::any_of(index.reads.begin(), index.reads.end(), hasIt) ||
          std::any_of(index.expressions.begin(), index.expressions.end(), namesIt);
}

/// " COLLATE c opclass" of a key column, where they are not the defaults.
std::string indexCollationAndClass(const NameContext& context, const Relation& relation, const Relation& table,
                                   const IndexDefinition& index, size_t i) {
   std::string text;
   const SqlType& type = relation.columns[i].type;
   const Column* column = table.column(index.columns[i]);
   const TypeInfo* info = builtins().type(type.oid);
   const Oid usual = column != nullptr ? column->type.collation : info != nullptr ? info->collation : invalidOid;
   if (type.collation != usual)
      if (const auto collation = collationInfo(context.snapshot, type.collation);
          collation && (column != nullptr || !isDerived(context, table, index, *collation)))
         text += " COLLATE " + displayName(context.snapshot, context.path, *collation);
   const ExtensionClass* made = i < index.classes.size() ? extensionClass(index.classes[i]) : nullptr;
   const bool isDefault = made && made->isDefault;
   if (i < index.classes.size() && index.classes[i] != invalidOid && !isDefault)
      text += " " + operatorClassName(index.classes[i]);
   return text;
}

std::string indexOrder(uint8_t options) {
   const bool isDescending = (options & 1) != 0, nullsFirst = (options & 2) != 0;
   std::string text = isDescending ? " DESC" : "";
   if (nullsFirst != isDescending) text += nullsFirst ? " NULLS FIRST" : " NULLS LAST";
   return text;
}

std::string qualifiedName(const NameContext& context, const Relation& relation) {
   const SchemaPtr schema = context.snapshot.schema(relation.schema);
   return (schema ? quoteIdentifier(schema->name) + "." : std::string()) + quoteIdentifier(relation.name);
}

/// " WITH (name='value', ...)"; values that are identifiers stand without quotes.
std::string optionList(const std::vector<std::string>& options) {
   std::string text;
   for (const std::string& option : options) {
      const size_t equals = option.find('=');
      const std::string name = option.substr(0, equals), value = option.substr(equals + 1);
      text += (text.empty() ? " WITH (" : ", ") + quoteIdentifier(name) + "=";
      text += quoteIdentifier(value) == value ? value : "'" + value + "'"; // no option has a value with quotes
   }
   return text.empty() ? text : text + ")";
}

std::string exclusionDefinition(const NameContext& context, const Relation& relation, const Constraint& constraint,
                                const ShowExpression& show) {
   const RelationPtr owned = context.snapshot.relation(constraint.index);
   if (!owned || !owned->index) return "EXCLUDE";
   const IndexDefinition& index = *owned->index;
   std::string text = "EXCLUDE USING " + index.method + " (";
   for (size_t i = 0; i < index.columns.size(); ++i) {
      const OperatorInfo* op = builtins().operatorByOid(index.operators.at(i));
      text += (i > 0 ? ", " : "") + indexKey(relation, index, i, show) +
              indexCollationAndClass(context, *owned, relation, index, i);
      if (i < index.options.size()) text += indexOrder(index.options[i]);
      text += " WITH " + (op != nullptr ? std::string(op->name) : "?");
   }
   text += ")";
   if (!index.included.empty()) text += " INCLUDE (" + columnList(relation, index.included) + ")";
   text += optionList(owned->options);
   if (!index.predicate.empty()) text += " WHERE (" + show(index.predicate, relation).text + ")";
   return text;
}

} // namespace

std::string indexKeyText(const Relation& table, const IndexDefinition& index, size_t i) {
   if (index.columns[i] != 0) return columnList(table, {index.columns[i]});
   const auto before = std::count(index.columns.begin(), index.columns.begin() + static_cast<ptrdiff_t>(i), 0);
   return index.expressions.at(static_cast<size_t>(before));
}

std::string withRelationNames(const NameContext& context, std::string_view sql) {
   return replaceRegclasses(sql, [&](Oid oid) { return std::optional(regclassOut(context, oid)); });
}

std::string defaultText(const Column& column, std::string_view node) {
   const std::string text = column.defaultSequence == invalidOid
                                ? column.defaultExpr
                                : "nextval('" + std::to_string(column.defaultSequence) + "'::regclass)";
   const std::string number = std::to_string(column.attribute);
   if (node.empty()) return "{" + number + "} " + text;
   return "{" + std::string(node) + " :column " + number + " :sql " + text + "}";
}

std::pair<std::string_view, const Column*> expressionOf(std::string_view text, const Relation* relation) {
   constexpr std::string_view numberMark = " :column ", textMark = " :sql ";
   int16_t attribute = 0;
   const bool isTree = text.size() > 1 && text[0] == '{' && text[1] >= 'A' && text[1] <= 'Z' && text.ends_with('}');
   const size_t number = isTree ? text.find(numberMark) : std::string_view::npos, sql = text.find(textMark);
   if (number != std::string_view::npos && sql != std::string_view::npos) {
      std::from_chars(text.data() + number + numberMark.size(), text.data() + sql, attribute);
      text.remove_suffix(1);
      return {text.substr(sql + textMark.size()), relation ? relation->column(attribute) : nullptr};
   }
   const size_t end = text.starts_with('{') ? text.find("} ") : std::string_view::npos;
   if (end == std::string_view::npos) return {text, nullptr};
   std::from_chars(text.data() + 1, text.data() + end, attribute);
   return {text.substr(end + 2), relation ? relation->column(attribute) : nullptr};
}

std::optional<std::string> viewDefinition(const NameContext& context, Oid view) {
   const RelationPtr relation = context.snapshot.relation(view);
   if (!relation || relation->definition.empty()) return std::nullopt;
   const std::string sql = withRelationNames(context, relation->definition);
   // PostgreSQL's text starts with a blank and ends with a semicolon; clients remove both.
   return (sql.starts_with(' ') ? sql : " " + sql) + (sql.ends_with(';') ? "" : ";");
}

std::optional<std::string> constraintDefinition(const NameContext& context, Oid oid, const ShowExpression& show) {
   const auto [relation, constraint] = findConstraint(context.snapshot, oid);
   if (!relation) return std::nullopt;
   std::string text;
   switch (constraint->kind) {
   case ConstraintKind::PrimaryKey:
   case ConstraintKind::Unique: {
      const RelationPtr index = context.snapshot.relation(constraint->index);
      const bool nullsEqual = index && index->index && index->index->nullsNotDistinct;
      text = constraint->kind == ConstraintKind::PrimaryKey ? "PRIMARY KEY " : "UNIQUE ";
      text += (nullsEqual ? "NULLS NOT DISTINCT (" : "(") + columnList(*relation, constraint->columns) + ")";
      if (index && index->index && !index->index->included.empty())
         text += " INCLUDE (" + columnList(*relation, index->index->included) + ")";
      break;
   }
   case ConstraintKind::Exclusion: text = exclusionDefinition(context, *relation, *constraint, show); break;
   case ConstraintKind::ForeignKey: text = foreignKey(context, *relation, *constraint); break;
   case ConstraintKind::Check:
      text = "CHECK (" + show(constraint->expression, *relation).text + ")";
      if (constraint->noInherit) text += " NO INHERIT";
      break;
   }
   if (constraint->isDeferrable) text += " DEFERRABLE";
   if (constraint->isInitiallyDeferred) text += " INITIALLY DEFERRED";
   if (!constraint->isValidated) text += " NOT VALID";
   return text;
}

std::optional<std::string> indexDefinition(const NameContext& context, Oid oid, int32_t column, bool pretty,
                                           const ShowExpression& show) {
   const RelationPtr relation = context.snapshot.relation(oid);
   if (!relation || !relation->index) return std::nullopt;
   const IndexDefinition& index = *relation->index;
   const RelationPtr table = context.snapshot.relation(index.table);
   if (!table) return std::nullopt;
   if (column != 0) {
      const size_t keys = index.columns.size();
      if (column < 0 || static_cast<size_t>(column) > keys + index.included.size()) return std::string();
      const size_t number = static_cast<size_t>(column) - 1;
      return number < keys ? indexKey(*table, index, number, show)
                           : columnList(*table, {index.included[number - keys]});
   }
   std::string text = std::string("CREATE ") + (index.isUnique ? "UNIQUE " : "") + "INDEX " +
                      quoteIdentifier(relation->name) + (index.isPartitioned ? " ON ONLY " : " ON ") +
                      (pretty ? displayName(context.snapshot, context.path, *table) : qualifiedName(context, *table)) +
                      " USING " + index.method + " (";
   for (size_t i = 0; i < index.columns.size(); ++i) {
      if (i > 0) text += ", ";
      text += indexKey(*table, index, i, show) + indexCollationAndClass(context, *relation, *table, index, i);
      if (i < index.options.size()) text += indexOrder(index.options[i]);
   }
   text += ")";
   if (!index.included.empty()) text += " INCLUDE (" + columnList(*table, index.included) + ")";
   if (index.nullsNotDistinct) text += " NULLS NOT DISTINCT";
   text += optionList(relation->options);
   if (!index.predicate.empty()) text += " WHERE " + show(index.predicate, *table).text;
   return text;
}

namespace {

constexpr char tableColumn = 't', outputArgument = 'o', inOutArgument = 'b', variadicArgument = 'v';

/// The text of pg_get_function_arguments, or the columns of RETURNS TABLE.
std::string printArguments(const NameContext& context, const FunctionInfo& function, bool tableColumns,
                           const ShowExpression& show) {
   std::vector<Oid> types(function.argTypes.begin(), function.argTypes.end());
   if (!function.allArgTypes.empty()) types.assign(function.allArgTypes.begin(), function.allArgTypes.end());
   if (const FunctionPtr own = context.snapshot.function(function.oid)) // whose types may be domains
      for (size_t i = 0; i < types.size(); ++i)
         types[i] = own->parameters[i].type.named();
   const size_t firstDefault = function.argTypes.size() - function.defaults.size();
   size_t orderByAt = SIZE_MAX;
   const auto aggregate = aggregateKind(context.snapshot, function.oid);
   if (!tableColumns && aggregate && aggregate->first != AggregateKind::Normal)
      orderByAt = static_cast<size_t>(aggregate->second);
   std::string text;
   size_t printed = 0, inputs = 0;
   bool repeatedLast = false;
   for (size_t i = 0; i < types.size(); ++i) {
      const char mode = function.argModes.empty() ? 'i' : function.argModes[i];
      const bool isInput = mode != outputArgument && mode != tableColumn;
      if (isInput && !repeatedLast) ++inputs;
      if ((mode == tableColumn) != tableColumns) continue;
      if (printed == orderByAt)
         text += printed > 0 ? " ORDER BY " : "ORDER BY ";
      else if (printed > 0)
         text += ", ";
      if (mode == 'i' && function.kind == FunctionKind::Procedure) text += "IN ";
      if (mode == outputArgument) text += "OUT ";
      // PostgreSQL prints INOUT and VARIADIC; an input argument has no word.
      if (mode == inOutArgument) text += "INOUT ";
      if (mode == variadicArgument) text += "VARIADIC ";
      if (i < function.argNames.size() && !function.argNames[i].empty())
         text += quoteIdentifier(function.argNames[i]) + " ";
      text += formatType(context, types[i], std::nullopt);
      if (show && isInput && inputs > firstDefault) {
         const std::string_view value = function.defaults[inputs - 1 - firstDefault];
         text += " DEFAULT " + (function.oid < firstUserOid ? std::string(value) : show(value, Relation()).text);
      }
      ++printed;
      // A variadic ordered-set aggregate shows its last argument on both sides of ORDER BY.
      if (printed == orderByAt && i + 1 == types.size() && !repeatedLast) {
         repeatedLast = true;
         --i;
      }
   }
   return text;
}

} // namespace

std::optional<std::string> functionArguments(const NameContext& context, Oid oid, const ShowExpression& show) {
   const FunctionInfo* function = functionInfo(context.snapshot, oid);
   if (function == nullptr) return std::nullopt;
   return printArguments(context, *function, false, show);
}

std::optional<std::string> argumentDefault(const NameContext& context, Oid oid, int32_t number,
                                           const ShowExpression& show) {
   const FunctionInfo* function = functionInfo(context.snapshot, oid);
   const auto isInput = [&](size_t i) {
      return function->argModes.empty() ||
             (function->argModes[i] != outputArgument && function->argModes[i] != tableColumn);
   };
   const size_t count = function == nullptr             ? 0
                        : function->allArgTypes.empty() ? function->argTypes.size()
                                                        : function->allArgTypes.size();
   if (number < 1 || static_cast<size_t>(number) > count || !isInput(static_cast<size_t>(number - 1)))
      return std::nullopt;
   size_t input = 0; // among the input arguments, from 0
   for (size_t i = 0; i + 1 < static_cast<size_t>(number); ++i)
      input += isInput(i) ? 1 : 0;
   const size_t firstDefault = function->argTypes.size() - function->defaults.size();
   if (input < firstDefault) return std::nullopt;
   const std::string_view value = function->defaults[input - firstDefault];
   return oid < firstUserOid ? std::string(value) : show(value, Relation()).text;
}

std::optional<std::string> functionResult(const NameContext& context, Oid oid) {
   const FunctionInfo* function = functionInfo(context.snapshot, oid);
   if (function == nullptr || function->kind == FunctionKind::Procedure) return std::nullopt;
   if (function->argModes.find(tableColumn) != std::string_view::npos)
      return "TABLE(" + printArguments(context, *function, true, nullptr) + ")";
   const FunctionPtr own = context.snapshot.function(oid);
   return (function->returnsSet ? "SETOF " : "") +
          formatType(context, own ? own->returnType.named() : function->returnType, std::nullopt);
}

std::optional<std::string> serialSequence(const NameContext& context, std::string_view table,
                                          std::string_view columnName) {
   const RelationPtr relation = relationNamed(context, table);
   const Column& column = requireColumn(*relation, columnName);
   for (const RelationPtr& candidate : context.snapshot.relations())
      if (candidate->sequence && candidate->sequence->ownerRelation == relation->oid &&
          candidate->sequence->ownerAttribute == column.attribute)
         return qualifiedName(context, *candidate);
   return std::nullopt;
}

} // namespace ouzel::catalog
