#include <algorithm>
#include <cctype>
#include <charconv>

#include "catalog/object/collation.hpp"
#include "catalog/object/function.hpp"
#include "common/base_type/hstore.hpp"
#include "common/type/text_codec.hpp"
#include "sql/bind/binder.hpp"
#include "sql/deparse/resolver.hpp"

// Expressions: dispatch, names, constants, casts, CASE, rows, arrays, subqueries.

namespace ouzel::sql::deparse {

namespace {

/// The name after COLLATE as SQL needs it here.
std::string collationName(const ::List* name, const BindContext& context) {
   const ListOf<> parts(name);
   catalog::QualifiedName wanted = catalog::QualifiedName::of(std::string(stringOf(parts.back())));
   if (parts.size() > 1) wanted.schema = stringOf(parts[parts.size() - 2]);
   const auto found = catalog::findCollation(context.catalog, context.searchPath, wanted);
   return found ? catalog::displayName(context.catalog, context.searchPath, *found)
                : catalog::quoteIdentifier(wanted.name);
}

} // namespace

TermPtr Resolver::condition(const ::Node* node, Level& level) {
   return cast(term(node, level), booleanType, CoercionContext::Assignment, Form::Implicit);
}

TermPtr Resolver::term(const ::Node* node, Level& level) {
   const DepthGuard guard(state_);
   const auto each = [&](const ::List* list) {
      std::vector<TermPtr> terms;
      for (const ::Node* item : ListOf<>(list))
         terms.push_back(term(item, level));
      return terms;
   };
   const auto united = [&](TermKind kind, const ::List* list) {
      auto terms = each(list);
      const SqlType type = commonType(terms);
      castAll(terms, type);
      return makeTerm(kind, type, std::move(terms));
   };
   switch (node->type) {
   case T_ColumnRef: return columnRef(*as<ColumnRef>(node), level);
   case T_ParamRef: return parameter(static_cast<size_t>(as<ParamRef>(node)->number));
   case T_A_Const: return constant(*as<A_Const>(node));
   case T_A_Indirection: return indirection(*as<A_Indirection>(node), level);
   case T_A_ArrayExpr: return array(*as<A_ArrayExpr>(node), level, nullptr);
   case T_TypeCast: return typeCast(*as<TypeCast>(node), level);
   case T_CollateClause: {
      const auto* clause = as<CollateClause>(node);
      auto result = term(clause->arg, level); // an unknown literal stays one, as in PostgreSQL
      result = makeTerm(TermKind::Collate, result->type, {result});
      result->name = collationName(clause->collname, context_);
      return result;
   }
   case T_A_Expr: return aExpr(*as<A_Expr>(node), level);
   case T_BoolExpr: {
      const auto* expr = as<BoolExpr>(node);
      std::vector<TermPtr> args;
      for (const ::Node* arg : ListOf<>(expr->args))
         args.push_back(condition(arg, level));
      const auto kind = expr->boolop == AND_EXPR  ? TermKind::And
                        : expr->boolop == OR_EXPR ? TermKind::Or
                                                  : TermKind::Not;
      return makeTerm(kind, booleanType, std::move(args));
   }
   case T_FuncCall: return call(*as<FuncCall>(node), level);
   case T_GroupingFunc: return makeTerm(TermKind::Grouping, plainType(oid::int4), each(as<GroupingFunc>(node)->args));
   case T_SubLink: return subLink(*as<SubLink>(node), level);
   case T_CaseExpr: return caseTerm(*as<CaseExpr>(node), level);
   case T_RowExpr: return row(*as<RowExpr>(node), level);
   case T_CoalesceExpr: return united(TermKind::Coalesce, as<CoalesceExpr>(node)->args);
   case T_MinMaxExpr: {
      const auto* expr = as<MinMaxExpr>(node);
      return united(expr->op == IS_GREATEST ? TermKind::Greatest : TermKind::Least, expr->args);
   }
   case T_SQLValueFunction: return sqlValue(*as<SQLValueFunction>(node));
   case T_NullTest: {
      const auto* test = as<NullTest>(node);
      auto result =
          makeTerm(TermKind::NullTest, booleanType, {term(reinterpret_cast<const ::Node*>(test->arg), level)});
      result->isNegated = test->nulltesttype == IS_NOT_NULL;
      return result;
   }
   case T_BooleanTest: {
      static constexpr const char* names[] = {"IS TRUE",      "IS NOT TRUE", "IS FALSE",
                                              "IS NOT FALSE", "IS UNKNOWN",  "IS NOT UNKNOWN"};
      const auto* test = as<BooleanTest>(node);
      auto result =
          makeTerm(TermKind::BoolTest, booleanType, {condition(reinterpret_cast<const ::Node*>(test->arg), level)});
      result->name = names[test->booltesttype];
      return result;
   }
   case T_NamedArgExpr: {
      const auto* arg = as<NamedArgExpr>(node);
      auto result = term(reinterpret_cast<const ::Node*>(arg->arg), level);
      result = makeTerm(TermKind::NamedArg, result->type, {result});
      result->name = arg->name;
      return result;
   }
   case T_XmlExpr: return xml(*as<XmlExpr>(node), level);
   case T_XmlSerialize: return xmlSerialize(*as<XmlSerialize>(node), level);
   case T_SetToDefault: return makeTerm(TermKind::Default, {oid::unknown, -1, invalidOid});
   default: giveUp();
   }
}

// ---- names ----

TermPtr Resolver::wholeRow(Source& source) {
   const Oid type = source.relation && source.kind != SourceKind::Function ? source.relation->rowType : oid::record;
   auto result = makeTerm(TermKind::Column, plainType(type));
   result->source = &source;
   result->number = -1;
   return result;
}

TermPtr Resolver::columnAt(Source& source, size_t number) {
   if (number < source.joined.size() && source.joined[number] && source.alias.empty()) return source.joined[number];
   auto result = makeTerm(TermKind::Column, source.columns[number].type);
   result->source = &source;
   result->number = static_cast<int32_t>(number);
   return result;
}

TermPtr Resolver::columnIn(Source& source, std::string_view name) {
   for (size_t i = 0; i < source.columns.size(); ++i)
      if (source.columnName(i) == name) return columnAt(source, i);
   static constexpr std::pair<std::string_view, Oid> system[] = {{"ctid", oid::tid}, {"xmin", oid::xid},
                                                                 {"cmin", oid::cid}, {"xmax", oid::xid},
                                                                 {"cmax", oid::cid}, {"tableoid", oid::oid}};
   if (source.kind == SourceKind::Relation || source.kind == SourceKind::Row)
      for (const auto& [systemName, type] : system)
         if (systemName == name) {
            auto result = makeTerm(TermKind::Column, plainType(type));
            result->source = &source;
            result->number = -2;
            result->name = name;
            return result;
         }
   return nullptr;
}

TermPtr Resolver::findColumn(std::string_view name, Level& level, bool onlyHere) {
   for (Level* at = &level; at != nullptr; at = onlyHere ? nullptr : at->parent)
      for (const Visible& item : at->visible)
         if (item.byColumn)
            if (auto found = columnIn(*item.source, name)) return found;
   return nullptr;
}

Visible* Resolver::findSource(std::string_view name, Level& level) {
   for (Level* at = &level; at != nullptr; at = at->parent)
      for (Visible& item : at->visible)
         if (item.byName && (item.source->alias.empty() ? item.source->name : item.source->alias) == name) return &item;
   return nullptr;
}

TermPtr Resolver::fieldOf(TermPtr row, std::string_view name) {
   SqlType type = plainType(oid::text);
   if (row->kind == TermKind::Column && row->number == -1) {
      if (auto column = columnIn(*row->source, name)) return column;
      giveUp();
   } else if (row->type.oid != oid::record) {
      type = fieldType(row->type, name);
   } else if (row->function && !row->function->argModes.empty()) {
      for (size_t i = 0; i < row->function->argModes.size(); ++i)
         if (i < row->function->argNames.size() && row->function->argNames[i] == name)
            type = plainType(row->function->allArgTypes[i]);
   } else {
      giveUp();
   }
   auto result = makeTerm(TermKind::Field, type, {std::move(row)});
   result->name = name;
   return result;
}

TermPtr Resolver::parameter(size_t number) {
   auto result = makeTerm(TermKind::Parameter, {oid::unknown, -1, invalidOid});
   result->number = static_cast<int32_t>(number);
   if (!function_) return result;
   for (const catalog::FunctionParameter& one : function_->parameters) {
      if (!one.isInput() || --number != 0) continue;
      result->type = one.type;
      result->name = one.name;
   }
   return result;
}

TermPtr Resolver::parameterNamed(const ::ColumnRef& node) {
   if (!function_) giveUp();
   std::vector<std::string> names;
   for (const ::Node* field : ListOf<>(node.fields)) {
      if (!isNode(field, T_String)) giveUp();
      names.emplace_back(stringOf(field));
   }
   const auto named = [&](const std::string& name) -> TermPtr {
      size_t number = 0;
      for (const catalog::FunctionParameter& one : function_->parameters) {
         number += one.isInput();
         if (one.isInput() && one.name == name) return parameter(number);
      }
      return nullptr;
   };
   size_t next = 1;
   TermPtr result;
   if (names.size() > 1 && names[0] == function_->name) result = named(names[next++]);
   if (!result) result = named(names[(next = 1) - 1]);
   if (!result) giveUp();
   for (; next < names.size(); ++next)
      result = fieldOf(std::move(result), names[next]);
   return result;
}

TermPtr Resolver::columnRef(const ::ColumnRef& node, Level& level) {
   ListOf<> parts(node.fields);
   const bool isStar = isNode(parts.back(), T_A_Star);
   const uint32_t count = parts.size();
   if (count == 1 && !isStar) {
      const auto name = stringOf(parts[0]);
      if (auto found = findColumn(name, level)) return found;
      if (const Visible* item = findSource(name, level)) {
         Source& source = *item->source;
         // A function that gives one column: its name is the value.
         const bool isScalar = source.kind == SourceKind::Function && source.columns.size() == 1 && !source.relation;
         return isScalar ? columnAt(source, 0) : wholeRow(source);
      }
      return parameterNamed(node);
   }
   if (count < 2 || count > 4) giveUp();
   const Visible* item = findSource(stringOf(parts[count - 2]), level);
   if (item == nullptr) return parameterNamed(node);
   if (isStar) return wholeRow(*item->source);
   if (auto found = columnIn(*item->source, stringOf(parts.back()))) return found;
   giveUp();
}

TermPtr Resolver::subscript(TermPtr container, std::span<const ::A_Indices* const> indices, Level& level) {
   const bool isJson = container->type.oid == oid::jsonb, isHstore = container->type.oid == oid::hstore;
   const bool isSlice = std::any_of(indices.begin(), indices.end(), [](const auto* index) { return index->is_slice; });
   const SqlType type = isJson || isSlice ? container->type : plainType(elementType(container->type.oid));
   auto result = makeTerm(TermKind::Subscript, type.oid ? type : plainType(oid::text), {container});
   const auto bound = [&](const ::Node* node) -> TermPtr {
      if (node == nullptr) return nullptr;
      auto value = term(node, level);
      if (isHstore) return cast(std::move(value), plainType(oid::text), CoercionContext::Assignment, Form::Implicit);
      if (isJson && value->type.oid != oid::int4) return castTo(std::move(value), oid::text);
      return cast(std::move(value), plainType(oid::int4), CoercionContext::Assignment, Form::Implicit);
   };
   for (const auto* index : indices) {
      TermPtr lower = bound(index->lidx);
      if (isSlice && !index->is_slice) { // a[2][1:3]: the first is 1:2
         lower = makeTerm(TermKind::Constant, plainType(oid::int4));
         lower->name = "1";
      }
      result->args.push_back(std::move(lower));
      result->args.push_back(bound(index->uidx));
   }
   result->isNegated = isSlice;
   return result;
}

TermPtr Resolver::indirection(const ::A_Indirection& node, Level& level) {
   TermPtr result = term(node.arg, level);
   const ListOf<> steps(node.indirection);
   std::vector<const ::A_Indices*> indices;
   const auto finish = [&] {
      if (!indices.empty()) result = subscript(std::move(result), indices, level);
      indices.clear();
   };
   for (const ::Node* step : steps) {
      if (isNode(step, T_A_Indices)) {
         indices.push_back(as<A_Indices>(step));
         continue;
      }
      finish();
      if (isNode(step, T_A_Star)) giveUp();
      result = fieldOf(std::move(result), stringOf(step));
   }
   finish();
   return result;
}

// ---- constants and casts ----

TermPtr Resolver::constant(const ::A_Const& node) {
   const auto literal = [&](Oid type, std::string text) {
      auto result = makeTerm(TermKind::Constant, plainType(type));
      result->name = std::move(text);
      return result;
   };
   if (node.isnull) {
      auto result = literal(oid::unknown, {});
      result->isNull = true;
      return result;
   }
   switch (node.val.node.type) {
   case T_Integer: return literal(oid::int4, std::to_string(node.val.ival.ival));
   case T_Float: {
      const std::string_view digits = node.val.fval.fval;
      int64_t value = 0;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (error == std::errc() && end == digits.data() + digits.size())
         return literal(value == INT32_MIN ? oid::int4 : oid::int8, std::string(digits));
      return castLiteral(*literal(oid::unknown, std::string(digits)), plainType(oid::numeric), Form::Implicit);
   }
   case T_Boolean: return literal(oid::boolean, node.val.boolval.boolval ? "true" : "false");
   case T_String: return literal(oid::unknown, node.val.sval.sval);
   case T_BitString:
      return castLiteral(*literal(oid::unknown, node.val.bsval.bsval), plainType(oid::bit), Form::Implicit);
   default: giveUp();
   }
}

TermPtr Resolver::typeCast(const ::TypeCast& node, Level& level) {
   const SqlType target = resolveTypeName(*node.typeName, context_);
   if (isNode(node.arg, T_A_ArrayExpr) && elementType(target.oid) && !target.domain) {
      auto result = array(*as<A_ArrayExpr>(node.arg), level, &target);
      return cast(std::move(result), target, CoercionContext::Explicit, Form::Explicit);
   }
   return cast(term(node.arg, level), target, CoercionContext::Explicit, Form::Explicit);
}

TermPtr Resolver::array(const ::A_ArrayExpr& node, Level& level, const SqlType* target) {
   std::vector<TermPtr> elements;
   bool isNested = false;
   for (const ::Node* element : ListOf<>(node.elements)) {
      if (isNode(element, T_A_ArrayExpr)) {
         elements.push_back(array(*as<A_ArrayExpr>(element), level, target));
         isNested = true;
      } else {
         elements.push_back(term(element, level));
         isNested |= elementType(elements.back()->type.oid) != invalidOid;
      }
   }
   if (target) {
      SqlType element = plainType(elementType(target->oid), target->typmod);
      for (TermPtr& value : elements)
         value = cast(std::move(value), isNested ? *target : element, CoercionContext::Explicit, Form::Explicit);
      return makeTerm(TermKind::Array, *target, std::move(elements));
   }
   if (elements.empty()) giveUp();
   const SqlType common = commonType(elements);
   castAll(elements, common);
   return makeTerm(TermKind::Array, elementType(common.oid) ? common : plainType(arrayType(common.oid)),
                   std::move(elements));
}

TermPtr Resolver::row(const ::RowExpr& node, Level& level) {
   auto result = makeTerm(TermKind::Row, plainType(oid::record));
   for (const ::Node* arg : ListOf<>(node.args)) {
      if (isNode(arg, T_ColumnRef) && isNode(ListOf<>(as<ColumnRef>(arg)->fields).back(), T_A_Star)) {
         std::vector<Target> expanded;
         expandStar(*as<ColumnRef>(arg), level, expanded);
         for (Target& target : expanded)
            result->args.push_back(std::move(target.term));
      } else {
         result->args.push_back(term(arg, level));
      }
   }
   return result;
}

TermPtr Resolver::caseTerm(const ::CaseExpr& node, Level& level) {
   TermPtr tested, placeholder;
   if (node.arg) {
      tested = known(reinterpret_cast<const ::Node*>(node.arg), level);
      placeholder = makeTerm(TermKind::Tested, tested->type);
   }
   std::vector<TermPtr> conditions, results;
   for (const auto* when : ListOf<CaseWhen>(node.args)) {
      const auto* expr = reinterpret_cast<const ::Node*>(when->expr);
      if (placeholder)
         conditions.push_back(op("=", placeholder, term(expr, level)));
      else
         conditions.push_back(condition(expr, level));
      results.push_back(term(reinterpret_cast<const ::Node*>(when->result), level));
   }
   if (node.defresult) {
      results.insert(results.begin(), term(reinterpret_cast<const ::Node*>(node.defresult), level));
   } else {
      auto null = makeTerm(TermKind::Constant, {oid::unknown, -1, invalidOid});
      null->isNull = true;
      results.insert(results.begin(), null);
   }
   const SqlType type = commonType(results);
   castAll(results, type);
   auto result = makeTerm(TermKind::Case, type, {tested});
   for (size_t i = 0; i < conditions.size(); ++i) {
      result->args.push_back(conditions[i]);
      result->args.push_back(results[i + 1]);
   }
   result->args.push_back(results[0]);
   return result;
}

TermPtr Resolver::sqlValue(const ::SQLValueFunction& node) {
   struct Shown {
      const char* name;
      Oid type;
   };
   static constexpr Shown shown[] = {{"CURRENT_DATE", oid::date},
                                     {"CURRENT_TIME", oid::timetz},
                                     {"CURRENT_TIME", oid::timetz},
                                     {"CURRENT_TIMESTAMP", oid::timestamptz},
                                     {"CURRENT_TIMESTAMP", oid::timestamptz},
                                     {"LOCALTIME", oid::time},
                                     {"LOCALTIME", oid::time},
                                     {"LOCALTIMESTAMP", oid::timestamp},
                                     {"LOCALTIMESTAMP", oid::timestamp},
                                     {"CURRENT_ROLE", oid::name},
                                     {"CURRENT_USER", oid::name},
                                     {"USER", oid::name},
                                     {"SESSION_USER", oid::name},
                                     {"CURRENT_CATALOG", oid::name},
                                     {"CURRENT_SCHEMA", oid::name}};
   const Shown& entry = shown[node.op];
   auto result = makeTerm(TermKind::SqlValue, plainType(entry.type, node.typmod));
   result->name = entry.name;
   if (node.typmod >= 0) result->name += "(" + std::to_string(node.typmod) + ")";
   return result;
}

TermPtr Resolver::subLink(const ::SubLink& node, Level& level) {
   if (!isNode(node.subselect, T_SelectStmt)) giveUp();
   auto query = select(*as<SelectStmt>(node.subselect), &level);
   std::vector<SqlType> types;
   for (const Target& target : query->targets)
      if (!target.isHidden) types.push_back(target.term->type);
   SqlType type = booleanType;
   std::vector<TermPtr> tests;
   Link link = Link::Value;
   const auto name = node.operName ? std::string(stringOf(ListOf<>(node.operName).back())) : std::string("=");
   switch (node.subLinkType) {
   case EXISTS_SUBLINK: link = Link::Exists; break;
   case ANY_SUBLINK:
   case ALL_SUBLINK: {
      link = node.subLinkType == ANY_SUBLINK ? Link::Any : Link::All;
      auto left = term(node.testexpr, level);
      const bool isRow = isRowConstructor(*left);
      const std::vector<TermPtr> parts = isRow ? left->args : std::vector<TermPtr>{left};
      for (size_t i = 0; i < parts.size() && i < types.size(); ++i) {
         // The left operand as the operator takes it; the right one is a column of the subquery.
         auto comparison = op(name, parts[i], makeTerm(TermKind::Tested, types[i]));
         tests.push_back(comparison->args[0]);
      }
      break;
   }
   case EXPR_SUBLINK:
      if (types.empty()) giveUp();
      type = types[0];
      break;
   case ARRAY_SUBLINK:
      link = Link::Array;
      if (types.empty()) giveUp();
      type = elementType(types[0].oid) ? types[0] : plainType(arrayType(types[0].oid));
      break;
   default: giveUp();
   }
   auto result = makeTerm(TermKind::Subquery, type, std::move(tests));
   result->link = link;
   result->name = name;
   result->query = std::move(query);
   return result;
}

} // namespace ouzel::sql::deparse
