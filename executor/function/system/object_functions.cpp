#include "executor/function/system/object_functions.hpp"

#include "catalog/pg_catalog/object_identity.hpp"
#include "catalog/pg_catalog/statistics_text.hpp"
#include "common/type/array.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/name_scope.hpp"

// Kernels about objects of every class, and about extended statistics: pg_describe_object, pg_get_statisticsobjdef, ...

namespace ouzel::executor {

namespace {

std::optional<StringView> copied(const std::optional<std::string>& text, KernelEnv& env) {
   return text ? std::optional(env.copy(*text)) : std::nullopt;
}

std::optional<StringView> statisticsDefinition(int64_t oid, KernelEnv& env) {
   return copied(catalog::statisticsDefinition(NameScope(env.context).names(), static_cast<Oid>(oid)), env);
}
std::optional<StringView> statisticsColumns(int64_t oid, KernelEnv& env) {
   return copied(catalog::statisticsColumns(NameScope(env.context).names(), static_cast<Oid>(oid)), env);
}
std::optional<StringView> statisticsExpressions(int64_t oid, KernelEnv& env) {
   std::vector<Value> texts;
   for (const std::string& text : catalog::statisticsExpressions(NameScope(env.context).names(), static_cast<Oid>(oid)))
      texts.push_back(Value::string(text));
   return texts.empty() ? std::nullopt : std::optional(env.copy(makeArray(oid::text, texts)));
}
std::optional<bool> isStatisticsVisible(int64_t oid, KernelEnv& env) {
   const NameScope scope(env.context);
   const catalog::Snapshot& snapshot = scope.names().snapshot;
   const auto statistics = snapshot.statistics(static_cast<Oid>(oid));
   if (!statistics) return std::nullopt;
   return catalog::isVisible(snapshot, scope.names().path, *statistics);
}
std::optional<StringView> describeObject(int64_t classOid, int64_t object, int32_t attribute, KernelEnv& env) {
   if (classOid == 0 && object == 0) return std::nullopt;
   return copied(catalog::identifyObject(NameScope(env.context).names(), static_cast<Oid>(classOid),
                                         static_cast<Oid>(object), attribute)
                     .description,
                 env);
}

} // namespace

void registerObjectFunctions() {
   addKernel<statisticsDefinition>("pg_get_statisticsobjdef");
   addKernel<statisticsColumns>("pg_get_statisticsobjdef_columns");
   addKernel<statisticsExpressions>("pg_get_statisticsobjdef_expressions");
   addKernel<isStatisticsVisible>("pg_statistics_obj_is_visible");
   addKernel<describeObject>("pg_describe_object");
}

} // namespace ouzel::executor
