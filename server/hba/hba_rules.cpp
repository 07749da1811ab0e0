#include "server/hba/hba_rules.hpp"

#include <algorithm>

namespace ouzel::server {

namespace {

bool isAboutConnection(const HbaRule& rule, const HbaClient& client) {
   switch (rule.connection) {
   case HbaConnection::Local: return client.isLocal;
   case HbaConnection::Host:
   case HbaConnection::HostNoGss: return !client.isLocal;
   case HbaConnection::HostSsl: return !client.isLocal && client.isEncrypted;
   case HbaConnection::HostNoSsl: return !client.isLocal && !client.isEncrypted;
   case HbaConnection::HostGss: return false; // nobody comes with GSS encryption
   }
   return false;
}

bool isAboutAddress(const HbaAddresses& addresses, const HbaClient& client, const HbaFacts& facts) {
   using Kind = HbaAddresses::Kind;
   if (client.isLocal || addresses.kind == Kind::All) return true;
   if (addresses.kind == Kind::Range) return addresses.range.contains(client.address);
   const auto isHere = [&](const AddressRange& own) {
      return addresses.kind == Kind::SameNet ? own.contains(client.address) : own.address == client.address;
   };
   const std::vector<AddressRange> own = facts.ownNetworks();
   return std::any_of(own.begin(), own.end(), isHere);
}

bool isAboutDatabase(const RuleWord& word, const HbaClient& client, const HbaFacts& facts) {
   if (word.is("all")) return true;
   if (word.is("sameuser")) return client.database == client.user;
   if (word.is("samerole") || word.is("samegroup")) return facts.isMember(client.user, client.database);
   return !word.is("replication") && word.text == client.database; // no client asks for replication
}

bool isAboutUser(const RuleWord& word, const HbaClient& client, const HbaFacts& facts) {
   if (!word.isQuoted && word.text.starts_with('+')) return facts.isMember(client.user, word.text.substr(1));
   return word.is("all") || word.text == client.user;
}

} // namespace

const HbaRule* findRule(const std::vector<HbaRule>& rules, const HbaClient& client, const HbaFacts& facts) {
   const auto isAbout = [&](const HbaRule& rule) {
      return isAboutConnection(rule, client) && isAboutAddress(rule.addresses, client, facts) &&
             std::any_of(rule.databases.begin(), rule.databases.end(),
                         [&](const RuleWord& word) { return isAboutDatabase(word, client, facts); }) &&
             std::any_of(rule.users.begin(), rule.users.end(),
                         [&](const RuleWord& word) { return isAboutUser(word, client, facts); });
   };
   const auto found = std::find_if(rules.begin(), rules.end(), isAbout);
   return found == rules.end() ? nullptr : &*found;
}

std::string_view nameOf(HbaConnection connection) {
   switch (connection) {
   case HbaConnection::Local: return "local";
   case HbaConnection::Host: return "host";
   case HbaConnection::HostSsl: return "hostssl";
   case HbaConnection::HostNoSsl: return "hostnossl";
   case HbaConnection::HostGss: return "hostgssenc";
   case HbaConnection::HostNoGss: return "hostnogssenc";
   }
   return "";
}

std::string_view nameOf(HbaMethod method) {
   switch (method) {
   case HbaMethod::Trust: return "trust";
   case HbaMethod::Reject: return "reject";
   case HbaMethod::ScramSha256: return "scram-sha-256";
   case HbaMethod::Md5: return "md5";
   case HbaMethod::Certificate: return "cert";
   case HbaMethod::Peer: return "peer";
   }
   return "";
}

} // namespace ouzel::server
