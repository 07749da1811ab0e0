#include "catalog/builtin/text_table.hpp"
#include "catalog/object/collation.hpp"
#include "common/type/range.hpp"
#include "engine/core/privileges.hpp"
#include "engine/definition/definition.hpp"
#include "engine/definition/type/user_type.hpp"
#include "sql/bind/binder.hpp"
#include "sql/parse/node_access.hpp"

// CREATE TYPE ... AS RANGE, which makes a range type and its multirange type.

namespace ouzel::engine {

using catalog::builtins;
using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::stringOf;

namespace {

/// Reads the attributes of one statement.
class RangeAttributes {
public:
   RangeAttributes(CommandContext& context, const ::CreateRangeStmt& statement) : context_(context) {
      for (const ::DefElem* option : ListOf<::DefElem>(statement.params))
         read(*option);
      if (!subtypeName_) throw SqlError(sqlstate::syntaxError, "type attribute \"subtype\" is required");
   }

   /// Resolves what the attributes name.
   void resolve() {
      const catalog::SearchPath path = context_.core.searchPath();
      const sql::BindContext binding = context_.core.bindContext(path, nullptr); // errors have no position
      subtype = sql::resolveValueType(*subtypeName_, binding);
      subtype.typmod = -1;
      requireTypeUsage(context_.core, subtype);
      if (const auto* type = builtins().type(subtype.oid); type && type->isPseudo())
         throw SqlError(sqlstate::datatypeMismatch, "range subtype cannot be " + formatType(subtype));
      definition.operatorClass = operatorClass();
      if (collation_ && !subtype.collation)
         throw SqlError(sqlstate::wrongObjectType, "range collation specified but subtype does not support collation");
      if (collation_) subtype = sql::collated(subtype, collation_, binding.catalog, path, 0);
      const auto order = catalog::collationInfo(binding.catalog, subtype.collation);
      if (order && catalog::hasOwnOrder(*order))
         throwNotSupported("a range type with a collation of ICU"); // bounds are bytes
      if (difference_) definition.difference = difference();
   }

   SqlType subtype;
   catalog::RangeDefinition definition;
   std::optional<catalog::QualifiedName> multirangeName;

private:
   void read(const ::DefElem& option) {
      const std::string_view name = option.defname;
      const auto once = [&](const auto& place) {
         if (place)
            throw SqlError(sqlstate::syntaxError, "conflicting or redundant options")
                .at(context_.position(option.location));
      };
      if (name == "subtype") {
         once(subtypeName_);
         subtypeName_ = requireType(option);
      } else if (name == "subtype_opclass") {
         once(class_);
         class_ = namesOf(option);
      } else if (name == "collation") {
         once(collation_);
         collation_ = namesOf(option);
      } else if (name == "canonical") {
         throw SqlError(sqlstate::invalidObjectDefinition,
                        "cannot specify a canonical function without a pre-created shell type")
             .hint("Create the type as a shell type, then create its canonicalization function, then do a full CREATE "
                   "TYPE.");
      } else if (name == "subtype_diff") {
         once(difference_);
         difference_ = namesOf(option);
      } else if (name == "multirange_type_name") {
         once(multirangeName);
         multirangeName = typeNameOf(reinterpret_cast<const ::Node*>(namesOf(option)));
      } else {
         throw SqlError(sqlstate::syntaxError, "type attribute \"" + std::string(name) + "\" not recognized");
      }
   }

   static const ::TypeName* requireType(const ::DefElem& option) {
      if (!option.arg || !isNode(option.arg, T_TypeName))
         throw SqlError(sqlstate::syntaxError, "argument of " + std::string(option.defname) + " must be a type name");
      return as<::TypeName>(option.arg);
   }
   /// A name with its schema: a list, or a name that looks like a type's.
   static const ::List* namesOf(const ::DefElem& option) {
      if (option.arg && isNode(option.arg, T_TypeName)) return as<::TypeName>(option.arg)->names;
      if (option.arg && isNode(option.arg, T_List)) return as<::List>(option.arg);
      throw SqlError(sqlstate::syntaxError, "argument of " + std::string(option.defname) + " must be a name");
   }

