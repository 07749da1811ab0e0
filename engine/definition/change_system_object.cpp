#include "engine/definition/change_system_object.hpp"

#include "engine/definition/function/function.hpp"
#include "engine/definition/operator/operator.hpp"

// DROP and ALTER of objects that only the system has.

namespace ouzel::engine {

using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::stringOf;

namespace {

/// Built-in objects with greater OIDs may be dropped in PostgreSQL: FirstUnpinnedObjectId.
constexpr Oid firstUnpinned = 12000;

[[noreturn]] void refuseToDrop(::ObjectType type, const SystemObject& object) {
   if (!object.owner.empty())
      throw SqlError(sqlstate::dependentObjectsStillExist,
                     "cannot drop " + object.description + " because " + object.owner + " requires it")
          .hint("You can drop " + object.owner + " instead.");
   if (object.oid < firstUnpinned)
      throw SqlError(sqlstate::dependentObjectsStillExist,
                     "cannot drop " + object.description + " because it is required by the database system");
   throwNotSupported(std::string(tagOf(Verb::Drop, type)) + " of a built-in object");
}

/// Throws the error for a missing object, or says with IF EXISTS that it is skipped.
void requireOrSkip(SessionCore& core, const SystemObject& object, bool missingOk) {
   if (!missingOk) throw SqlError(*object.missing);
   core.notice(object.skipped + ", skipping");
}

void dropNamed(SessionCore& core, ::ObjectType type, const char* name, bool missingOk) {
   const SystemObject object = findSystemObject(core, type, std::vector<std::string>{name});
   if (!object.missing) refuseToDrop(type, object);
   requireOrSkip(core, object, missingOk);
}

/// What an ALTER of its own kind of statement names.
struct Altered {
   ::ObjectType type;
   const ::Node* object;       ///< null: `name`
   const char* name = nullptr; ///< of an object without a schema
};

template <typename T>
const ::Node* nodeOf(const T* part) {
   return reinterpret_cast<const ::Node*>(part);
}

std::optional<Altered> alteredBy(const ::Node* node) {
   switch (nodeTag(node)) {
   case T_AlterFunctionStmt: {
      const auto& statement = *as<::AlterFunctionStmt>(node);
      return Altered{statement.objtype, nodeOf(statement.func)};
   }
   case T_AlterTypeStmt: return Altered{OBJECT_TYPE, nodeOf(as<::AlterTypeStmt>(node)->typeName)};
   case T_AlterOperatorStmt: return Altered{OBJECT_OPERATOR, nodeOf(as<::AlterOperatorStmt>(node)->opername)};
   case T_AlterEventTrigStmt: return Altered{OBJECT_EVENT_TRIGGER, nullptr, as<::AlterEventTrigStmt>(node)->trigname};
   case T_AlterSubscriptionStmt:
      return Altered{OBJECT_SUBSCRIPTION, nullptr, as<::AlterSubscriptionStmt>(node)->subname};
   case T_AlterTableSpaceOptionsStmt:
      return Altered{OBJECT_TABLESPACE, nullptr, as<::AlterTableSpaceOptionsStmt>(node)->tablespacename};
   default: return std::nullopt;
   }
}

SystemObject findFamily(SessionCore& core, const ::AlterOpFamilyStmt& statement) {
   std::vector<std::string> name{statement.amname};
   for (const ::Node* part : ListOf<>(statement.opfamilyname))
      name.emplace_back(stringOf(part));
   return findSystemObject(core, OBJECT_OPFAMILY, std::move(name));
}

} // namespace

std::string dropSystemObjects(CommandContext& context, const ::DropStmt& statement) {
   SessionCore& core = context.core;
   const ::ObjectType type = statement.removeType;
   std::string tag(tagOf(Verb::Drop, type));
   requireWritable(core, tag);
   std::vector<SystemObject> found;
   catalog::DropTargets functions; // and operators and casts
   for (const ::Node* node : ListOf<>(statement.objects)) {
      SystemObject object = findSystemObject(core, type, node);
      if (object.missing) {
         requireOrSkip(core, object, statement.missing_ok);
         continue;
      }
      const catalog::FunctionInfo* function =
          type == OBJECT_FUNCTION ? catalog::functionInfo(core.transaction.catalog(), object.oid) : nullptr;
      if (function && function->kind == catalog::FunctionKind::Aggregate)
         throw SqlError(sqlstate::wrongObjectType, "\"" + std::string(function->name) + "\" is an aggregate function")
             .hint("Use DROP AGGREGATE to drop aggregate functions.");
      if (const auto own = core.transaction.catalog().function(object.oid);
          own && object.classOid == catalog::class_oid::pgProc) {
         requireDroppable(core, *own);
         functions.functions.push_back(own->oid);
         continue;
      }
      const auto op = type == OBJECT_OPERATOR ? core.transaction.catalog().op(object.oid) : nullptr;
      const auto cast = type == OBJECT_CAST ? core.transaction.catalog().cast(object.oid) : nullptr;
      if (op) requireDroppable(core, *op);
      if (cast) requireDroppable(core, *cast);
      if (op) functions.operators.push_back(op->oid);
      if (cast) functions.casts.push_back(cast->oid);
      if (op || cast) continue;
      found.push_back(std::move(object));
   }
   if (!found.empty()) refuseToDrop(type, found.front());
   const auto behavior =
       statement.behavior == DROP_CASCADE ? catalog::DropBehavior::Cascade : catalog::DropBehavior::Restrict;
   if (functions.count() > 0) announceAndFree(core, core.transaction.editor().dropTogether(functions, behavior));
   return tag;
}

void refuseToDrop(::ObjectType type, const catalog::CollationInfo& collation) {
   SystemObject object;
   object.oid = collation.oid;
   object.description = "collation " + catalog::quoteIdentifier(collation.name);
   refuseToDrop(type, object);
}

void refuseToAlter(::ObjectType type, const SystemObject& object) {
   if (object.missing) throw SqlError(*object.missing);
   throwNotSupported(std::string(tagOf(Verb::Alter, type)) + " of a built-in object");
}

std::optional<std::string> changeSystemObject(CommandContext& context, const ::Node* node) {
   SessionCore& core = context.core;
   if (const auto* function = isNode(node, T_AlterFunctionStmt) ? as<::AlterFunctionStmt>(node) : nullptr)
      if (auto tag = alterFunction(context, *function)) return tag;
   if (const auto* op = isNode(node, T_AlterOperatorStmt) ? as<::AlterOperatorStmt>(node) : nullptr)
      if (auto tag = alterOperator(context, *op)) return tag;
   if (const auto altered = alteredBy(node)) {
      requireWritable(core, tagOf(Verb::Alter, altered->type));
      const SystemObject object = altered->object
                                      ? findSystemObject(core, altered->type, altered->object)
                                      : findSystemObject(core, altered->type, std::vector<std::string>{altered->name});
      refuseToAlter(altered->type, object);
   }
   switch (nodeTag(node)) {
   case T_AlterOpFamilyStmt:
      requireWritable(core, "ALTER OPERATOR FAMILY");
      refuseToAlter(OBJECT_OPFAMILY, findFamily(core, *as<::AlterOpFamilyStmt>(node)));
   case T_AlterObjectDependsStmt: {
      const auto& statement = *as<::AlterObjectDependsStmt>(node);
      const ::ObjectType type = statement.objectType;
      requireWritable(core, tagOf(Verb::Alter, type));
      if (!statement.relation) refuseToAlter(type, findSystemObject(core, type, statement.object));
      throwNotSupported(std::string(tagOf(Verb::Alter, type)) + " ... DEPENDS ON EXTENSION");
   }
   case T_DropSubscriptionStmt: {
      const auto& statement = *as<::DropSubscriptionStmt>(node);
      requireWritable(core, "DROP SUBSCRIPTION");
      dropNamed(core, OBJECT_SUBSCRIPTION, statement.subname, statement.missing_ok);
      return "DROP SUBSCRIPTION";
   }
   case T_DropTableSpaceStmt: {
      const auto& statement = *as<::DropTableSpaceStmt>(node);
      requireWritable(core, "DROP TABLESPACE");
      const SystemObject object =
          findSystemObject(core, OBJECT_TABLESPACE, std::vector<std::string>{statement.tablespacename});
      if (!object.missing)
         throw SqlError(sqlstate::insufficientPrivilege,
                        "permission denied for tablespace " + std::string(statement.tablespacename));
      requireOrSkip(core, object, statement.missing_ok);
      return "DROP TABLESPACE";
   }
   default: return std::nullopt;
   }
}

} // namespace ouzel::engine
