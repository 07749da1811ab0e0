#include <algorithm>
#include <array>
#include <charconv>

#include "catalog/object/collation.hpp"
#include "catalog/pg_catalog/acl_items.hpp"
#include "common/base_type/type_form.hpp"
#include "common/error/sql_error.hpp"
#include "common/json/jsonpath.hpp"
#include "sql/bind/binder.hpp"
#include "sql/bind/type/qualified_name.hpp"
#include "sql/bind/type/type_rules.hpp"
#include "sql/parse/node_access.hpp"

// Resolves type names with their modifiers: varchar(20), numeric(10,2), timestamp(3) with time zone, interval day to
// second, text[].

namespace ouzel::sql {

using catalog::builtins;

namespace {

/// The type that a relation is of, or that of its arrays. Its oid is 0 if a domain has no arrays.
SqlType typeOfRelation(const catalog::Relation& relation, bool isArray) {
   const Oid named = isArray ? relation.rowTypeArray : relation.rowType;
   if (relation.relationKind != catalog::RelationKind::Domain) return plainType(named);
   SqlType type = relation.columns[0].type;
   type.domain = named;
   if (isArray) type.oid = arrayType(type.oid);
   return type;
}

[[noreturn]] void throwUnknownType(const std::string& name, uint32_t position) {
   throw SqlError(sqlstate::undefinedObject, "type \"" + name + "\" does not exist").at(position);
}

SqlError badModifier(std::string message, uint32_t position) {
   SqlError error(sqlstate::invalidParameterValue, message);
   error.setPosition(position);
   return error;
}

/// The modifiers of a type name. They must be integers, since typmodin functions take no other values.
std::vector<int32_t> modifiers(const ::List* list, uint32_t position) {
   std::vector<int32_t> values;
   for (const ::Node* node : ListOf<>(list)) {
      std::string text;
      if (isNode(node, T_A_Const) && !as<A_Const>(node)->isnull) {
         const auto& value = as<A_Const>(node)->val;
         if (value.node.type == T_Integer) {
            values.push_back(value.ival.ival);
            continue;
         }
         if (value.node.type == T_Float) text = value.fval.fval;
         if (value.node.type == T_String) text = value.sval.sval;
      } else if (isNode(node, T_ColumnRef) && ListOf<>(as<ColumnRef>(node)->fields).size() == 1) {
         text = stringOf(ListOf<>(as<ColumnRef>(node)->fields).front());
      } else {
         throw SqlError(sqlstate::syntaxError, "type modifiers must be simple constants or identifiers").at(position);
      }
      int32_t value = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error != std::errc() || end != text.data() + text.size())
         throw SqlError(sqlstate::invalidTextRepresentation, "invalid input syntax for type integer: \"" + text + "\"")
             .at(position);
      values.push_back(value);
   }
   return values;
}

int32_t lengthTypmod(const std::vector<int32_t>& values, const char* name, uint32_t position) {
   if (values.size() != 1) throw badModifier("invalid type modifier", position);
   if (values[0] < 1) throw badModifier(std::string("length for type ") + name + " must be at least 1", position);
   if (values[0] > 10485760)
      throw badModifier(std::string("length for type ") + name + " cannot exceed 10485760", position);
   return values[0] + 4;
}

int32_t numericTypmodOf(const std::vector<int32_t>& values, uint32_t position) {
   if (values.size() > 2) throw badModifier("invalid NUMERIC type modifier", position);
   const int32_t precision = values[0], scale = values.size() == 2 ? values[1] : 0;
   if (precision < 1 || precision > 1000)
      throw badModifier("NUMERIC precision " + std::to_string(precision) + " must be between 1 and 1000", position);
   if (scale < -1000 || scale > 1000)
      throw badModifier("NUMERIC scale " + std::to_string(scale) + " must be between -1000 and 1000", position);
   return numericTypmod(precision, scale);
}

/// Modifier for the fractional digits of a second; a number above six means six.
int32_t secondsTypmod(const std::vector<int32_t>& values, const char* name, uint32_t position) {
   if (values.size() != 1) throw badModifier("invalid type modifier", position);
   if (values[0] < 0) throw badModifier(std::string(name) + " precision must not be negative", position);
   return std::min(values[0], 6);
}

int32_t intervalTypmod(const std::vector<int32_t>& values, uint32_t position) {
   // The grammar gives the range of fields as a bit mask, then perhaps the precision.
   constexpr int32_t fullRange = 0x7fff, fullPrecision = 0xffff;
   if (values.empty() || values.size() > 2) throw badModifier("invalid INTERVAL type modifier", position);
   if (values.size() == 1) return values[0] == fullRange ? -1 : (values[0] << 16) | fullPrecision;
   if (values[1] < 0)
      throw badModifier("INTERVAL(" + std::to_string(values[1]) + ") precision must not be negative", position);
   return (values[0] << 16) | std::min(values[1], 6);
}

int32_t typmodOf(const catalog::TypeInfo& type, const ::List* list, uint32_t position) {
   if (!list) return -1;
   if (!type.typmodIn)
      throw SqlError(sqlstate::syntaxError, "type modifier is not allowed for type \"" + std::string(type.name) + "\"")
          .at(position);
   const auto values = modifiers(list, position);
   switch (type.oid) {
   case oid::bpchar: return lengthTypmod(values, "char", position);
   case oid::varchar: return lengthTypmod(values, "varchar", position);
   case oid::numeric: return numericTypmodOf(values, position);
   case oid::time: return secondsTypmod(values, "TIME", position);
   case oid::timetz: return secondsTypmod(values, "TIME", position);
   case oid::timestamp: return secondsTypmod(values, "TIMESTAMP", position);
   case oid::timestamptz: return secondsTypmod(values, "TIMESTAMP", position);
   case oid::interval: return intervalTypmod(values, position);
   default: break;
   }
   const TypeForm* form = findTypeForm(type.oid);
   if (!form || !form->typmodOf) throwNotSupported("modifiers of type \"" + std::string(type.name) + "\"", position);
   try {
      return form->typmodOf(values);
   } catch (SqlError& error) {
      throw std::move(error).at(position);
   }
}

const catalog::TypeInfo* findType(const ::TypeName& name, std::string& shown) {
   if (name.typeOid) return builtins().type(name.typeOid);
   const ListOf<> parts(name.names);
   const std::string_view last = stringOf(parts.back());
   if (parts.size() == 1) {
      shown = last;
      return builtins().findType(last);
   }
   const std::string_view schema = stringOf(parts[parts.size() - 2]);
   shown = std::string(schema) + "." + std::string(last);
   return schema == "pg_catalog" ? builtins().findType(last) : nullptr;
}

/// Whether values of the type can be read, compared and printed as PostgreSQL does. The others would be kept as texts
/// that nobody has checked.
bool isBuilt(const catalog::TypeInfo& type) {
   if (findTypeForm(type.oid)) return true;
   switch (type.category) {
   case 'G': // geometry
   case 'I': // network addresses
   case 'V': // bit strings
      return false;
   case 'Z': // what PostgreSQL keeps for itself
      return type.oid == oid::character;
   case 'U': {
      constexpr std::array built{oid::bytea, oid::json, oid::jsonb, oid::jsonpath,  oid::uuid,   oid::xml,
                                 oid::xid,   oid::xid8, oid::cid,   oid::refcursor, oid::aclitem};
      return std::find(built.begin(), built.end(), type.oid) != built.end();
   }
   default: return true;
   }
}

/// The row type of a relation, perhaps as an array.
SqlType resolveUserType(const ::TypeName& name, const BindContext& context, const std::string& shown,
                        uint32_t position) {
   const ListOf<> parts(name.names);
   if (name.typeOid) {
      if (!context.catalog.relationOfType(name.typeOid)) throwUnknownType(std::to_string(name.typeOid), position);
      return plainType(name.typeOid);
   }
   if (parts.size() > 1 && stringOf(parts[parts.size() - 2]) != "pg_catalog" &&
       stringOf(parts[parts.size() - 2]) != "pg_temp" && !context.catalog.findSchema(stringOf(parts[parts.size() - 2])))
      throw SqlError(sqlstate::undefinedSchema,
                     "schema \"" + std::string(stringOf(parts[parts.size() - 2])) + "\" does not exist")
          .at(position);
   catalog::QualifiedName qualified{{}, {}, std::string(stringOf(parts.back())), position};
   if (parts.size() > 1) qualified.schema = stringOf(parts[parts.size() - 2]);
   auto relation = catalog::findNamedType(context.catalog, context.searchPath, qualified);
   bool isArray = !ListOf<>(name.arrayBounds).empty();
   if (!relation && qualified.name.starts_with('_')) { // "_t" is the name of t[]
      qualified.name.erase(0, 1);
      relation = catalog::findNamedType(context.catalog, context.searchPath, qualified);
      isArray = true;
   }
   const bool isShell = relation && relation->relationKind == catalog::RelationKind::Shell;
   if (!relation || (isShell && isArray))
      throwUnknownType(ListOf<>(name.arrayBounds).empty() ? shown : shown + "[]", position);
   if (isShell) throw SqlError(sqlstate::undefinedObject, "type \"" + shown + "\" is only a shell").at(position);
   if (relation->isBuiltin()) throwNotSupported("row types of system catalogs", position);
   if (name.typmods)
      throw SqlError(sqlstate::syntaxError, "type modifier is not allowed for type \"" + shown + "\"").at(position);
   const SqlType type = typeOfRelation(*relation, isArray);
   if (!type.oid)
      throw SqlError(sqlstate::undefinedObject, "could not find array type for data type " + shown).at(position);
   return type;
}

} // namespace