   Oid operatorClass() const {
      const catalog::TextTable& classes = *builtins().rows("pg_opclass");
      const Oid input = builtins().comparisonInputType(subtype.oid);
      const bool isOrdered = builtins().comparisonOperator(subtype.oid, catalog::BtreeStrategy::Less) != nullptr;
      const std::string wanted = class_ ? std::string(stringOf(ListOf<>(class_).back())) : std::string();
      bool isKnown = false;
      for (uint32_t row = 0; row < classes.rowCount(); ++row) {
         const auto text = [&](std::string_view column) { return *classes.at(row, classes.column(column)); };
         if (text("opcmethod") != "403" || (class_ ? text("opcname") != wanted : text("opcdefault") != "t")) continue;
         isKnown = true;
         const Oid takes = static_cast<Oid>(std::stoul(std::string(text("opcintype"))));
         if (!isOrdered || takes != input) continue;
         if (text("opcdefault") != "t") throwNotSupported("operator class " + wanted + " of a range");
         return static_cast<Oid>(std::stoul(std::string(text("oid"))));
      }
      const std::string type = formatType({subtype.oid, -1, invalidOid});
      if (!class_)
         throw SqlError(sqlstate::undefinedObject,
                        "data type " + type + " has no default operator class for access method \"btree\"")
             .hint("You must specify an operator class for the range type or define a default operator class for the "
                   "subtype.");
      if (!isKnown)
         throw SqlError(sqlstate::undefinedObject,
                        "operator class \"" + wanted + "\" does not exist for access method \"btree\"");
      throw SqlError(sqlstate::datatypeMismatch, "operator class \"" + wanted + "\" does not accept data type " + type);
   }

   Oid difference() const {
      const std::string name(stringOf(ListOf<>(difference_).back()));
      const Oid args[] = {subtype.oid, subtype.oid};
      const std::string type = formatType({subtype.oid, -1, invalidOid});
      const std::string signature = name + "(" + type + ", " + type + ")";
      const catalog::FunctionInfo* function = builtins().findFunction(name, args);
      if (!function) throw SqlError(sqlstate::undefinedFunction, "function " + signature + " does not exist");
      const auto refuse = [&](const char* problem) {
         throw SqlError(sqlstate::invalidObjectDefinition,
                        "range subtype diff function " + signature + " must " + problem);
      };
      if (function->returnType != oid::float8) refuse("return type double precision");
      if (function->volatility != catalog::Volatility::Immutable) refuse("be immutable");
      return function->oid;
   }

   CommandContext& context_;
   const ::TypeName* subtypeName_ = nullptr;
   const ::List *class_ = nullptr, *collation_ = nullptr, *difference_ = nullptr;
};

/// PostgreSQL's makeMultirangeTypeName().
std::string multirangeNameFor(std::string name) {
   constexpr std::string_view word = "range";
   constexpr size_t bytesMax = 63;
   const size_t at = name.find(word);
   if (at != std::string::npos)
      name.insert(at, "multi");
   else
      name = name.substr(0, bytesMax - std::string_view("_multirange").size()) + "_multirange";
   return name.substr(0, bytesMax);
}

void requireNewMultirange(SessionCore& core, Oid schema, const std::string& name, const std::string& range) {
   const auto existing = core.transaction.catalog().findRelation(schema, name);
   if (!existing || !existing->rowType) return;
   throw SqlError(sqlstate::duplicateObject, "type \"" + name + "\" already exists")
       .detail("Failed while creating a multirange type for type \"" + range + "\".")
       .hint("You can manually specify a multirange type name using the \"multirange_type_name\" attribute.");
}

} // namespace

std::string createRange(CommandContext& context, const ::CreateRangeStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "CREATE TYPE");
   const NewRelation target = newType(context, statement.typeName);
   requireNewType(core, target.schema, target.name.name);
   RangeAttributes attributes(context, statement);
   attributes.resolve();
   catalog::CatalogEditor& editor = core.transaction.editor();
   catalog::Relation range, multirange;
   range.relationKind = catalog::RelationKind::Range;
   multirange.relationKind = catalog::RelationKind::Multirange;
   range.rowType = editor.allocateTypeOid(target.schema, target.name.name) | userRangeKind;
   multirange.rowType = editor.allocateOid() | userMultirangeKind;
   for (catalog::Relation* each : {&range, &multirange}) {
      each->schema = target.schema;
      each->persistence = target.persistence();
      each->rowTypeArray = arrayTypeOf(each->rowType);
      each->range = attributes.definition;
      each->columns.emplace_back();
   }
   range.name = target.name.name;
   range.range->partner = multirange.rowType;
   range.columns[0].name = "subtype";
   range.columns[0].type = attributes.subtype;
   multirange.name = multirangeNameFor(range.name);
   if (attributes.multirangeName) {
      multirange.name = attributes.multirangeName->name;
      if (!attributes.multirangeName->schema.empty())
         multirange.schema =
             catalog::creationSchema(core.transaction.catalog(), core.searchPath(), *attributes.multirangeName);
   }
   multirange.range->partner = range.rowType;
   multirange.columns[0].name = "range";
   multirange.columns[0].type = {range.rowType, -1, invalidOid};
   requireNewMultirange(core, multirange.schema, multirange.name, range.name);
   if (multirange.name == range.name && multirange.schema == range.schema)
      throw SqlError(sqlstate::duplicateObject, "type \"" + range.name + "\" already exists");
   editor.createRelation(std::move(range));
   editor.createRelation(std::move(multirange));
   return "CREATE TYPE";
}

} // namespace ouzel::engine
