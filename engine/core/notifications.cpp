#include "engine/core/notifications.hpp"

#include <algorithm>

namespace ouzel::engine {

void NotificationQueue::push(const Notification& notification) {
   const MutexLock lock(mutex_);
   waiting_.push_back(notification);
   isEmpty_ = false;
}

std::vector<Notification> NotificationQueue::take() {
   const MutexLock lock(mutex_);
   std::vector<Notification> all(waiting_.begin(), waiting_.end());
   waiting_.clear();
   isEmpty_ = true;
   return all;
}

void NotificationHub::listen(const Session& session, const std::string& channel) {
   const MutexLock lock(mutex_);
   listeners_[{session.database, channel}][session.processId] = session.queue;
}

void NotificationHub::unlisten(const Session& session, const std::string& channel) {
   const MutexLock lock(mutex_);
   const auto found = listeners_.find({session.database, channel});
   if (found == listeners_.end()) return;
   found->second.erase(session.processId);
   if (found->second.empty()) listeners_.erase(found);
}

void NotificationHub::unlistenAll(const Session& session) {
   const MutexLock lock(mutex_);
   for (auto at = listeners_.begin(); at != listeners_.end();) {
      if (at->first.first == session.database) at->second.erase(session.processId);
      at = at->second.empty() ? listeners_.erase(at) : std::next(at);
   }
}

std::vector<std::string> NotificationHub::channels(const Session& session) const {
   std::vector<std::string> names;
   const MutexLock lock(mutex_);
   for (const auto& [channel, sessions] : listeners_)
      if (channel.first == session.database && sessions.contains(session.processId)) names.push_back(channel.second);
   return names;
}

std::set<int32_t> NotificationHub::publish(Oid database, const std::vector<Notification>& messages) {
   std::set<int32_t> reached;
   const MutexLock lock(mutex_); // so that all sessions get the messages of two transactions in one order
   for (const Notification& message : messages) {
      const auto found = listeners_.find({database, message.channel});
      if (found == listeners_.end()) continue;
      for (const auto& [processId, queue] : found->second) {
         queue->push(message);
         reached.insert(processId);
      }
   }
   return reached;
}

void PendingNotifications::notify(Notification message) {
   if (sent_.emplace(message.channel, message.payload).second) messages_.push_back(std::move(message));
}

void PendingNotifications::clear() {
   steps_.clear();
   messages_.clear();
   sent_.clear();
}

void PendingNotifications::rollbackTo(const Mark& mark) {
   steps_.resize(std::min(steps_.size(), mark.steps));
   for (size_t i = mark.messages; i < messages_.size(); ++i)
      sent_.erase({messages_[i].channel, messages_[i].payload});
   messages_.resize(std::min(messages_.size(), mark.messages));
}

} // namespace ouzel::engine
