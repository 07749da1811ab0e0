#include "sql/bind/query/xml_table.hpp"

#include <algorithm>

#include "sql/algebra/build.hpp"
#include "sql/bind/binder.hpp"
#include "sql/bind/expression/array.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/query/from.hpp"
#include "sql/bind/state/positions.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/type_rules.hpp"

// XMLTABLE becomes a call of ouzel_xmltable, which gets what the syntax says as arguments. The letters of its columns
// are those of executor/function/table/table_function_xml.cpp.

namespace ouzel::sql {

namespace {

constexpr const char* construct = "XMLTABLE";

ExprPtr bindAs(BindState& state, Scope& scope, const ::Node* node, Oid type) {
   return coerceToType(state, bindExpr(state, scope, node), type, construct);
}

ExprPtr textConstant(std::string_view text) {
   return makeConstant(plainType(oid::text), Value::string(std::string(text)));
}

/// Prefixes and addresses in turn. The default namespace has no prefix.
ExprPtr bindNamespaces(BindState& state, Scope& scope, const ::List* list, uint32_t position) {
   std::vector<ExprPtr> pairs;
   std::vector<std::string_view> seen;
   for (const auto* target : ListOf<ResTarget>(list)) {
      const std::string_view prefix = textOf(target->name);
      auto address = bindAs(state, scope, target->val, oid::text);
      if (std::find(seen.begin(), seen.end(), prefix) != seen.end())
         throw SqlError(sqlstate::syntaxError, prefix.empty()
                                                   ? std::string("only one default namespace is allowed")
                                                   : "namespace name \"" + std::string(prefix) + "\" is not unique")
             .at(state.at(target->location));
      seen.push_back(prefix);
      pairs.push_back(target->name ? textConstant(prefix) : makeNull(plainType(oid::text)));
      pairs.push_back(std::move(address));
   }
   return makeArrayExpr(std::move(pairs), oid::textArray, position);
}

class Columns {
public:
   Columns(BindState& state, Scope& scope) : state_(state), scope_(scope) {}

   void add(const ::RangeTableFuncCol& node) {
      const std::string name = node.colname;
      const uint32_t position = state_.at(node.location);
      const SqlType type = node.for_ordinality ? plainType(oid::int4) : typeOf(node, position);
      if (node.for_ordinality) {
         if (letters.find('o') != std::string::npos)
            throw SqlError(sqlstate::syntaxError, "only one FOR ORDINALITY column is allowed").at(position);
         letters.push_back('o');
      } else {
         letters.push_back(node.is_not_null ? 'n' : 'v');
         args.push_back(node.colexpr ? bindAs(state_, scope_, node.colexpr, oid::text) : textConstant(name));
         args.push_back(node.coldefexpr ? defaultOf(node, type) : makeNull(type));
      }
      if (std::any_of(columns.begin(), columns.end(), [&](const ScopeColumn& other) { return other.name == name; }))
         throw SqlError(sqlstate::syntaxError, "column name \"" + name + "\" is not unique").at(position);
      names.push_back(textConstant(name));
      columns.push_back({name, state_.addColumn(scope_, name, type), type});
   }

   std::string letters;
   std::vector<ExprPtr> names, args;
   std::vector<ScopeColumn> columns;

private:
   SqlType typeOf(const ::RangeTableFuncCol& node, uint32_t position) const {
      if (node.typeName->setof)
         throw SqlError(sqlstate::invalidTableDefinition,
                        "column \"" + std::string(node.colname) + "\" cannot be declared SETOF")
             .at(position);
      return resolveValueType(*node.typeName, state_.context);
   }
   ExprPtr defaultOf(const ::RangeTableFuncCol& node, const SqlType& type) {
      auto value = bindExpr(state_, scope_, node.coldefexpr);
      const Oid source = value->type.oid;
      const uint32_t position = startOf(*value);
      auto cast = tryCoerce(state_, value, type, CoercionContext::Assignment);
      if (!cast)
         throw SqlError(sqlstate::datatypeMismatch, std::string("argument of ") + construct + " must be type " +
                                                        typeName(type.oid) + ", not type " + typeName(source))
             .at(position);
      return cast;
   }

   BindState& state_;
   Scope& scope_;
};

} // namespace

FromItem bindXmlTable(BindState& state, Scope& scope, const ::RangeTableFunc& node) {
   const uint32_t position = state.at(node.location);
   const bool outerLateral = std::exchange(scope.lateralActive, true);
   op::TableFunction rows;
   Columns columns(state, scope);
   {
      const ClauseGuard guard(scope, Clause::FromFunction);
      auto path = bindAs(state, scope, node.rowexpr, oid::text);
      rows.args.push_back(bindAs(state, scope, node.docexpr, oid::xml));
      rows.args.push_back(std::move(path));
      for (const auto* column : ListOf<RangeTableFuncCol>(node.columns))
         columns.add(*column);
      rows.args.push_back(bindNamespaces(state, scope, node.namespaces, position));
   }
   scope.lateralActive = outerLateral;
   rows.args.push_back(textConstant(columns.letters));
   rows.args.push_back(makeArrayExpr(std::move(columns.names), oid::textArray, position));
   std::move(columns.args.begin(), columns.args.end(), std::back_inserter(rows.args));
   rows.function = catalog::builtins().functions("ouzel_xmltable")[0];
   NamespaceItem item;
   item.alias = "xmltable";
   item.columns = std::move(columns.columns);
   for (const ScopeColumn& column : item.columns)
      rows.columns.push_back(column.column);
   FromItem result;
   result.rel = makeRel(RelKind::TableFunction, std::move(rows));
   if (node.alias && ListOf<>(node.alias->colnames).size() > item.columns.size())
      throw SqlError(sqlstate::invalidColumnReference,
                     "XMLTABLE function has " + std::to_string(item.columns.size()) + " columns available but " +
                         std::to_string(ListOf<>(node.alias->colnames).size()) + " columns specified");
   applyAlias(item, node.alias);
   addEntry(scope, item);
   result.items.push_back(std::move(item));
   return result;
}

} // namespace ouzel::sql
