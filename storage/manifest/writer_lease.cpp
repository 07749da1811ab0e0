#include "storage/manifest/writer_lease.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <set>
#include <thread>
#include <unistd.h>

#include "common/env/clock.hpp"
#include "common/error/format_version.hpp"
#include "common/error/sql_error.hpp"
#include "common/log/log.hpp"
#include "io/file/file.hpp"
#include "storage/base/byte_codec.hpp"
#include "storage/manifest/manifest.hpp"

namespace ouzel::storage {

namespace {

constexpr uint64_t leaseFormat = 1;
constexpr int64_t nanosPerMs = 1'000'000;
constexpr std::string_view prefix = "writer/";

/// Leases that this process holds. They tell a lease of a database that this process closed without release() from one
/// in use.
Mutex liveMutex;
std::set<uint64_t> liveLeases GUARDED_BY(liveMutex);

std::string firstLine(const char* path) {
   std::ifstream file(path);
   std::string line;
   std::getline(file, line);
   return line;
}

/// Start time of a process in clock ticks since boot. 0: the process has ended, and only its entry waits for its
/// parent. Empty: /proc does not tell.
std::optional<uint64_t> startTicksOf(int64_t processId) {
   const std::string line = firstLine(("/proc/" + std::to_string(processId) + "/stat").c_str());
   const size_t name = line.rfind(')'); // the name may contain spaces and parentheses
   if (name == std::string::npos || name + 2 >= line.size()) return std::nullopt;
   if (line[name + 2] == 'Z' || line[name + 2] == 'X') return 0;
   size_t at = name + 2;
   for (int field = 3; field < 22 && at != std::string::npos; ++field) // proc(5): the 22nd is starttime
      at = line.find(' ', at + 1);
   return at == std::string::npos ? std::nullopt : std::optional(std::strtoull(line.c_str() + at + 1, nullptr, 10));
}

enum class Fate : uint8_t { Gone, Alive, Unknown };

Fate fateOf(const WriterIdentity& holder) {
   const WriterIdentity self = WriterIdentity::ofThisProcess();
   if (self.boot.empty() || self.pidNamespace.empty() || holder.boot != self.boot ||
       holder.pidNamespace != self.pidNamespace)
      return Fate::Unknown;
   if (holder.processId == self.processId && holder.startTicks == self.startTicks) {
      const MutexLock lock(liveMutex);
      return liveLeases.contains(holder.id) ? Fate::Alive : Fate::Gone;
   }
   if (::kill(static_cast<pid_t>(holder.processId), 0) != 0 && errno == ESRCH) return Fate::Gone;
   const auto ticks = startTicksOf(holder.processId);
   return ticks && *ticks != holder.startTicks ? Fate::Gone : Fate::Alive;
}

bool isOfThisMachine(const WriterIdentity& holder) {
   const WriterIdentity self = WriterIdentity::ofThisProcess();
   return (!self.boot.empty() && holder.boot == self.boot) ||
          (!self.machine.empty() && holder.machine == self.machine && holder.host == self.host);
}

std::string seconds(int64_t ms) {
   char text[32];
   std::snprintf(text, sizeof text, "%g s", static_cast<double>(ms) / 1000);
   return text;
}

std::string nameOf(const WriterIdentity& holder) {
   return "process " + std::to_string(holder.processId) + " on \"" + holder.host + "\"";
}

/// The time `ms` from now by this machine's clock: for messages, not for decisions.
std::string timeAfter(int64_t ms) {
   constexpr int64_t unixShift = 946'684'800; // from 1970 to 2000
   const std::time_t time = wallClockMicros() / 1'000'000 + unixShift + (ms + 999) / 1000;
   std::tm parts;
   char text[40];
   ::gmtime_r(&time, &parts);
   std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
   return text;
}

[[noreturn]] void refuse(const LeaseEntry& seen, const char* what, const char* hint) {
   throw SqlError(sqlstate::objectInUse, "the database is in use by " + nameOf(seen.holder))
       .detail(what + ("; its lease of " + seconds(seen.durationMs)) + " ends at " + timeAfter(seen.durationMs) +
               " unless it is renewed.")
       .hint(hint);
}

} // namespace

WriterIdentity WriterIdentity::ofThisProcess() {
   WriterIdentity identity;
   char host[256] = {};
   ::gethostname(host, sizeof host - 1);
   identity.host = host;
   identity.machine = firstLine("/etc/machine-id");
   identity.boot = firstLine("/proc/sys/kernel/random/boot_id");
   char space[64] = {};
   if (::readlink("/proc/self/ns/pid", space, sizeof space - 1) > 0) identity.pidNamespace = space;
   identity.processId = ::getpid();
   identity.startTicks = startTicksOf(identity.processId).value_or(0);
   return identity;
}

std::string LeaseEntry::serialize() const {
   std::string bytes;
   ByteWriter out(bytes);
   out.varint(leaseFormat);
   out.varint(number);
   out.varint(epoch);
   out.varint(static_cast<uint64_t>(durationMs));
   out.fixed(static_cast<uint8_t>(isReleased));
   out.fixed(holder.id);
   out.string(holder.host);
   out.string(holder.machine);
   out.string(holder.boot);
   out.string(holder.pidNamespace);
   out.varint(static_cast<uint64_t>(holder.processId));
   out.varint(holder.startTicks);
   return bytes;
}

LeaseEntry LeaseEntry::deserialize(std::string_view bytes) {
   ByteReader in(bytes);
   if (const uint64_t format = in.varint(); format != leaseFormat)
      throwUnknownFormat("The writer's lease", format, leaseFormat);
   LeaseEntry entry;
   entry.number = in.varint();
   entry.epoch = in.varint();
   entry.durationMs = static_cast<int64_t>(in.varint());
   entry.isReleased = in.fixed<uint8_t>() != 0;
   entry.holder.id = in.fixed<uint64_t>();
   entry.holder.host = in.string();
   entry.holder.machine = in.string();
   entry.holder.boot = in.string();
   entry.holder.pidNamespace = in.string();
   entry.holder.processId = static_cast<int64_t>(in.varint());
   entry.holder.startTicks = in.varint();
   return entry;
}

std::string LeaseEntry::objectName(uint64_t number) {
   char name[40];
   std::snprintf(name, sizeof name, "writer/%016llx", static_cast<unsigned long long>(~number));
   return name;
}

std::optional<LeaseEntry> LeaseEntry::newest(io::ObjectStore& store) {
   while (true) {
      const auto listed = store.list(prefix, 1);
      if (listed.empty()) return std::nullopt;
      try {
         return deserialize(getSealed(store, listed[0].name));
      } catch (const SqlError&) {
         if (store.open(listed[0].name)) throw;
         // The next entry has replaced this one meanwhile: list again.
      }
   }
}

WriterLease::WriterLease(io::ObjectStore& store, LeaseOptions options, uint64_t epochBefore)
   : store_(store), options_(std::move(options)), now_(options_.now ? options_.now : bootNanos),
     sleep_(options_.sleep ? options_.sleep
                           : [](int64_t nanos) { std::this_thread::sleep_for(std::chrono::nanoseconds(nanos)); }) {
   own_.holder = WriterIdentity::ofThisProcess();
   const io::File source("/dev/urandom", io::File::Mode::Read);
   source.readAt(&own_.holder.id, sizeof own_.holder.id, 0);
   holderId_ = own_.holder.id;
   own_.durationMs = options_.durationMs;
   claim(epochBefore);
   {
      const MutexLock lock(liveMutex);
      liveLeases.insert(holderId_);
   }
   if (!options_.renewsItself) return;
   renewals_.start(options_.durationMs / 3, [this, isFailing = false]() mutable -> int64_t {
      try {
         renew();
         isFailing = false;
         return isFenced_ ? 0 : options_.durationMs / 3;
      } catch (const std::exception& error) {
         if (!isFailing)
            logLine(LogLevel::Warning, std::string("the writer's lease could not be renewed: ") + error.what());
         isFailing = true;
         return options_.durationMs / 20;
      }
   });
}

WriterLease::~WriterLease() {
   stopRenewing();
   const MutexLock lock(liveMutex);
   liveLeases.erase(holderId_);
}

void WriterLease::claim(uint64_t epochBefore) {
   std::optional<LeaseEntry> seen = LeaseEntry::newest(store_);
   if (seen && !seen->isReleased) {
      const Fate fate = fateOf(seen->holder);
      constexpr const char* hint = "If that server will not come back, start with --take-over, which waits until the "
                                   "lease has expired.";
      if (!options_.takesOver && fate == Fate::Alive) refuse(*seen, "The process is alive", hint);
      if (!options_.takesOver && fate == Fate::Unknown && !isOfThisMachine(seen->holder))
         refuse(*seen, "It did not close the database", hint);
      if (fate != Fate::Gone) {
         seen = watch(std::move(*seen));
         mayPredecessorLive_ = !seen->isReleased;
      }
   }
   const MutexLock lock(mutex_);
   LeaseEntry next = own_;
   next.number = seen ? seen->number + 1 : 1;
   next.epoch = std::max(seen ? seen->epoch : 0, epochBefore) + 1;
   own_.epoch = epoch_ = next.epoch;
   if (put(std::move(next))) return;
   if (const auto other = LeaseEntry::newest(store_)) refuse(*other, "It has claimed the database just now", "");
   throw SqlError(sqlstate::objectInUse, "another server has claimed the database just now");
}

LeaseEntry WriterLease::watch(LeaseEntry seen) {
   logLine(LogLevel::Log,
           "waiting " + seconds(seen.durationMs) + " for the lease of " + nameOf(seen.holder) + " to expire");
   // Wait a tenth longer: clocks of two machines differ in speed.
   const int64_t until = now_() + seen.durationMs * nanosPerMs / 10 * 11;
   while (now_() < until) {
      sleep_(std::max<int64_t>(seen.durationMs * nanosPerMs / 20, nanosPerMs));
      const auto newest = LeaseEntry::newest(store_);
      if (!newest || newest->number == seen.number) continue;
      if (!newest->isReleased) refuse(*newest, "It has renewed its lease", "Stop that server first.");
      return *newest;
   }
   return seen;
}

bool WriterLease::put(LeaseEntry next) {
   while (true) {
      const int64_t start = now_();
      const bool isStored = putSealed(store_, LeaseEntry::objectName(next.number), next.serialize());
      const auto newest = LeaseEntry::newest(store_);
      if (newest && newest->holder.id != holderId_) return false;
      if (isStored) {
         own_.number = next.number;
         own_.isReleased = next.isReleased;
         if (!next.isReleased) validUntil_ = start + next.durationMs * nanosPerMs;
         removeOlder(next.number);
         return true;
      }
      // An earlier put seemed to fail, but has stored its object after all. Other servers may have seen that object for
      // some time, so it does not count as a renewal: put the next number.
      if (newest) next.number = newest->number;
      ++next.number;
   }
}

void WriterLease::removeOlder(uint64_t newest) {
   try {
      for (const io::ObjectInfo& object : store_.list(prefix))
         if (object.name > LeaseEntry::objectName(newest)) store_.remove(object.name);
   } catch (const SqlError&) { // removed after the next put
   }
}

void WriterLease::renew() {
   const MutexLock lock(mutex_);
   if (isFenced_ || own_.isReleased) return;
   LeaseEntry next = own_;
   ++next.number;
   if (!put(std::move(next))) fence();
}

void WriterLease::require() {
   if (!isFenced_ && !isTime()) renew();
   if (isFenced_) throwFenced();
}

bool WriterLease::confirm() {
   while (!isFenced_ && !isTime()) {
      try {
         renew();
      } catch (const SqlError&) {
         sleep_(std::max<int64_t>(options_.durationMs * nanosPerMs / 20, nanosPerMs));
      }
   }
   return !isFenced_;
}

void WriterLease::fence() {
   validUntil_ = INT64_MIN;
   if (isFenced_.exchange(true) || !options_.onFenced) return;
   std::string by;
   try {
      if (const auto newest = LeaseEntry::newest(store_); newest && newest->holder.id != holderId_)
         by = " (" + nameOf(newest->holder) + ")";
   } catch (const SqlError&) { // the message then does not name the server
   }
   options_.onFenced("another server" + by + " has taken over the database");
}

void WriterLease::throwFenced() const {
   throw SqlError(sqlstate::readOnlySqlTransaction, "another server has taken over the database")
       .hint("Nothing more can be committed here. Connect to that server.");
}

void WriterLease::throwTakenOver() {
   throw SqlError(sqlstate::transactionResolutionUnknown, "another server has taken over the database")
       .detail("It is not known whether the transaction is committed.")
       .hint("Connect to that server and look.");
}

void WriterLease::release() {
   stopRenewing();
   const MutexLock lock(mutex_);
   if (isFenced_) return;
   LeaseEntry next = own_;
   ++next.number;
   next.isReleased = true;
   if (!put(std::move(next))) fence();
}

} // namespace ouzel::storage
