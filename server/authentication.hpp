#pragma once
#include "io/net/stream.hpp"
#include "protocol/doorkeeper.hpp"

namespace ouzel::server {

struct ConnectionContext;

/// How this client has to prove who it is: by the rules of --hba, or, without them, by where it comes from.
/// Certificates and users of the system are judged here, passwords by the protocol.
protocol::AuthenticationRule authenticationRule(const ConnectionContext& context, const io::PeerAddress& peer,
                                                const io::Stream& stream, const protocol::StartupRequest& request);

} // namespace ouzel::server
