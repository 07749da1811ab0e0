#include "sql/bind/type/literal.hpp"

#include "catalog/pg_catalog/acl_items.hpp"
#include "catalog/pg_catalog/functions.hpp"
#include "common/type/text_codec.hpp"
#include "common/value/object_names.hpp"
#include "common/value/range_types.hpp"
#include "sql/bind/binder.hpp"
#include "sql/bind/state/view_text.hpp"

// Literals become values at bind time, as PostgreSQL's parser calls input functions.

namespace ouzel::sql {

using catalog::builtins;

namespace {

/// The OID for a literal of type regclass, regtype, ...: the name of an object, or its number.
Oid lookUp(const SqlType& type, const std::string& text, const BindContext& context) {
   const bool isName = text != "-" && text.find_first_not_of("0123456789") != std::string::npos;
   if (type.oid == oid::regtype && isName) return resolveTypeText(text, context).named();
   return catalog::regIn({context.catalog, context.searchPath, catalog::bootstrapRole}, type.oid, text);
}

/// Whether the text of a value, or what it means, depends on TimeZone, DateStyle, IntervalStyle or the time.
bool dependsOnSession(const SqlType& type) {
   switch (type.oid) {
   case oid::date:
   case oid::time:
   case oid::timetz:
   case oid::timestamp:
   case oid::timestamptz:
   case oid::interval: return true;
   default: break;
   }
   const RangeType* range = findRangeType(type.oid);
   if (!range) range = findMultirangeType(type.oid);
   if (range) return dependsOnSession({range->subtype, -1, invalidOid});
   const catalog::TypeInfo* info = builtins().type(type.oid);
   return info && info->isArray() && dependsOnSession({info->element, -1, invalidOid});
}

/// Keeps the value of a literal for a text that the catalog stores: '2020-01-01 00:00' as a timestamptz is another
/// moment in each time zone.
void recordValue(BindState& state, const Expr& literal, const SqlType& type, const Value& value) {
   if (!state.recorder || !state.source || !dependsOnSession(type)) return;
   state.recorder->fixLiteral(literal.position, textOf(type, value, SessionFormat{}), state.source->text());
}

/// Keeps the relation that a regclass literal names for a text that the catalog stores: the relation may get another
/// name, and the same name means another relation under another search_path.
void recordRelation(BindState& state, const Expr& literal, Oid relation) {
   if (!state.recorder || !state.recorder->namesByOid() || relation == invalidOid) return;
   const auto found = state.context.catalog.relation(relation);
   if (!found || found->isBuiltin()) return;
   state.recorder->readRelation(relation);
   if (state.source) state.recorder->nameByOid(literal.position, relation, state.source->text());
}

} // namespace

ExprPtr parseLiteral(BindState& state, const Expr& literal, const SqlType& type) {
   ExprPtr expr;
   const Value* value = knownValue(literal);
   if (!value) {
      expr = makeNull(type);
   } else {
      try {
         const std::string& text = value->bytes;
         if (isObjectName(type.oid)) {
            const auto repr = storedRepresentation(type);
            const Oid named = lookUp(type, text, state.context);
            if (type.oid == oid::regclass) recordRelation(state, literal, named);
            expr = makeConstant(type, Value::integer(repr.physical, named));
         } else if (catalog::isAclType(type.oid)) {
            expr = makeConstant(
                type, Value::string(catalog::parseAclText(state.context.catalog, type, text, state.context.format)));
         } else {
            Value parsed = parseText(type, text, state.context.format);
            recordValue(state, literal, type, parsed);
            if (state.recorder) state.recorder->isLiteral(literal.position, type, parsed);
            expr = makeConstant(type, std::move(parsed));
         }
      } catch (SqlError& error) {
         if (error.position() == 0) error.setPosition(literal.position);
         throw;
      }
   }
   expr->position = literal.position;
   return expr;
}

} // namespace ouzel::sql
