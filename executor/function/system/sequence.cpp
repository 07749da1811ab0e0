#include "catalog/object/snapshot.hpp"
#include "executor/function/context.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"

// nextval(), currval(), lastval(), setval() and pg_sequence_last_value(). The kernels find the sequence; the engine
// (SessionFunctions) checks values, and reads and changes it.

namespace ouzel::executor {

namespace {

const catalog::Relation& requireSequence(const FunctionContext& context, Oid oid) {
   const catalog::RelationPtr relation = context.catalog->relation(oid);
   if (!relation) throw SqlError(sqlstate::undefinedTable, "could not open relation with OID " + std::to_string(oid));
   if (!relation->sequence) throw SqlError(sqlstate::wrongObjectType, "\"" + relation->name + "\" is not a sequence");
   return *relation; // owned by the catalog snapshot
}

int64_t nextval(int64_t sequence, KernelEnv& env) {
   return env.context.requireSession("nextval").nextValue(requireSequence(env.context, static_cast<Oid>(sequence)));
}
int64_t currval(int64_t sequence, KernelEnv& env) {
   return env.context.requireSession("currval").currentValue(requireSequence(env.context, static_cast<Oid>(sequence)));
}
int64_t lastval(KernelEnv& env) {
   return env.context.requireSession("lastval").lastValue();
}
std::optional<int64_t> lastDrawn(int64_t sequence, KernelEnv& env) {
   return env.context.requireSession("pg_sequence_last_value")
       .lastDrawn(requireSequence(env.context, static_cast<Oid>(sequence)));
}
int64_t setval3(int64_t oid, int64_t value, bool isCalled, KernelEnv& env) {
   const catalog::Relation& sequence = requireSequence(env.context, static_cast<Oid>(oid));
   env.context.requireSession("setval").setValue(sequence, value, isCalled);
   return value;
}
int64_t setval(int64_t sequence, int64_t value, KernelEnv& env) {
   return setval3(sequence, value, true, env);
}

} // namespace

void registerSequence() {
   addKernel<nextval>("nextval_oid");
   addKernel<currval>("currval_oid");
   addKernel<lastval>("lastval");
   addKernel<lastDrawn>("pg_sequence_last_value");
   addKernel<setval>("setval_oid");
   addKernel<setval3>("setval3_oid");
}

} // namespace ouzel::executor
