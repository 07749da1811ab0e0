#pragma once
#include "sql/bind/state/bind_state.hpp"

namespace ouzel::sql {

/// XMLELEMENT, XMLFOREST, XMLCONCAT, XMLPARSE, XMLPI, XMLROOT and IS DOCUMENT.
ExprPtr bindXml(BindState& state, Scope& scope, const ::XmlExpr& node);
/// XMLSERIALIZE.
ExprPtr bindXmlSerialize(BindState& state, Scope& scope, const ::XmlSerialize& node);

} // namespace ouzel::sql
