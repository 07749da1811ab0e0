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
   /// Wait for the next message, for a statement that reads COPY data; the frame is valid until the next call. Throws
   /// ConnectionLost at the end of the stream, 08P01 for an invalid message, 57P01 when the server shuts down.
   virtual Frame receive(Phase phase) = 0;
};

} // namespace ouzel::protocol
