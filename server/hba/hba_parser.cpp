#include "server/hba/hba_parser.hpp"

#include <charconv>
#include <fmt/format.h>

namespace ouzel::server {

namespace {

/// What is wrong with the line at hand.
struct Wrong {
   std::string message;
};

[[noreturn, gnu::cold]] void fail(std::string message) {
   throw Wrong{std::move(message)};
}

constexpr HbaConnection connections[] = {HbaConnection::Local,     HbaConnection::Host,    HbaConnection::HostSsl,
                                         HbaConnection::HostNoSsl, HbaConnection::HostGss, HbaConnection::HostNoGss};

/// Those of PostgreSQL 15 that this server does not have.
constexpr std::string_view otherMethods[] = {"password", "gss", "sspi", "ident", "ldap", "pam", "radius", "bsd"};

class RuleParser {
public:
   explicit RuleParser(const RuleLine& line) : line_(line) {
      rule_.line = line.number;
      rule_.text = line.text;
   }

   HbaRule parse() {
      readConnection();
      rule_.databases = take("end-of-line before database specification");
      rule_.users = take("end-of-line before role specification");
      if (rule_.connection != HbaConnection::Local) readAddresses();
      readMethod();
      while (at_ < line_.fields.size())
         for (const RuleWord& option : line_.fields[at_++])
            readOption(option.text);
      return std::move(rule_);
   }

private:
   bool isSsl() const { return rule_.connection == HbaConnection::HostSsl; }

   const RuleField& take(const char* missing) {
      if (at_ == line_.fields.size()) fail(missing);
      return line_.fields[at_++];
   }
   const RuleWord& takeOne(const char* missing, const char* several) {
      const RuleField& field = take(missing);
      if (field.size() > 1) fail(several);
      return field.front();
   }

   void readConnection() {
      const RuleWord& word = takeOne("no connection type", "multiple values specified for connection type");
      for (const HbaConnection connection : connections) {
         if (word.text != nameOf(connection)) continue;
         rule_.connection = connection;
         return;
      }
      fail(fmt::format("invalid connection type \"{}\"", word.text));
   }

   void readAddresses() {
      using Kind = HbaAddresses::Kind;
      const RuleWord& word =
          takeOne("end-of-line before IP address specification", "multiple values specified for host address");
      if (word.is("all")) return;
      if (word.is("samehost") || word.is("samenet")) {
         rule_.addresses.kind = word.is("samehost") ? Kind::SameHost : Kind::SameNet;
         return;
      }
      rule_.addresses.kind = Kind::Range;
      AddressRange& range = rule_.addresses.range;
      const size_t slash = word.text.find('/');
      const auto address = IpAddress::parse(word.text.substr(0, slash));
      if (!address) refuseHost(word.text);
      range.address = *address;
      if (slash == std::string::npos)
         readMask(range);
      else
         range.mask = maskOf(word.text, slash + 1);
   }

   [[noreturn]] static void refuseHost(const std::string& text) {
      const bool looksNumeric =
          text.find_first_not_of("0123456789./:") == std::string::npos || text.find(':') != std::string::npos;
      if (looksNumeric) fail(fmt::format("invalid IP address \"{}\"", text));
      fail(fmt::format("host name \"{}\": host names are not supported, write an address", text));
   }

   IpAddress maskOf(const std::string& text, size_t from) const {
      uint32_t bits = 0;
      const char* const end = text.data() + text.size();
      const auto parsed = std::from_chars(text.data() + from, end, bits);
      const auto mask = IpAddress::mask(bits, rule_.addresses.range.address.isVersion6);
      if (parsed.ec != std::errc() || parsed.ptr != end || !mask)
         fail(fmt::format("invalid CIDR mask in address \"{}\"", text));
      return *mask;
   }

   void readMask(AddressRange& range) {
      const RuleWord& word = takeOne("end-of-line before netmask specification; specify an address range in CIDR "
                                     "notation, or provide a separate netmask",
                                     "multiple values specified for netmask");
      const auto mask = IpAddress::parse(word.text);
      if (!mask) fail(fmt::format("invalid IP mask \"{}\"", word.text));
      if (mask->isVersion6 != range.address.isVersion6) fail("IP address and mask do not match");
      range.mask = *mask;
   }

   void readMethod() {
      const std::string& name =
          takeOne("end-of-line before authentication method", "multiple values specified for authentication type").text;
      const bool isLocal = rule_.connection == HbaConnection::Local;
      if (name == "trust") {
         rule_.method = HbaMethod::Trust;
      } else if (name == "reject") {
         rule_.method = HbaMethod::Reject;
      } else if (name == "scram-sha-256" || name == "md5") {
         rule_.method = name == "md5" ? HbaMethod::Md5 : HbaMethod::ScramSha256;
      } else if (name == "peer" || (name == "ident" && isLocal)) { // PostgreSQL's older name of it
         if (!isLocal) fail("peer authentication is only supported on local sockets");
         rule_.method = HbaMethod::Peer;
      } else if (name == "cert") {
         if (!isSsl()) fail("cert authentication is only supported on hostssl connections");
         rule_.method = HbaMethod::Certificate;
         rule_.clientCertificate = HbaRule::ClientCertificate::VerifyFull;
      } else {
         for (const std::string_view other : otherMethods)
            if (name == other) fail(fmt::format("authentication method \"{}\" is not supported", name));
         fail(fmt::format("invalid authentication method \"{}\"", name));
      }
   }

   void readOption(const std::string& option) {
      const size_t equals = option.find('=');
      if (equals == std::string::npos) fail(fmt::format("authentication option not in name=value format: {}", option));
      const std::string name = option.substr(0, equals), value = option.substr(equals + 1);
      if (name == "map") {
         if (rule_.method != HbaMethod::Peer && rule_.method != HbaMethod::Certificate)
            fail("authentication option \"map\" is only valid for authentication methods peer and cert");
         rule_.map = value;
      } else if (name == "clientcert") {
         readClientCertificate(value);
      } else if (name == "clientname") {
         if (!isSsl()) fail("clientname can only be configured for \"hostssl\" rows");
         if (value == "DN") fail("clientname=DN is not supported");
         if (value != "CN") fail(fmt::format("invalid value for clientname: \"{}\"", value));
      } else {
         fail(fmt::format("unrecognized authentication option name: \"{}\"", name));
      }
   }

   void readClientCertificate(const std::string& value) {
      using Kind = HbaRule::ClientCertificate;
      if (!isSsl()) fail("clientcert can only be configured for \"hostssl\" rows");
      if (value != "verify-ca" && value != "verify-full")
         fail(fmt::format("invalid value for clientcert: \"{}\"", value));
      if (rule_.method == HbaMethod::Certificate && value != "verify-full")
         fail("clientcert can only be set to \"verify-full\" when using \"cert\" authentication");
      rule_.clientCertificate = value == "verify-ca" ? Kind::VerifyCa : Kind::VerifyFull;
   }

   const RuleLine& line_;
   size_t at_ = 0; // the next field
   HbaRule rule_;
};

} // namespace

std::vector<HbaRule> parseHba(std::string_view text, std::vector<RuleProblem>& problems) {
   std::vector<HbaRule> rules;
   for (const RuleLine& line : cutRuleLines(text, problems)) {
      try {
         rules.push_back(RuleParser(line).parse());
      } catch (const Wrong& wrong) {
         problems.push_back({line.number, wrong.message});
      }
   }
   return rules;
}

} // namespace ouzel::server
