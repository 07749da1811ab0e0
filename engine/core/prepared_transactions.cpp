#include "engine/core/prepared_transactions.hpp"

#include "common/error/sql_error.hpp"
#include "common/log/log.hpp"

namespace ouzel::engine {

PreparedTransactions::~PreparedTransactions() {
   for (auto& [name, slot] : slots_) {
      if (slot.entry.storage) storage_.abort(*slot.entry.storage);
      if (slot.entry.locks) locks_.releaseAll(*slot.entry.locks);
   }
}

void PreparedTransactions::reserve(const std::string& name, size_t most) {
   if (most == 0)
      throw SqlError(sqlstate::objectNotInPrerequisiteState, "prepared transactions are disabled")
          .hint("Set max_prepared_transactions to a nonzero value.");
   const MutexLock lock(mutex_);
   if (slots_.contains(name))
      throw SqlError(sqlstate::duplicateObject, "transaction identifier \"" + name + "\" is already in use");
   if (slots_.size() >= most)
      throw SqlError(sqlstate::outOfMemory, "maximum number of prepared transactions reached")
          .hint("Increase max_prepared_transactions (currently " + std::to_string(most) + ").");
   slots_.emplace(name, Slot());
}

void PreparedTransactions::keep(const std::string& name, Entry entry) {
   const MutexLock lock(mutex_);
   Slot& slot = slots_.at(name);
   slot.entry = std::move(entry);
   slot.isBusy = false;
}

PreparedTransactions::Entry PreparedTransactions::claim(const std::string& name) {
   const MutexLock lock(mutex_);
   const auto found = slots_.find(name);
   if (found == slots_.end())
      throw SqlError(sqlstate::undefinedObject, "prepared transaction with identifier \"" + name + "\" does not exist");
   if (std::exchange(found->second.isBusy, true))
      throw SqlError(sqlstate::objectNotInPrerequisiteState,
                     "prepared transaction with identifier \"" + name + "\" is busy");
   return std::move(found->second.entry);
}

void PreparedTransactions::forget(const std::string& name) {
   const MutexLock lock(mutex_);
   slots_.erase(name);
}

std::optional<uint32_t> PreparedTransactions::numberOf(const std::string& name) {
   const MutexLock lock(mutex_);
   const auto found = slots_.find(name);
   if (found == slots_.end() || !found->second.entry.locks) return std::nullopt;
   return static_cast<uint32_t>(found->second.entry.locks->transaction.load());
}

PreparedTransactions::Entry PreparedTransactions::made(const catalog::PreparedTransaction& prepared,
                                                       LockOwner* before) {
   Entry entry;
   entry.locks = std::make_unique<LockOwner>(0, prepared.database);
   entry.storage = storage_.begin();
   const LockTag own = LockTag::transaction(entry.storage->id());
   locks_.acquire(*entry.locks, own, LockMode::Exclusive, {});
   entry.locks->transaction.store(own.object);
   try {
      for (const catalog::PreparedTransaction::Lock& lock : prepared.locks)
         if (!locks_.acquire(*entry.locks, {static_cast<LockKind>(lock.kind), lock.object, lock.detail},
                             static_cast<LockMode>(lock.mode), {.noWait = true}) &&
             !before)
            throw SqlError(sqlstate::lockNotAvailable,
                           "others hold locks of prepared transaction \"" + prepared.name + "\"");
      storage_.repeat(*entry.storage, prepared.writes);
   } catch (...) {
      storage_.abort(*entry.storage);
      locks_.releaseAll(*entry.locks);
      throw;
   }
   if (before) {
      locks_.moveTo(*before, *entry.locks);
      entry.locks->transaction.store(own.object);
   }
   return entry;
}

void PreparedTransactions::restore(const catalog::PreparedTransaction& prepared) {
   Entry entry;
   try {
      entry = made(prepared);
   } catch (const SqlError& error) { // of a damaged table; ROLLBACK PREPARED ends it
      logLine(LogLevel::Error, "prepared transaction \"" + prepared.name + "\" cannot be made again: " + error.what());
   }
   const MutexLock lock(mutex_);
   slots_[prepared.name] = {std::move(entry), false};
}

} // namespace ouzel::engine
