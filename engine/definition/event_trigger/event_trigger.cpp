#include "engine/definition/event_trigger/event_trigger.hpp"

#include <algorithm>

#include "catalog/object/function.hpp"
#include "engine/core/database_lock.hpp"
#include "engine/core/privileges.hpp"
#include "engine/query/event_tags.hpp"
#include "engine/role/actor.hpp"
#include "sql/parse/node_access.hpp"

// The checks come in PostgreSQL's order.

namespace ouzel::engine {

using catalog::EventTrigger;
using sql::as;
using sql::ListOf;
using sql::stringOf;

namespace {

EventTrigger* find(catalog::Database& database, const std::string& name) {
   const auto found = std::ranges::find(database.eventTriggers, name, &EventTrigger::name);
   return found == database.eventTriggers.end() ? nullptr : &*found;
}

[[noreturn]] void throwMissing(const std::string& name) {
   throw SqlError(sqlstate::undefinedObject, "event trigger \"" + name + "\" does not exist");
}

/// The trigger of a name. Throws 42704, and 42501 unless the role may change it.
EventTrigger& require(SessionCore& core, catalog::Database& database, const std::string& name) {
   EventTrigger* trigger = find(database, name);
   if (!trigger) throwMissing(name);
   requireRight(actsFor(core, trigger->owner), "must be owner of event trigger " + name);
   return *trigger;
}

void requireFreeName(catalog::Database& database, const std::string& name) {
   if (find(database, name)) throw SqlError(sqlstate::duplicateObject, "event trigger \"" + name + "\" already exists");
}

void put(SessionCore& core, catalog::Database changed) {
   core.transaction.editor().replaceDatabase(std::move(changed));
}

bool ownsSome(SessionCore& core, Oid owner) {
   const auto database = core.transaction.catalog().database(core.transaction.catalog().database());
   return std::ranges::find(database->eventTriggers, owner, &EventTrigger::owner) != database->eventTriggers.end();
}

std::vector<std::string> tagsOf(const ::CreateEventTrigStmt& statement) {
   std::vector<std::string> tags;
   bool hasTags = false;
   for (const ::DefElem* clause : ListOf<::DefElem>(statement.whenclause)) {
      const std::string variable = clause->defname;
      if (variable != "tag") throw SqlError(sqlstate::syntaxError, "unrecognized filter variable \"" + variable + "\"");
      if (std::exchange(hasTags, true))
         throw SqlError(sqlstate::syntaxError, "filter variable \"" + variable + "\" specified more than once");
      for (const ::Node* value : ListOf<>(as<::List>(clause->arg)))
         tags.emplace_back(stringOf(value));
   }
   const bool isRewrite = std::string_view(statement.eventname) == "table_rewrite";
   for (std::string& tag : tags) {
      const std::string written = tag;
      std::ranges::transform(tag, tag.begin(), [](char c) { return c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c; });
      const EventTag known = eventTag(tag);
      if (known == EventTag::Unknown)
         throw SqlError(sqlstate::syntaxError,
                        "filter value \"" + written + "\" not recognized for filter variable \"tag\"");
      if (known == EventTag::NoEvents || (isRewrite && known != EventTag::Rewrites))
         throw SqlError(sqlstate::featureNotSupported, "event triggers are not supported for " + written);
   }
   return tags;
}

Oid functionOf(SessionCore& core, const ::CreateEventTrigStmt& statement) {
   std::vector<std::string> parts;
   std::string name;
   for (const ::Node* part : ListOf<>(statement.funcname)) {
      parts.emplace_back(stringOf(part));
      name += (name.empty() ? "" : ".") + parts.back();
   }
   const catalog::Snapshot& snapshot = core.transaction.catalog();
   const catalog::FunctionInfo* function = nullptr;
   for (const catalog::FunctionInfo* one :
        catalog::functionsNamed(snapshot, core.searchPath(), catalog::toQualifiedName(std::move(parts))))
      if (!function && one->argCount() == 0) function = one;
   if (!function) throw SqlError(sqlstate::undefinedFunction, "function " + name + "() does not exist");
   if (function->returnType != catalog::eventTriggerType)
      throw SqlError(sqlstate::invalidObjectDefinition, "function " + name + " must return type event_trigger");
   return function->oid;
}

} // namespace

std::string createEventTrigger(CommandContext& context, const ::CreateEventTrigStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "CREATE EVENT TRIGGER");
   const std::string name = statement.trigname, event = statement.eventname;
   if (!actorOf(core).isSuperuser)
      throw SqlError(sqlstate::insufficientPrivilege, "permission denied to create event trigger \"" + name + "\"")
          .hint("Must be superuser to create an event trigger.");
   constexpr std::string_view events[] = {"ddl_command_start", "ddl_command_end", "sql_drop", "table_rewrite"};
   if (std::ranges::find(events, event) == std::end(events))
      throw SqlError(sqlstate::syntaxError, "unrecognized event name \"" + event + "\"");
   EventTrigger draft;
   draft.tags = tagsOf(statement);
   catalog::Database database = draftOfDatabase(core);
   requireFreeName(database, name);
   draft.function = functionOf(core, statement);
   draft.oid = core.transaction.editor().allocateOid();
   draft.name = name;
   draft.owner = core.role();
   draft.event = event;
   database.eventTriggers.push_back(std::move(draft));
   put(core, std::move(database));
   return "CREATE EVENT TRIGGER";
}

