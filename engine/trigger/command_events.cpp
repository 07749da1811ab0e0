#include "engine/trigger/command_events.hpp"

#include <algorithm>

#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "catalog/object/language/language.hpp"
#include "catalog/object/object_name.hpp"
#include "engine/core/privileges.hpp"
#include "engine/query/event_tags.hpp"
#include "engine/query/object_kind.hpp"
#include "engine/trigger/changed_objects.hpp"
#include "sql/parse/node_access.hpp"

namespace ouzel::engine {

using catalog::EventTrigger;
using sql::as;
using sql::isNode;
using sql::ListOf;
using sql::stringOf;

namespace {

const std::vector<EventTrigger>& triggersOf(SessionCore& core) {
   static const std::vector<EventTrigger> none;
   const auto database = core.transaction.catalog().database(core.transaction.catalog().database());
   return database ? database->eventTriggers : none;
}

bool isEnabled(const SessionCore& core, const EventTrigger& trigger) {
   const bool isReplica = core.settings.value("session_replication_role") == "replica";
   return trigger.enabled == 'A' || trigger.enabled == (isReplica ? 'R' : 'O');
}

/// The triggers of an event that fire for a command, in the order of their names.
std::vector<EventTrigger> triggersFor(SessionCore& core, std::string_view event, std::string_view tag) {
   std::vector<EventTrigger> fired;
   for (const EventTrigger& trigger : triggersOf(core))
      if (trigger.event == event && isEnabled(core, trigger) &&
          (trigger.tags.empty() || std::ranges::find(trigger.tags, tag) != trigger.tags.end()))
         fired.push_back(trigger);
   std::ranges::sort(fired, {}, &EventTrigger::name);
   return fired;
}

/// While it lives, functions may ask for the state.
class ShowsState {
public:
   ShowsState(SessionCore& core, const EventState* state) : core_(core), outer_(std::exchange(core.event, state)) {}
   ~ShowsState() { core_.event = outer_; }
   ShowsState(const ShowsState&) = delete;

private:
   SessionCore& core_;
   const EventState* const outer_;
};

void fire(SessionCore& core, std::string_view event, std::string_view tag, const EventState& state,
          const RunCommand& runCommand) {
   for (const EventTrigger& trigger : triggersFor(core, event, tag)) {
      const ShowsState shows(core, &state);
      runEventTrigger(core, trigger.function, event, tag, runCommand);
      core.transaction.storage().nextCommand();
   }
}

} // namespace

CommandEvents::CommandEvents(SessionCore& core, const ::Node& command, const RunCommand& runCommand)
   : core_(core), command_(command), runCommand_(runCommand) {
   if (!core.transaction.isOpen() || core.transaction.hasFailed() || triggersOf(core).empty()) return;
   tag_ = eventTagOf(&command);
   if (tag_.empty() || core.isServer()) return;
   snapshot_ = core.transaction.catalog();
   before_ = core.transaction.editor().savepoint();
}

void CommandEvents::begin() {
   state_.phase = EventState::Phase::Start;
   fire(core_, "ddl_command_start", tag_, state_, runCommand_);
   snapshot_ = core_.transaction.catalog();
   before_ = core_.transaction.editor().savepoint();
   noteNamed();
}

/// Notes what a DROP names, while it is there.
void CommandEvents::noteNamed() {
   if (!isNode(&command_, T_DropStmt)) return;
   const auto& drop = *as<::DropStmt>(&command_);
   const catalog::SearchPath path = core_.searchPath();
   for (const ::Node* object : ListOf<>(drop.objects)) {
      switch (drop.removeType) {
      case OBJECT_SCHEMA:
         if (const auto schema = snapshot_.findSchema(stringOf(object))) named_.push_back(schema->oid);
         break;
      case OBJECT_FDW:
         if (const auto wrapper = snapshot_.findWrapper(stringOf(object))) named_.push_back(wrapper->oid);
         break;
      case OBJECT_FOREIGN_SERVER:
         if (const auto server = snapshot_.findServer(stringOf(object))) named_.push_back(server->oid);
         break;
      case OBJECT_LANGUAGE:
         if (const auto* language = catalog::findUserLanguage(snapshot_, stringOf(object)))
            named_.push_back(language->oid);
         break;
      case OBJECT_TABLE:
      case OBJECT_VIEW:
      case OBJECT_INDEX:
      case OBJECT_SEQUENCE:
      case OBJECT_MATVIEW:
      case OBJECT_FOREIGN_TABLE: {
         std::vector<std::string> parts;
         for (const ::Node* part : ListOf<>(as<::List>(object)))
            parts.emplace_back(stringOf(part));
         const auto relation = catalog::findRelation(snapshot_, path, catalog::toQualifiedName(std::move(parts)));
         if (relation) named_.push_back(relation->oid);
         break;
      }
      default: break;
      }
   }
}

void CommandEvents::end() {
   const std::vector<catalog::Change> changes = core_.transaction.editor().changedSince(*before_);
   core_.transaction.storage().nextCommand();
   state_.changed = changedObjects(core_, changes, tag_);
   if (isNode(&command_, T_GrantStmt)) {
      const ::ObjectType type = as<::GrantStmt>(&command_)->objtype;
      const std::string kind = type == OBJECT_FOREIGN_SERVER ? "FOREIGN SERVER" : std::string(objectKindName(type));
      state_.changed.assign(1, {invalidOid, invalidOid, 0, tag_, kind, {}, {}});
   }
   if (std::ranges::any_of(changes, [](const catalog::Change& change) { return change.before != nullptr; }))
      state_.dropped = droppedObjects(core_, snapshot_, changes, tag_, named_);
   if (!state_.dropped.empty()) {
      state_.phase = EventState::Phase::Drop;
      fire(core_, "sql_drop", tag_, state_, runCommand_);
   }
   state_.phase = EventState::Phase::End;
   fire(core_, "ddl_command_end", tag_, state_, runCommand_);
}

void fireRewrite(SessionCore& core, const catalog::Relation& table, int32_t reason, const RunCommand& runCommand) {
   const std::string_view tag =
       table.relationKind == catalog::RelationKind::MaterializedView ? "ALTER MATERIALIZED VIEW" : "ALTER TABLE";
   EventState state;
   state.phase = EventState::Phase::Rewrite;
   state.rewritten = table.oid;
   state.rewriteReason = reason;
   fire(core, "table_rewrite", tag, state, runCommand);
}

} // namespace ouzel::engine
