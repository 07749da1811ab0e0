#include "executor/function/array_builder.hpp"
#include "executor/function/context.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"

// Advisory locks, pg_blocking_pids(), and what NOTIFY does. The kernels call the session (SessionFunctions), which has
// the locks.

namespace ouzel::executor {

namespace {

using Advisory = AdvisoryLock;

Advisory ofPair(int32_t high, int32_t low) {
   return {static_cast<int64_t>(static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32 | static_cast<uint32_t>(low)),
           true};
}

StringView wait(KernelEnv& env, Advisory lock, bool isSession, bool isShared) {
   lock.isSession = isSession;
   lock.isShared = isShared;
   env.context.requireSession("pg_advisory_lock").lockAdvisory(lock);
   return StringView();
}
bool tryOnce(KernelEnv& env, Advisory lock, bool isSession, bool isShared) {
   lock.isSession = isSession;
   lock.isShared = isShared;
   lock.noWait = true;
   return env.context.requireSession("pg_try_advisory_lock").lockAdvisory(lock);
}
bool unlock(KernelEnv& env, Advisory lock, bool isShared) {
   lock.isShared = isShared;
   return env.context.requireSession("pg_advisory_unlock").unlockAdvisory(lock);
}

template <bool isSession, bool isShared>
StringView wait8(int64_t key, KernelEnv& env) {
   return wait(env, {key}, isSession, isShared);
}
template <bool isSession, bool isShared>
StringView wait4(int32_t high, int32_t low, KernelEnv& env) {
   return wait(env, ofPair(high, low), isSession, isShared);
}
template <bool isSession, bool isShared>
bool try8(int64_t key, KernelEnv& env) {
   return tryOnce(env, {key}, isSession, isShared);
}
template <bool isSession, bool isShared>
bool try4(int32_t high, int32_t low, KernelEnv& env) {
   return tryOnce(env, ofPair(high, low), isSession, isShared);
}
template <bool isShared>
bool unlock8(int64_t key, KernelEnv& env) {
   return unlock(env, {key}, isShared);
}
template <bool isShared>
bool unlock4(int32_t high, int32_t low, KernelEnv& env) {
   return unlock(env, ofPair(high, low), isShared);
}
/// Both may be NULL: then they are empty.
void sendNotification(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      const auto text = [&](size_t i) {
         return call.args[i].isNull(row) ? std::string() : std::string(call.args[i].value<StringView>(row).view());
      };
      call.context.requireSession("pg_notify").notify(text(0), text(1));
      out[row] = StringView();
   });
}
double queueUsage() {
   return 0; // sessions have what waits for them in their own memory
}

StringView unlockAll(KernelEnv& env) {
   env.context.requireSession("pg_advisory_unlock_all").unlockAllAdvisory();
   return StringView();
}

StringView blockingPids(int32_t pid, KernelEnv& env) {
   ArrayBuilder pids(env.strings, oid::int4);
   for (const int32_t blocker : env.context.requireSession("pg_blocking_pids").blockersOf(pid))
      pids.add(&blocker);
   return pids.finish();
}

} // namespace

void registerLocks() {
   registerKernel("pg_notify", anyArguments, {sendNotification, false, false});
   addKernel<queueUsage>("pg_notification_queue_usage");
   addKernel<wait8<true, false>>("pg_advisory_lock_int8");
   addKernel<wait8<true, true>>("pg_advisory_lock_shared_int8");
   addKernel<wait8<false, false>>("pg_advisory_xact_lock_int8");
   addKernel<wait8<false, true>>("pg_advisory_xact_lock_shared_int8");
   addKernel<wait4<true, false>>("pg_advisory_lock_int4");
   addKernel<wait4<true, true>>("pg_advisory_lock_shared_int4");
   addKernel<wait4<false, false>>("pg_advisory_xact_lock_int4");
   addKernel<wait4<false, true>>("pg_advisory_xact_lock_shared_int4");
   addKernel<try8<true, false>>("pg_try_advisory_lock_int8");
   addKernel<try8<true, true>>("pg_try_advisory_lock_shared_int8");
   addKernel<try8<false, false>>("pg_try_advisory_xact_lock_int8");
   addKernel<try8<false, true>>("pg_try_advisory_xact_lock_shared_int8");
   addKernel<try4<true, false>>("pg_try_advisory_lock_int4");
   addKernel<try4<true, true>>("pg_try_advisory_lock_shared_int4");
   addKernel<try4<false, false>>("pg_try_advisory_xact_lock_int4");
   addKernel<try4<false, true>>("pg_try_advisory_xact_lock_shared_int4");
   addKernel<unlock8<false>>("pg_advisory_unlock_int8");
   addKernel<unlock8<true>>("pg_advisory_unlock_shared_int8");
   addKernel<unlock4<false>>("pg_advisory_unlock_int4");
   addKernel<unlock4<true>>("pg_advisory_unlock_shared_int4");
   addKernel<unlockAll>("pg_advisory_unlock_all");
   addKernel<blockingPids>("pg_blocking_pids");
}

} // namespace ouzel::executor