SqlType typeOfOid(const catalog::Snapshot& catalog, Oid type) {
   const auto relation = type >= firstUserOid ? catalog.relationOfType(type) : nullptr;
   return relation ? typeOfRelation(*relation, type == relation->rowTypeArray) : plainType(type);
}

SqlType resolveValueType(const ::TypeName& name, const BindContext& context) {
   const SqlType resolved = resolveTypeName(name, context);
   const Oid element = elementType(resolved.oid);
   const catalog::TypeInfo* type = builtins().type(element ? element : resolved.oid);
   if (type && !isBuilt(*type))
      throwNotSupported("type " + std::string(type->name),
                        context.source ? context.source->position(name.location) : 0);
   return resolved;
}

SqlType collated(SqlType type, const ::List* collation, const catalog::Snapshot& catalog,
                 const catalog::SearchPath& path, uint32_t position) {
   const ListOf<> parts(collation);
   requireOwnDatabase(parts, catalog, position);
   catalog::QualifiedName name{{}, {}, std::string(stringOf(parts.back())), position};
   if (parts.size() > 1) name.schema = stringOf(parts[parts.size() - 2]);
   const Oid found = catalog::requireCollation(catalog, path, name).oid;
   if (!type.collation)
      throw SqlError(sqlstate::datatypeMismatch, "collations are not supported by type " + typeName(type.oid))
          .at(position);
   type.collation = found;
   return type;
}

