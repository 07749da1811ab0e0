#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/client/notification.hpp"
#include "common/sync/mutex.hpp"
#include "common/value/sql_type.hpp"

// LISTEN, NOTIFY and UNLISTEN. What a transaction says of them takes effect when it commits.

namespace ouzel::engine {

/// What one session has not yet told its client. Thread-safe.
class NotificationQueue {
public:
   void push(const Notification& notification);
   std::vector<Notification> take();
   bool isEmpty() const { return isEmpty_.load(); }

private:
   Mutex mutex_;
   std::deque<Notification> waiting_ GUARDED_BY(mutex_);
   std::atomic<bool> isEmpty_{true};
};

/// Who listens to what, in all databases. Thread-safe.
class NotificationHub {
public:
   using Listener = std::shared_ptr<NotificationQueue>;
   /// A session that listens: the database whose messages it gets, and its process id.
   struct Session {
      Oid database = invalidOid;
      int32_t processId = 0;
      Listener queue;
   };

   void listen(const Session& session, const std::string& channel);
   void unlisten(const Session& session, const std::string& channel);
   void unlistenAll(const Session& session);
   std::vector<std::string> channels(const Session& session) const; ///< to which the session listens, by name
   /// Gives messages to all sessions of the database that listen; those of one call come together and in order.
   /// Returns the process ids of the sessions that have got some.
   std::set<int32_t> publish(Oid database, const std::vector<Notification>& messages);

private:
   mutable Mutex mutex_;
   std::map<std::pair<Oid, std::string>, std::map<int32_t, Listener>> listeners_ GUARDED_BY(mutex_);
};

/// What a transaction has said so far.
class PendingNotifications {
public:
   enum class Step : uint8_t { Listen, Unlisten, UnlistenAll };

   void add(Step step, std::string channel) { steps_.emplace_back(step, std::move(channel)); }
   /// A message that the transaction has sent already counts once.
   void notify(Notification message);
   bool isEmpty() const { return steps_.empty() && messages_.empty(); }
   void clear();
   /// For savepoints: what was said up to here.
   struct Mark {
      size_t steps = 0, messages = 0;
   };
   Mark mark() const { return {steps_.size(), messages_.size()}; }
   void rollbackTo(const Mark& mark);

   const std::vector<std::pair<Step, std::string>>& steps() const { return steps_; }
   const std::vector<Notification>& messages() const { return messages_; }

private:
   std::vector<std::pair<Step, std::string>> steps_;
   std::vector<Notification> messages_;
   std::set<std::pair<std::string, std::string>> sent_; ///< channels and payloads of messages_
};

} // namespace ouzel::engine
