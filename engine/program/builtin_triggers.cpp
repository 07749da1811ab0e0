#include "engine/program/builtin_triggers.hpp"

#include "common/error/sql_error.hpp"
#include "engine/program/text_search_trigger.hpp"

namespace ouzel::engine {

namespace {

constexpr std::string_view suppressUpdates = "suppress_redundant_updates_trigger";

[[noreturn]] void refuse(std::string_view name, const char* what) {
   throw SqlError(sqlstate::eRIETriggerProtocolViolated, std::string(name) + ": must be called " + what);
}

/// An UPDATE that gives a row the values that it has is left out.
std::optional<std::string> suppressRedundantUpdates(const TriggerCall& call) {
   if (call.event != catalog::trigger_bit::update) refuse(suppressUpdates, "on update");
   if (!call.trigger.has(catalog::trigger_bit::before)) refuse(suppressUpdates, "before update");
   if (!call.trigger.has(catalog::trigger_bit::row)) refuse(suppressUpdates, "for each row");
   if (*call.oldRow == *call.newRow) return std::nullopt;
   return std::string(*call.newRow);
}

} // namespace

bool isBuiltinTrigger(std::string_view name) {
   return name == suppressUpdates || isTextSearchTrigger(name);
}

std::optional<std::string> runBuiltinTrigger(SessionCore& core, std::string_view name, const TriggerCall& call) {
   if (isTextSearchTrigger(name)) return runTextSearchTrigger(core, name, call);
   if (name != suppressUpdates) throwInternal("a trigger calls a built-in function that is none for triggers");
   return suppressRedundantUpdates(call);
}

} // namespace ouzel::engine
