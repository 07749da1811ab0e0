#include "catalog/pg_catalog/functions.hpp"
#include "common/error/sql_error.hpp"
#include "common/type/text_codec.hpp"
#include "common/value/object_names.hpp"
#include "sql/algebra/build.hpp"
#include "sql/bind/type/literal.hpp"
#include "sql/deparse/resolver.hpp"

// Casts, written and implied, as PostgreSQL's parse_coerce.c adds them.

namespace ouzel::sql::deparse {

void giveUp() {
   throwNotSupported("the text of this expression");
}

TermPtr Resolver::castLiteral(const Term& literal, const SqlType& target, Form form) {
   SqlType base = withoutDomain(target);
   const int32_t typmod = target.oid == oid::interval ? target.typmod : -1;
   base.typmod = typmod;
   auto result = makeTerm(TermKind::Constant, base);
   result->isNull = literal.isNull;
   if (!literal.isNull && isObjectName(elementType(base.oid))) {
      result->name = literal.name;
   } else if (!literal.isNull) {
      const auto expr = makeConstant({oid::unknown, -1, invalidOid}, Value::string(literal.name));
      const auto parsed = parseLiteral(state_, *expr, base);
      const Value* value = knownValue(*parsed);
      if (!value) giveUp();
      result->name = isObjectName(base.oid) ? catalog::regOut({context_.catalog, context_.searchPath}, base.oid,
                                                              static_cast<Oid>(value->i64))
                                            : textOf(base, *value, context_.format);
   }
   if (!target.domain) return result;
   SqlType domain = target;
   domain.typmod = -1;
   auto checked = makeTerm(TermKind::Cast, domain, {result});
   checked->form = form;
   return checked;
}

TermPtr Resolver::castRow(const Term& row, const SqlType& target, CoercionContext context, Form form) {
   const auto relation = context_.catalog.relationOfType(target.oid);
   if (row.kind != TermKind::Row || !relation) giveUp();
   auto result = makeTerm(TermKind::Row, target);
   size_t i = 0;
   for (const catalog::Column& column : relation->columns)
      if (!column.isDropped && i < row.args.size())
         result->args.push_back(cast(row.args[i++], column.type, context, Form::Implicit));
   result->form = form;
   return result;
}

TermPtr Resolver::castType(TermPtr value, const SqlType& target, CoercionContext context, Form form) {
   const Oid source = value->type.oid;
   if (value->type.named() == target.named() || target.oid == oid::any) return value;
   if (isPolymorphic(target.oid) && source != oid::unknown) {
      const bool isElement = target.oid == oid::anyelement || target.oid == oid::anynonarray ||
                             target.oid == oid::anycompatible || target.oid == oid::anycompatiblenonarray;
      if (isElement || !value->type.domain) return value;
      auto base =
          makeTerm(TermKind::Cast, withoutDomain(value->type), {value}); // arrays, ranges and enums by their base
      base->type.typmod = -1;
      base->form = form;
      return base;
   }
   if (source == oid::unknown && value->kind == TermKind::Constant) return castLiteral(*value, target, form);
   if (source == oid::unknown && value->kind == TermKind::Parameter) {
      value->type = target;
      return value;
   }
   if (value->kind == TermKind::Collate) {
      auto result = makeTerm(TermKind::Collate, target, {castType(value->args[0], target, context, form)});
      result->name = value->name;
      return result;
   }
   SqlType shown = target;
   shown.typmod = -1;
   auto result = makeTerm(TermKind::Cast, shown, {value});
   result->form = form;
   if (source == target.oid) return result; // into a domain, or out of it
   if (source == oid::record && isRowType(target.oid)) return castRow(*value, target, context, form);
   if (target.oid == oid::record || target.oid == oid::recordArray) return value;
   const Coercion coercion = findCoercion(target.oid, source, context);
   if (coercion.path == CoercionPath::None) {
      if (isRowType(source) && isRowType(target.oid)) return result; // an heir's row as one of its parent
      giveUp();
   }
   result->path = coercion.path;
   if (coercion.path == CoercionPath::Function || coercion.path == CoercionPath::Array) {
      result->isFunction = coercion.path == CoercionPath::Function;
      if (coercion.function && coercion.function->argCount() >= 2) result->type.typmod = target.typmod;
   }
   if (target.domain && coercion.path != CoercionPath::Relabel) {
      result->form = Form::Implicit;
      result->type = withoutDomain(result->type);
      result = makeTerm(TermKind::Cast, shown, {result});
      result->form = form;
   }
   return result;
}

TermPtr Resolver::castTypmod(TermPtr value, const SqlType& target, Form form, bool hidesInput) {
   if (target.domain || value->type.typmod == target.typmod) return value;
   if (hidesInput && (value->kind == TermKind::Cast || value->kind == TermKind::Row)) value->form = Form::Implicit;
   auto result = makeTerm(TermKind::Cast, target, {value});
   result->form = form;
   result->isFunction = target.typmod >= 0 && hasTypmodCoercion(target.oid) && !elementType(target.oid);
   return result;
}

TermPtr Resolver::cast(TermPtr value, const SqlType& target, CoercionContext context, Form form) {
   if (value->kind == TermKind::Collate) {
      auto result = makeTerm(TermKind::Collate, target, {cast(value->args[0], target, context, form)});
      result->name = value->name;
      return result;
   }
   auto result = castType(value, target, context, form);
   const bool hides = result != value && result->kind != TermKind::Constant;
   return castTypmod(std::move(result), target, form, hides);
}

TermPtr Resolver::knownTerm(TermPtr value) {
   return value->type.oid == oid::unknown ? castTo(std::move(value), oid::text) : value;
}

SqlType Resolver::commonType(std::span<const TermPtr> terms) const {
   bool allSame = true, sameTypmod = true;
   std::vector<Oid> types;
   for (const TermPtr& term : terms) {
      allSame = allSame && term->type.named() == terms[0]->type.named();
      sameTypmod = sameTypmod && term->type.typmod == terms[0]->type.typmod;
      types.push_back(term->type.oid);
   }
   if (allSame && types[0] != oid::unknown) {
      SqlType type = terms[0]->type;
      if (!sameTypmod) type.typmod = -1;
      return type;
   }
   const Oid common = commonTypeOf(types);
   if (!common) giveUp();
   return plainType(common);
}

void Resolver::castAll(std::vector<TermPtr>& terms, const SqlType& type) {
   for (TermPtr& term : terms)
      term = castType(std::move(term), type, CoercionContext::Implicit, Form::Implicit);
}

SqlType Resolver::fieldType(const SqlType& row, std::string_view name) const {
   if (const auto relation = context_.catalog.relationOfType(row.oid))
      if (const catalog::Column* column = relation->findColumn(name)) return column->type;
   giveUp();
}

} // namespace ouzel::sql::deparse
