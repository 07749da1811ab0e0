#include "sql/program/catalog_types.hpp"

#include <algorithm>

#include "catalog/object/collation.hpp"
#include "common/error/sql_error.hpp"
#include "common/text/utf8.hpp"
#include "sql/bind/binder.hpp"
#include "sql/bind/state/type_naming.hpp"
#include "sql/bind/type/type_rules.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::sql::program {

namespace {

constexpr std::string_view castBegin = "SELECT CAST(NULL AS ";

/// The text within a cast, whose type the grammar parses.
ParsedScript parseCast(std::string_view text) {
   try {
      return ParsedScript::parse(std::string(castBegin) + std::string(text) + ")");
   } catch (const SqlError& error) {
      const auto begin = static_cast<uint32_t>(castBegin.size()), end = begin + characterCount(text) + 1;
      throw SqlError(error.state(), error.position() >= end ? "syntax error at end of input" : error.what())
          .at(std::clamp(error.position(), begin + 1, end) - begin)
          .context("invalid type name \"" + std::string(text) + "\"");
   }
}

catalog::QualifiedName qualified(std::span<const std::string> names) {
   return catalog::toQualifiedName(std::vector<std::string>(names.begin(), names.end()));
}

} // namespace

TypeClass typeClass(const SqlType& type) {
   if (isRowType(type.oid)) return TypeClass::Record;
   return isPseudoType(type.oid) ? TypeClass::Pseudo : TypeClass::Scalar;
}

DeclaredType CatalogTypes::named(std::string_view text) const {
   const ParsedScript script = parseCast(text);
   const auto* name = as<TypeCast>(script.expression())->typeName;
   if (name->setof) throw SqlError(sqlstate::syntaxError, "invalid type name \"" + std::string(text) + "\"");
   BindContext unpositioned = context_;
   unpositioned.source = nullptr;
   const SqlType type = resolveTypeName(*name, unpositioned);
   return {type, typeClass(type)};
}

std::optional<DeclaredType> CatalogTypes::namedByWord(std::string_view word) const {
   try {
      const DeclaredType type = named(catalog::quoteIdentifier(word));
      if (type.kind != TypeClass::Record || type.type.oid == oid::record) return type;
   } catch (const SqlError& error) {
      if (error.state() != sqlstate::undefinedObject) throw;
   }
   return std::nullopt;
}

std::optional<DeclaredType> CatalogTypes::ofColumn(std::span<const std::string> names) const {
   if (names.size() < 2) return std::nullopt;
   const auto relation =
       catalog::findRelation(context_.catalog, context_.searchPath, qualified(names.first(names.size() - 1)));
   if (!relation) return std::nullopt;
   const auto& columns = relation->columns;
   const auto found = std::find_if(columns.begin(), columns.end(), [&](const catalog::Column& column) {
      return !column.isDropped && column.name == names.back();
   });
   if (found == columns.end()) return std::nullopt;
   return DeclaredType{found->type, typeClass(found->type)};
}

DeclaredType CatalogTypes::ofRows(std::span<const std::string> names) const {
   const catalog::QualifiedName name = qualified(names);
   if (!name.schema.empty()) catalog::requireSchema(context_.catalog, context_.searchPath, name.schema);
   const auto relation = catalog::requireRelation(context_.catalog, context_.searchPath, name);
   if (relation->rowType != invalidOid) {
      const SqlType type = plainType(relation->rowType);
      return {type, TypeClass::Record};
   }
   if (relation->isBuiltin()) return {plainType(oid::record), TypeClass::Record};
   throw SqlError(sqlstate::wrongObjectType, "relation \"" + name.name + "\" does not have a composite type");
}

Oid CatalogTypes::collation(std::span<const std::string> names) const {
   return catalog::requireCollation(context_.catalog, context_.searchPath, qualified(names)).oid;
}

std::string CatalogTypes::nameOf(const SqlType& type) const {
   const TypeNaming naming(context_);
   return typeName(type.named());
}

} // namespace ouzel::sql::program