std::string alterEventTrigger(CommandContext& context, const ::AlterEventTrigStmt& statement) {
   requireWritable(context.core, "ALTER EVENT TRIGGER");
   catalog::Database database = draftOfDatabase(context.core);
   require(context.core, database, statement.trigname).enabled = statement.tgenabled;
   put(context.core, std::move(database));
   return "ALTER EVENT TRIGGER";
}

std::string dropEventTriggers(CommandContext& context, const ::DropStmt& statement) {
   SessionCore& core = context.core;
   requireWritable(core, "DROP EVENT TRIGGER");
   for (const ::Node* object : ListOf<>(statement.objects)) {
      const std::string name(stringOf(object));
      catalog::Database database = draftOfDatabase(core);
      if (!find(database, name)) {
         if (!statement.missing_ok) throwMissing(name);
         core.notice("event trigger \"" + name + "\" does not exist, skipping");
         continue;
      }
      const Oid oid = require(core, database, name).oid;
      core.transaction.editor().setComment(catalog::class_oid::pgEventTrigger, oid, 0, "");
      std::erase_if(database.eventTriggers, [oid](const EventTrigger& one) { return one.oid == oid; });
      put(core, std::move(database));
   }
   return "DROP EVENT TRIGGER";
}

std::string renameEventTrigger(CommandContext& context, const ::RenameStmt& statement) {
   const std::string name(stringOf(statement.object)), newName = statement.newname;
   catalog::Database database = draftOfDatabase(context.core);
   requireFreeName(database, newName);
   require(context.core, database, name).name = newName;
   put(context.core, std::move(database));
   return "ALTER EVENT TRIGGER";
}

void changeEventTriggerOwner(SessionCore& core, const std::string& name, Oid owner) {
   catalog::Database database = draftOfDatabase(core);
   EventTrigger& trigger = require(core, database, name);
   if (trigger.owner == owner) return;
   const auto role = core.transaction.catalog().role(owner);
   if (!role || !role->isSuperuser)
      throw SqlError(sqlstate::insufficientPrivilege,
                     "permission denied to change owner of event trigger \"" + name + "\"")
          .hint("The owner of an event trigger must be a superuser.");
   trigger.owner = owner;
   put(core, std::move(database));
}

void commentOnEventTrigger(SessionCore& core, const std::string& name, const std::string& text) {
   catalog::Database database = draftOfDatabase(core);
   core.transaction.editor().setComment(catalog::class_oid::pgEventTrigger, require(core, database, name).oid, 0, text);
}

void reassignEventTriggers(SessionCore& core, Oid from, Oid to) {
   if (!ownsSome(core, from)) return;
   catalog::Database database = draftOfDatabase(core);
   for (EventTrigger& trigger : database.eventTriggers)
      if (trigger.owner == from) trigger.owner = to;
   put(core, std::move(database));
}

void dropEventTriggersOf(SessionCore& core, Oid owner) {
   if (!ownsSome(core, owner)) return;
   catalog::Database database = draftOfDatabase(core);
   std::erase_if(database.eventTriggers, [owner](const EventTrigger& one) { return one.owner == owner; });
   put(core, std::move(database));
}

} // namespace ouzel::engine
