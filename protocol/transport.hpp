#pragma once
#include <optional>
#include <string_view>

#include "common/error/sql_error.hpp"
#include "protocol/frame.hpp"

namespace ouzel::protocol {

/// The client is gone. An SqlError so that a statement that runs into it ends like any other failed statement.
class ConnectionLost : public SqlError {
public:
   ConnectionLost() : SqlError(sqlstate::connectionFailure, "connection to client lost") {}
};

/// The byte stream to one client. The server implements it over a socket, tests over strings. Used by one thread at a
/// time.
class Transport {
public:
   virtual ~Transport() = default;
   /// Hand the bytes to the client, waiting until there is room for them. Throws ConnectionLost.
   virtual void send(std::string_view bytes) = 0;
   /// While a statement reads COPY data: wait for the next message; it is valid until the next call. Throws
   /// ConnectionLost at the end of the stream and 08P01 when the stream is out of step.
   virtual Frame receive(Phase phase) = 0;
};

} // namespace ouzel::protocol
