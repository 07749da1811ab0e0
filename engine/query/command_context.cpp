#include "engine/query/command_context.hpp"

#include "sql/bind/binder.hpp"

namespace ouzel::engine {

catalog::QualifiedName commandTarget(CommandContext& context, const catalog::SearchPath& path, const ::RangeVar& name) {
   catalog::QualifiedName target = sql::qualifiedName(name, context.core.bindContext(path, &context.source()));
   target.position = 0;
   return target;
}

catalog::RelationPtr requireTarget(CommandContext& context, const catalog::SearchPath& path, const ::RangeVar& name) {
   const catalog::QualifiedName target = commandTarget(context, path, name);
   const catalog::Snapshot& snapshot = context.core.transaction.catalog();
   auto relation = catalog::findRelation(snapshot, path, target);
   if (!relation && !target.schema.empty()) catalog::requireSchema(snapshot, path, target.schema);
   return relation ? relation : catalog::requireRelation(snapshot, path, target);
}

void refuseInBlock(const CommandContext& context, std::string_view command) {
   refuseInBlock(context.core, command);
   if (context.script.statements().size() > 1)
      throw SqlError(sqlstate::activeSqlTransaction, std::string(command) + " cannot run inside a transaction block");
}

} // namespace ouzel::engine