SqlType resolveColumnType(const ::ColumnDef& definition, const BindContext& context) {
   const SqlType type = resolveValueType(*definition.typeName, context);
   if (catalog::isAclType(type.oid)) // its values have names of roles in them, which may change
      throwNotSupported("a column of type " + typeName(type),
                        context.source ? context.source->position(definition.typeName->location) : 0);
   const ::CollateClause* clause = definition.collClause;
   if (!clause) return type;
   return collated(type, clause->collname, context.catalog, context.searchPath,
                   context.source ? context.source->position(clause->location) : 0);
}

SqlType resolveTypeName(const ::TypeName& name, const BindContext& context) {
   const uint32_t position = context.source ? context.source->position(name.location) : 0;
   if (name.pct_type) throwNotSupported("%TYPE", position);
   std::string shown;
   if (!name.typeOid) requireOwnDatabase(ListOf<>(name.names), context.catalog, 0);
   const auto* type = findType(name, shown);
   if (!type && !name.typeOid) type = extensionTypeNamed(context.catalog, context.searchPath, ListOf<>(name.names));
   if (!type) return resolveUserType(name, context, shown, position);
   const int32_t typmod = name.typmods ? typmodOf(*type, name.typmods, position) : name.typemod;
   if (ListOf<>(name.arrayBounds).empty()) return plainType(type->oid, typmod);
   const Oid array = type->isArray() ? type->oid : type->array;
   if (!array)
      throw SqlError(sqlstate::undefinedObject, "could not find array type for data type " + typeName(type->oid))
          .at(position);
   return plainType(array, typmod);
}

SqlType resolveTypeText(std::string_view text, const BindContext& context) {
   // The grammar parses the type name as the target of a cast.
   const auto refuse = [&]() -> SqlError {
      return SqlError(sqlstate::syntaxError, "invalid type name \"" + std::string(text) + "\"");
   };
   const auto script = [&] {
      try {
         return ParsedScript::parseExpression("NULL::" + std::string(text));
      } catch (const SqlError&) {
         throw refuse();
      }
   }();
   if (script.statements().size() != 1) throw refuse();
   const ::Node* cast = script.expression();
   if (!isNode(cast, T_TypeCast) || !isNode(as<TypeCast>(cast)->arg, T_A_Const)) throw refuse();
   BindContext unpositioned = context;
   unpositioned.source = nullptr;
   return resolveTypeName(*as<TypeCast>(cast)->typeName, unpositioned);
}

} // namespace ouzel::sql
