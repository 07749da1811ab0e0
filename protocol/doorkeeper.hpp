#pragma once
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/client/backend.hpp"

// The interface that the protocol needs from a server: who may come in, and to which Backend. server/ implements it,
// tests have a fake.

namespace ouzel::protocol {

/// The contents of the client's startup packet.
struct StartupRequest {
   std::string user, database;                                ///< database defaults to the user's name
   std::vector<std::pair<std::string, std::string>> settings; ///< run-time parameters, `options` already taken apart
};

enum class AuthenticationMethod : uint8_t { Trust, ScramSha256, Md5, Reject };
struct AuthenticationRule {
   AuthenticationMethod method = AuthenticationMethod::Reject;
   std::string verifier;                ///< as in pg_authid.rolpassword; empty: every password fails, like a wrong one
   std::string doom = {};               ///< for the log: why every password fails; empty: a right one does not
   std::string matched = {};            ///< for the log: by which rule the client is judged; may be empty
   std::string origin = {};             ///< for the log: where that rule stands, "FILE:LINE"; may be empty
   std::string refusal = {}, hint = {}; ///< of Reject: what the client is told; empty: the usual
   std::string channelBinding = {};     ///< of the client's TLS, for SCRAM-SHA-256-PLUS; empty: it is not offered
};

struct BackendKey {
   int32_t processId = 0, secret = 0;
};

/// Authenticates clients and makes Backends. Shared by all sessions of a server; thread-safe.
class Doorkeeper {
public:
   virtual ~Doorkeeper() = default;
   virtual AuthenticationRule ruleFor(const StartupRequest& request) = 0;
   /// 16 or more unpredictable bytes, for nonces and salts.
   virtual void randomBytes(std::span<unsigned char> out) = 0;
   /// Handle a CancelRequest; a key that matches no session is ignored.
   virtual void cancelRequested(const BackendKey& key) = 0;
   /// Open a session after authentication. Throws 3D000, 28000, 53300, ..., which are FATAL for the connection.
   /// `notices` outlives the Backend.
   virtual std::unique_ptr<Backend> open(const StartupRequest& request, NoticeSink& notices) = 0;
};

} // namespace ouzel::protocol
