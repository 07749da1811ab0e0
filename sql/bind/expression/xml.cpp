#include "sql/bind/expression/xml.hpp"

#include <algorithm>

#include "common/xml/names.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/binder.hpp"
#include "sql/bind/expression/array.hpp"
#include "sql/bind/expression/expression.hpp"
#include "sql/bind/type/coercion.hpp"
#include "sql/bind/type/row_value.hpp"
#include "sql/bind/type/type_rules.hpp"

// SQL's own syntax for XML. Each form becomes a call of a function of the server's own, which gets the names of
// elements and attributes as constants.

namespace ouzel::sql {

namespace {

ExprPtr textConstant(std::string text) {
   return makeConstant(plainType(oid::text), Value::string(std::move(text)));
}

ExprPtr nameOf(const char* identifier) {
   return textConstant(xml::nameFromSql(identifier, xml::NameEscapes::Partly));
}

ExprPtr makeXmlCall(const char* function, Oid type, std::vector<ExprPtr> args, uint32_t position) {
   auto call = makeCall(catalog::builtins().functions(function)[0], plainType(type), std::move(args));
   call->position = position;
   return call;
}

/// A value of any type.
ExprPtr bindContent(BindState& state, Scope& scope, const ::Node* node) {
   return rowValue(state, unknownToText(state, bindExpr(state, scope, node)));
}

/// Attributes, or the elements of a forest: their names and their values.
struct NamedValues {
   std::vector<std::string> names;
   std::vector<ExprPtr> values;
};

/// The last name of a column reference, of t.* that of the table.
const ::Node* lastName(const ::ColumnRef& node) {
   const ::Node* last = nullptr;
   for (const ::Node* field : ListOf<>(node.fields))
      if (isNode(field, T_String)) last = field;
   return last;
}

/// The name that is given, or that of the column which is the value.
std::string nameOfValue(BindState& state, const ::ResTarget& target, bool isAttribute) {
   if (target.name) return xml::nameFromSql(target.name, xml::NameEscapes::Partly);
   const ::Node* last = isNode(target.val, T_ColumnRef) ? lastName(*as<ColumnRef>(target.val)) : nullptr;
   if (!last)
      throw SqlError(sqlstate::syntaxError, isAttribute ? "unnamed XML attribute value must be a column reference"
                                                        : "unnamed XML element value must be a column reference")
          .at(state.at(target.location));
   return xml::nameFromSql(stringOf(last), xml::NameEscapes::Fully);
}

NamedValues bindNamed(BindState& state, Scope& scope, const ::List* targets, bool isAttribute) {
   NamedValues named;
   for (const auto* target : ListOf<ResTarget>(targets)) {
      named.values.push_back(bindContent(state, scope, target->val));
      std::string name = nameOfValue(state, *target, isAttribute);
      if (isAttribute && std::find(named.names.begin(), named.names.end(), name) != named.names.end())
         throw SqlError(sqlstate::syntaxError, "XML attribute name \"" + name + "\" appears more than once")
             .at(state.at(target->location));
      named.names.push_back(std::move(name));
   }
   return named;
}

ExprPtr namesArray(std::vector<std::string> names, uint32_t position) {
   std::vector<ExprPtr> elements;
   for (std::string& name : names)
      elements.push_back(textConstant(std::move(name)));
   return makeArrayExpr(std::move(elements), oid::textArray, position);
}

/// Calls a function with the names, then the values.
ExprPtr callWithNames(BindState& state, Scope& scope, const ::XmlExpr& node, const char* function, uint32_t position) {
   std::vector<ExprPtr> args;
   NamedValues named = bindNamed(state, scope, node.named_args, node.op == IS_XMLELEMENT);
   if (node.name) args.push_back(nameOf(node.name));
   args.push_back(namesArray(std::move(named.names), position));
   std::move(named.values.begin(), named.values.end(), std::back_inserter(args));
   for (const ::Node* arg : ListOf<>(node.args))
      args.push_back(bindContent(state, scope, arg));
   return makeXmlCall(function, oid::xml, std::move(args), position);
}

} // namespace

ExprPtr bindXml(BindState& state, Scope& scope, const ::XmlExpr& node) {
   const uint32_t position = state.at(node.location);
   const ListOf<> nodes(node.args);
   const auto bound = [&](uint32_t i, Oid type, const char* construct) {
      return coerceToType(state, bindExpr(state, scope, nodes[i]), type, construct);
   };
   std::vector<ExprPtr> args;
   switch (node.op) {
   case IS_XMLELEMENT: return callWithNames(state, scope, node, "ouzel_xmlelement", position);
   case IS_XMLFOREST: return callWithNames(state, scope, node, "ouzel_xmlforest", position);
   case IS_XMLCONCAT:
      for (uint32_t i = 0; i < nodes.size(); ++i)
         args.push_back(bound(i, oid::xml, "XMLCONCAT"));
      return makeXmlCall("ouzel_xmlconcat", oid::xml, std::move(args), position);
   case IS_XMLPARSE: // whether blanks are kept changes nothing of a value that keeps its text
      args.push_back(bound(0, oid::text, "XMLPARSE"));
      args.push_back(makeBoolean(node.xmloption == XMLOPTION_DOCUMENT));
      return makeXmlCall("ouzel_xmlparse", oid::xml, std::move(args), position);
   case IS_XMLPI:
      args.push_back(nameOf(node.name));
      args.push_back(makeBoolean(!nodes.empty()));
      args.push_back(nodes.empty() ? textConstant({}) : bound(0, oid::text, "XMLPI"));
      return makeXmlCall("ouzel_xmlpi", oid::xml, std::move(args), position);
   case IS_XMLROOT:
      args.push_back(bound(0, oid::xml, "XMLROOT"));
      args.push_back(bound(1, oid::text, "XMLROOT"));
      args.push_back(bound(2, oid::int4, "XMLROOT"));
      return makeXmlCall("ouzel_xmlroot", oid::xml, std::move(args), position);
   case IS_DOCUMENT:
      args.push_back(bound(0, oid::xml, "IS DOCUMENT"));
      return makeXmlCall("ouzel_xml_is_document", oid::boolean, std::move(args), position);
   case IS_XMLSERIALIZE: break; // has a node of its own
   }
   throwInternal("unknown kind of XML expression");
}

ExprPtr bindXmlSerialize(BindState& state, Scope& scope, const ::XmlSerialize& node) {
   const uint32_t position = state.at(node.location);
   std::vector<ExprPtr> args;
   args.push_back(coerceToType(state, bindExpr(state, scope, node.expr), oid::xml, "XMLSERIALIZE"));
   args.push_back(makeBoolean(node.xmloption == XMLOPTION_DOCUMENT));
   const SqlType target = resolveValueType(*node.typeName, state.context);
   auto text = makeXmlCall("ouzel_xmlserialize", oid::text, std::move(args), position);
   auto result = tryCoerce(state, text, target, CoercionContext::Implicit);
   if (!result)
      throw SqlError(sqlstate::cannotCoerce, "cannot cast XMLSERIALIZE result to " + typeName(target.oid)).at(position);
   return result;
}

} // namespace ouzel::sql
