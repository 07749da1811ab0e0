#include "sql/bind/binder.hpp"
#include "sql/deparse/resolver.hpp"

// SQL's own syntax for XML.

namespace ouzel::sql::deparse {

TermPtr Resolver::xml(const ::XmlExpr& node, Level& level) {
   const ListOf<> nodes(node.args);
   if (node.op == IS_DOCUMENT)
      return makeTerm(TermKind::IsDocument, booleanType, {castTo(term(nodes[0], level), oid::xml)});
   auto result = makeTerm(TermKind::Xml, plainType(oid::xml));
   result->number = node.op;
   result->isNegated = node.xmloption == XMLOPTION_DOCUMENT;
   if (node.name) result->argNames.emplace_back(node.name);
   for (const auto* target : ListOf<ResTarget>(node.named_args)) {
      result->args.push_back(term(target->val, level));
      result->argNames.emplace_back(
          target->name ? target->name : std::string(stringOf(ListOf<>(as<ColumnRef>(target->val)->fields).back())));
   }
   for (uint32_t i = 0; i < nodes.size(); ++i) {
      TermPtr arg = term(nodes[i], level);
      const Oid type = node.op == IS_XMLCONCAT || (node.op == IS_XMLROOT && i == 0) ? Oid{oid::xml} : Oid{oid::text};
      const bool isFlag = node.op != IS_XMLCONCAT && node.op != IS_XMLPI && i > (node.op == IS_XMLROOT ? 1u : 0u);
      const bool keepsType = node.op == IS_XMLELEMENT || isFlag;
      result->args.push_back(keepsType
                                 ? std::move(arg)
                                 : cast(std::move(arg), plainType(type), CoercionContext::Assignment, Form::Implicit));
   }
   return result;
}

TermPtr Resolver::xmlSerialize(const ::XmlSerialize& node, Level& level) {
   auto result = makeTerm(TermKind::Xml, plainType(oid::text));
   result->number = IS_XMLSERIALIZE;
   result->isNegated = node.xmloption == XMLOPTION_DOCUMENT;
   result->args.push_back(
       cast(term(node.expr, level), plainType(oid::xml), CoercionContext::Assignment, Form::Implicit));
   const SqlType target = resolveTypeName(*node.typeName, context_);
   result->serialized = target;
   return cast(std::move(result), target, CoercionContext::Implicit, Form::Implicit);
}

std::shared_ptr<XmlTableSource> Resolver::xmlTable(const ::RangeTableFunc& node, Source& source, Level& level) {
   const auto castTerm = [&](const ::Node* value, const SqlType& type) {
      return cast(term(value, level), type, CoercionContext::Assignment, Form::Implicit);
   };
   const SqlType text = plainType(oid::text);
   auto table = std::make_shared<XmlTableSource>();
   table->rows = castTerm(node.rowexpr, text);
   table->document = castTerm(node.docexpr, plainType(oid::xml));
   for (const auto* target : ListOf<ResTarget>(node.namespaces))
      table->namespaces.emplace_back(std::string(textOf(target->name)), castTerm(target->val, text));
   for (const auto* column : ListOf<RangeTableFuncCol>(node.columns)) {
      const SqlType type = column->for_ordinality ? plainType(oid::int4) : resolveTypeName(*column->typeName, context_);
      XmlTableSource::Column& made = table->columns.emplace_back();
      made.isOrdinality = column->for_ordinality;
      made.isNotNull = column->is_not_null;
      if (column->colexpr) made.path = castTerm(column->colexpr, text);
      if (column->coldefexpr) made.byDefault = castTerm(column->coldefexpr, type);
      source.columns.push_back({column->colname, type});
   }
   source.name = "xmltable";
   return table;
}

} // namespace ouzel::sql::deparse
