#include "common/base_type/xid_snapshot.hpp"

#include "executor/function/base_type_families.hpp"
#include "executor/function/context.hpp"
#include "executor/function/kernel_helpers.hpp"

// Functions of pg_snapshot; the older ones of txid_snapshot have the same names in C and become the same kernels.

namespace ouzel::executor {

namespace {

XidSnapshot snapshotOf(StringView text) {
   return readXidSnapshot(text.view()).value();
}

StringView current(KernelEnv& env) {
   const uint64_t oldest = env.context.requireSession("pg_current_snapshot").oldestOpenTransaction();
   return env.copy(xidSnapshotText({oldest, oldest, {}}));
}
int64_t xmin(StringView snapshot) {
   return static_cast<int64_t>(snapshotOf(snapshot).xmin);
}
int64_t xmax(StringView snapshot) {
   return static_cast<int64_t>(snapshotOf(snapshot).xmax);
}
bool isVisible(int64_t transaction, StringView snapshot) {
   return snapshotOf(snapshot).isVisible(static_cast<uint64_t>(transaction));
}

/// age(xid): how many transactions ago; the first three numbers stand for older ones than any.
int32_t age(int64_t xid, KernelEnv& env) {
   constexpr int64_t firstNormal = 3;
   if (xid < firstNormal) return INT32_MAX;
   const uint64_t next = env.context.requireSession("age").oldestOpenTransaction();
   return static_cast<int32_t>(static_cast<uint32_t>(next) - static_cast<uint32_t>(xid));
}

} // namespace

void registerXidSnapshot() {
   addKernel<age>("xid_age");
   addKernel<current>("pg_current_snapshot");
   addKernel<xmin>("pg_snapshot_xmin");
   addKernel<xmax>("pg_snapshot_xmax");
   addKernel<isVisible>("pg_visible_in_snapshot");
}

} // namespace ouzel::executor
