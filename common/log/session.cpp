#include "common/log/session.hpp"

#include <utility>

namespace ouzel {

namespace {
thread_local LogSession* currentSession = nullptr;
thread_local const char* currentRole = "postmaster";
} // namespace

LogScope::LogScope(LogSession& session) : outer_(std::exchange(currentSession, &session)) {}

LogScope::~LogScope() {
   currentSession = outer_;
}

LogSession* LogScope::current() {
   return currentSession;
}

LogRole::LogRole(const char* name) : outer_(std::exchange(currentRole, name)) {}

LogRole::~LogRole() {
   currentRole = outer_;
}

const char* LogRole::current() {
   return currentRole;
}

} // namespace ouzel
