#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "server/hba/address_range.hpp"
#include "server/hba/rule_lines.hpp"

// The records of pg_hba.conf: who may come in from where, and by which proof. Pure: questions about the world go to
// HbaFacts.

namespace ouzel::server {

enum class HbaConnection : uint8_t { Local, Host, HostSsl, HostNoSsl, HostGss, HostNoGss };
/// Md5 asks for SCRAM, too, unless the password is kept as MD5.
enum class HbaMethod : uint8_t { Trust, Reject, ScramSha256, Md5, Certificate, Peer };

struct HbaAddresses {
   enum class Kind : uint8_t { All, SameHost, SameNet, Range } kind = Kind::All;
   AddressRange range; ///< of Range
};

/// One record. Immutable once parsed.
struct HbaRule {
   size_t line = 0;
   std::string text;
   HbaConnection connection = HbaConnection::Local;
   RuleField databases, users;
   HbaAddresses addresses;
   HbaMethod method = HbaMethod::Reject;
   /// The certificate that the client has to show, besides what the method asks for.
   enum class ClientCertificate : uint8_t { Any, VerifyCa, VerifyFull } clientCertificate = ClientCertificate::Any;
   std::string map; ///< of pg_ident.conf; empty: both names are the same
};

/// What is known of a client when it asks to come in.
struct HbaClient {
   bool isLocal = false; ///< it comes through the Unix-domain socket
   bool isEncrypted = false;
   IpAddress address; ///< unless it is local
   std::string user, database;
};

/// Answers that only some rules need.
class HbaFacts {
public:
   virtual ~HbaFacts() = default;
   /// Whether `user` is `role` or its member. False when one of them does not exist.
   virtual bool isMember(const std::string& user, const std::string& role) const = 0;
   /// The addresses of this machine with the masks of their networks.
   virtual std::vector<AddressRange> ownNetworks() const = 0;
};

/// The first rule that is about the client; null: there is none.
const HbaRule* findRule(const std::vector<HbaRule>& rules, const HbaClient& client, const HbaFacts& facts);

std::string_view nameOf(HbaConnection connection);
std::string_view nameOf(HbaMethod method);

} // namespace ouzel::server
