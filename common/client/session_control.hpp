#pragma once
#include <cstdint>

namespace ouzel {

/// Ends statements and sessions of the server, named by their process ids: for pg_cancel_backend() and
/// pg_terminate_backend(). Thread-safe.
class SessionControl {
public:
   virtual ~SessionControl() = default;
   /// Cancels the session's running statement, as a CancelRequest does. False: there is no such session.
   virtual bool cancelStatement(int32_t processId) = 0;
   /// Ends the session with 57P01: its running statement, or its wait for the client. False: there is no such session.
   virtual bool terminate(int32_t processId) = 0;
   virtual bool isOpen(int32_t processId) const = 0;
};

} // namespace ouzel
