#include "engine/command/command.hpp"
#include "sql/parse/node_access.hpp"

// LISTEN, NOTIFY and UNLISTEN: see engine/core/notifications.hpp.

namespace ouzel::engine {

using Step = PendingNotifications::Step;

std::string listen(CommandContext& context, const ::ListenStmt& statement) {
   context.core.transaction.notifications.add(Step::Listen, statement.conditionname);
   return "LISTEN";
}

std::string notify(CommandContext& context, const ::NotifyStmt& statement) {
   context.core.notify(statement.conditionname, std::string(sql::textOf(statement.payload)));
   return "NOTIFY";
}

std::string unlisten(CommandContext& context, const ::UnlistenStmt& statement) {
   if (statement.conditionname)
      context.core.transaction.notifications.add(Step::Unlisten, statement.conditionname);
   else
      context.core.transaction.notifications.add(Step::UnlistenAll, {});
   return "UNLISTEN";
}

} // namespace ouzel::engine
