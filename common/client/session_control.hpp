#pragma once
#include <cstdint>
#include <set>
#include <vector>

#include "common/client/access_rules.hpp"

namespace ouzel {

/// What sessions ask of the server: to end statements and sessions, named by their process ids, for pg_cancel_backend()
/// and pg_terminate_backend(), and by which rules clients come in. Thread-safe.
class SessionControl {
public:
   virtual ~SessionControl() = default;
   /// Cancels the session's running statement, as a CancelRequest does. False: there is no such session.
   virtual bool cancelStatement(int32_t processId) = 0;
   /// Ends the session with 57P01: its running statement, or its wait for the client. False: there is no such session.
   virtual bool terminate(int32_t processId) = 0;
   /// Makes sessions that wait for their clients tell them what Backend::notifications() has.
   virtual void wake(const std::set<int32_t>& processIds) = 0;
   virtual bool isOpen(int32_t processId) const = 0;
   virtual std::vector<AccessRuleRow> accessRules() const = 0;
   virtual std::vector<UserMapRow> userMaps() const = 0;
};

} // namespace ouzel
