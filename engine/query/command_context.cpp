#include "engine/query/command_context.hpp"

#include "sql/bind/binder.hpp"

namespace ouzel::engine {

catalog::QualifiedName commandTarget(CommandContext& context, const catalog::SearchPath& path, const ::RangeVar& name) {
   catalog::QualifiedName target = sql::qualifiedName(name, context.core.bindContext(path, &context.source()));
   target.position = 0;
   return target;
}

} // namespace ouzel::engine
