#include <catch2/catch.hpp>

#include "server/hba/hba_parser.hpp"
#include "server/hba/ident_map.hpp"

using namespace ouzel::server;

namespace {

std::vector<HbaRule> parse(const std::string& text) {
   std::vector<RuleProblem> problems;
   auto rules = parseHba(text, problems);
   CATCH_INFO(describe(problems));
   CATCH_CHECK(problems.empty());
   return rules;
}

/// What is wrong with a file.
std::string problem(const std::string& text) {
   std::vector<RuleProblem> problems;
   parseHba(text, problems);
   return describe(problems);
}

class Facts final : public HbaFacts {
public:
   bool isMember(const std::string& user, const std::string& role) const override {
      return user == role || (user == "ada" && role == "staff");
   }
   std::vector<AddressRange> ownNetworks() const override {
      return {{*IpAddress::parse("192.168.1.7"), *IpAddress::parse("255.255.255.0")},
              {*IpAddress::parse("fe80::1"), *IpAddress::mask(64, true)}};
   }
};

HbaClient client(const std::string& address, const std::string& user = "ada", const std::string& database = "postgres",
                 bool isEncrypted = false) {
   HbaClient out;
   out.isLocal = address == "local";
   out.isEncrypted = isEncrypted;
   if (!out.isLocal) out.address = IpAddress::parse(address).value();
   out.user = user;
   out.database = database;
   return out;
}

/// The line of the rule that judges the client; 0: there is none.
size_t line(const std::string& text, const HbaClient& who) {
   const auto rules = parse(text);
   const HbaRule* found = findRule(rules, who, Facts());
   return found != nullptr ? found->line : 0;
}

bool matches(const std::string& text, const HbaClient& who) {
   return line(text, who) != 0;
}

} // namespace

CATCH_TEST_CASE("words, quotes, comments and continued lines of pg_hba.conf") {
   std::vector<RuleProblem> problems;
   const auto lines = cutRuleLines("# a comment\n\n \t\r\na b,c , \"d e\",\"all\"  f#g\n\"x\"\"y\" \\\n z\\\n"
                                   "w\nall,\nlast",
                                   problems);
   CATCH_CHECK(problems.empty());
   CATCH_REQUIRE(lines.size() == 4);
   CATCH_CHECK(lines[0].number == 4);
   // A comma ends a word and not the field; blanks before it end the field, as in PostgreSQL.
   CATCH_REQUIRE(lines[0].fields.size() == 4);
   CATCH_CHECK(lines[0].fields[1][1].text == "c");
   CATCH_REQUIRE(lines[0].fields[2].size() == 2);
   CATCH_CHECK(lines[0].fields[2][0].text == "d e");
   CATCH_CHECK(lines[0].fields[2][1].isQuoted);
   CATCH_CHECK_FALSE(lines[0].fields[2][1].is("all"));
   CATCH_CHECK(lines[0].fields[3][0].text == "f");
   CATCH_CHECK(lines[1].number == 5);
   CATCH_CHECK(lines[1].fields[0][0].text == "x\"y");
   CATCH_CHECK(lines[1].fields[1][0].text == "zw");
   CATCH_CHECK(lines[2].number == 8);
   CATCH_CHECK(lines[2].fields[0].size() == 1);
   CATCH_CHECK(lines[3].fields[0][0].text == "last");
   CATCH_CHECK(cutRuleLines("", problems).empty());
   CATCH_CHECK(cutRuleLines("\\\n\\", problems).empty());
   CATCH_CHECK(problems.empty());
   cutRuleLines("a \"b\nc\nd @file\n\"@name\" @", problems);
   CATCH_CHECK(describe(problems) ==
               "line 1: unterminated quoted string; line 3: cannot include \"file\": files of names are not supported");
}

CATCH_TEST_CASE("records of pg_hba.conf: connections and addresses") {
   const std::string any = " all all ";
   CATCH_CHECK(matches("local all all trust", client("local")));
   CATCH_CHECK_FALSE(matches("local all all trust", client("127.0.0.1")));
   CATCH_CHECK_FALSE(matches("host all all all trust", client("local")));
   for (const bool isEncrypted : {false, true}) {
      const HbaClient who = client("127.0.0.1", "ada", "postgres", isEncrypted);
      CATCH_CHECK(matches("host all all all trust", who));
      CATCH_CHECK(matches("hostssl all all all trust", who) == isEncrypted);
      CATCH_CHECK(matches("hostnossl all all all trust", who) != isEncrypted);
      CATCH_CHECK_FALSE(matches("hostgssenc all all all trust", who));
      CATCH_CHECK(matches("hostnogssenc all all all trust", who));
   }
   const auto covers = [](const std::string& range, const std::string& address) {
      return matches("host all all " + range + " trust", client(address));
   };
   CATCH_CHECK(covers("10.0.0.0/8", "10.255.0.1"));
   CATCH_CHECK_FALSE(covers("10.0.0.0/8", "11.0.0.1"));
   CATCH_CHECK(covers("10.1.2.3 255.255.0.0", "10.1.9.9"));
   CATCH_CHECK_FALSE(covers("10.1.2.3 255.255.0.0", "10.2.2.3"));
   CATCH_CHECK(covers("0.0.0.0/0", "1.2.3.4"));
   CATCH_CHECK_FALSE(covers("0.0.0.0/0", "::1"));
   CATCH_CHECK(covers("::/0", "::1"));
   CATCH_CHECK(covers("2001:db8::/33", "2001:db8:7fff::1"));
   CATCH_CHECK_FALSE(covers("2001:db8::/33", "2001:db8:8000::1"));
   CATCH_CHECK(covers("::1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "::1"));
   CATCH_CHECK(covers("fe80::/10", "fe80::5%eth0"));
   CATCH_CHECK(covers("samehost", "192.168.1.7"));
   CATCH_CHECK_FALSE(covers("samehost", "192.168.1.8"));
   CATCH_CHECK(covers("samenet", "192.168.1.8"));
   CATCH_CHECK(covers("samenet", "fe80::9"));
   CATCH_CHECK_FALSE(covers("samenet", "192.168.2.8"));
}

CATCH_TEST_CASE("records of pg_hba.conf: databases, users, and the first that fits") {
   const auto fits = [](const std::string& databases, const std::string& users, const std::string& user,
                        const std::string& database) {
      return matches("local " + databases + " " + users + " trust", client("local", user, database));
   };
   CATCH_CHECK(fits("a,postgres", "all", "ada", "postgres"));
   CATCH_CHECK_FALSE(fits("a,b", "all", "ada", "postgres"));
   CATCH_CHECK(fits("sameuser", "all", "ada", "ada"));
   CATCH_CHECK_FALSE(fits("sameuser", "all", "ada", "postgres"));
   CATCH_CHECK(fits("samerole", "all", "ada", "staff"));
   CATCH_CHECK(fits("samegroup", "all", "ada", "staff"));
   CATCH_CHECK_FALSE(fits("samerole", "all", "bob", "staff"));
   CATCH_CHECK_FALSE(fits("replication", "all", "ada", "replication"));
   CATCH_CHECK(fits("\"replication\"", "all", "ada", "replication"));
   CATCH_CHECK_FALSE(fits("\"all\"", "all", "ada", "postgres"));
   CATCH_CHECK(fits("all", "bob,ada", "ada", "postgres"));
   CATCH_CHECK(fits("all", "+staff", "ada", "postgres"));
   CATCH_CHECK(fits("all", "+staff", "staff", "postgres"));
   CATCH_CHECK_FALSE(fits("all", "+staff", "bob", "postgres"));
   CATCH_CHECK_FALSE(fits("all", "\"+staff\"", "ada", "postgres"));
   CATCH_CHECK(fits("all", "\"+staff\"", "+staff", "postgres"));
   CATCH_CHECK_FALSE(fits("all", "\"all\"", "ada", "postgres"));
   CATCH_CHECK_FALSE(fits("all", "Ada", "ada", "postgres"));

   const std::string file = "host all bob 10.0.0.0/8 reject\nhost other all all trust\nhost all all all scram-sha-256";
   CATCH_CHECK(line(file, client("10.0.0.1", "bob", "other")) == 1);
   CATCH_CHECK(line(file, client("11.0.0.1", "bob", "other")) == 2);
   CATCH_CHECK(line(file, client("11.0.0.1", "bob")) == 3);
   CATCH_CHECK(line(file, client("local")) == 0);
}

CATCH_TEST_CASE("records of pg_hba.conf: methods and options") {
   const auto rules = parse("local all all ident map=m\n"
                            "host all all all md5\n"
                            "hostssl all all all cert map=\"a b\" clientcert=verify-full clientname=CN\n"
                            "hostssl all all all scram-sha-256 clientcert=verify-ca");
   CATCH_REQUIRE(rules.size() == 4);
   CATCH_CHECK(rules[0].method == HbaMethod::Peer);
   CATCH_CHECK(rules[0].map == "m");
   CATCH_CHECK(rules[1].method == HbaMethod::Md5);
   CATCH_CHECK(rules[2].method == HbaMethod::Certificate);
   CATCH_CHECK(rules[2].map == "a b");
   CATCH_CHECK(rules[2].clientCertificate == HbaRule::ClientCertificate::VerifyFull);
   CATCH_CHECK(rules[3].clientCertificate == HbaRule::ClientCertificate::VerifyCa);
}

CATCH_TEST_CASE("what is wrong with a line of pg_hba.conf") {
   const std::pair<const char*, const char*> cases[] = {
       {"hots all all 127.0.0.1/32 trust", "invalid connection type \"hots\""},
       {"host,local all all all trust", "multiple values specified for connection type"},
       {"host", "end-of-line before database specification"},
       {"host all", "end-of-line before role specification"},
       {"host all all", "end-of-line before IP address specification"},
       {"local all all", "end-of-line before authentication method"},
       {"host all all 127.0.0.1",
        "end-of-line before netmask specification; specify an address range in CIDR notation, "
        "or provide a separate netmask"},
       {"host all all 127.0.0.1 255.0.0.0", "end-of-line before authentication method"},
       {"host all all 127.0.0.1/33 trust", "invalid CIDR mask in address \"127.0.0.1/33\""},
       {"host all all 127.0.0.1/ trust", "invalid CIDR mask in address \"127.0.0.1/\""},
       {"host all all 127.0.0.1/8x trust", "invalid CIDR mask in address \"127.0.0.1/8x\""},
       {"host all all 127.0.0.1/-1 trust", "invalid CIDR mask in address \"127.0.0.1/-1\""},
       {"host all all ::1/129 trust", "invalid CIDR mask in address \"::1/129\""},
       {"host all all ::1 255.0.0.0 trust", "IP address and mask do not match"},
       {"host all all 127.0.0.1 all trust", "invalid IP mask \"all\""},
       {"host all all 127.0.0.1 255.0.0.0,255.0.0.0 trust", "multiple values specified for netmask"},
       {"host all all 1.2.3 trust", "invalid IP address \"1.2.3\""},
       {"host all all fe80:::1/8 trust", "invalid IP address \"fe80:::1/8\""},
       {"host all all 1.1.1.1/32,2.2.2.2/32 trust", "multiple values specified for host address"},
       {"host all all db.example.org trust",
        "host name \"db.example.org\": host names are not supported, write an address"},
       {"host all all \"all\" trust", "host name \"all\": host names are not supported, write an address"},
       {"host all all \"unended trust", "unterminated quoted string"},
       {"local all all trust,md5", "multiple values specified for authentication type"},
       {"local all all nonsense", "invalid authentication method \"nonsense\""},
       {"local all all password", "authentication method \"password\" is not supported"},
       {"host all all all gss", "authentication method \"gss\" is not supported"},
       {"host all all all ldap ldapserver=x", "authentication method \"ldap\" is not supported"},
       {"local all all pam", "authentication method \"pam\" is not supported"},
       {"host all all all peer", "peer authentication is only supported on local sockets"},
       {"host all all all ident", "authentication method \"ident\" is not supported"},
       {"host all all all cert", "cert authentication is only supported on hostssl connections"},
       {"local all all trust foo", "authentication option not in name=value format: foo"},
       {"local all all trust foo=bar", "unrecognized authentication option name: \"foo\""},
       {"local all all trust map=x",
        "authentication option \"map\" is only valid for authentication methods peer and cert"},
       {"host all all all md5 clientcert=verify-ca", "clientcert can only be configured for \"hostssl\" rows"},
       {"hostssl all all all md5 clientcert=1", "invalid value for clientcert: \"1\""},
       {"hostssl all all all cert clientcert=verify-ca",
        "clientcert can only be set to \"verify-full\" when using \"cert\" authentication"},
       {"host all all all md5 clientname=CN", "clientname can only be configured for \"hostssl\" rows"},
       {"hostssl all all all cert clientname=DN", "clientname=DN is not supported"},
       {"hostssl all all all cert clientname=XY", "invalid value for clientname: \"XY\""},
       {"local @admins all trust", "cannot include \"admins\": files of names are not supported"},
   };
   for (const auto& [text, message] : cases)
      CATCH_CHECK(problem(text) == std::string("line 1: ") + message);
   // All lines are told, and those that are right are no excuse.
   CATCH_CHECK(problem("local all all trust\nx\n\nlocal all all y\n") ==
               "line 2: invalid connection type \"x\"; line 4: invalid authentication method \"y\"");
}

CATCH_TEST_CASE("garbage in pg_hba.conf and pg_ident.conf is refused, whatever it is") {
   const std::string good =
       "hostssl \"a b\",all +g,u 10.0.0.0/8 cert map=m # end\nm /^(.*)$ \\1\nhost all all ::1 ::2 md5";
   std::vector<RuleProblem> problems;
   for (size_t length = 0; length <= good.size(); ++length)
      for (const char c : {'"', ',', '\\', '#', '/', '@', '\n', '\0', '\xff', '('}) {
         std::string text = good.substr(0, length) + c + good.substr(length);
         parseHba(text, problems);
         IdentMap::parse(text, problems);
         parseHba(text.substr(0, length), problems);
      }
   CATCH_CHECK(!problems.empty());
}

CATCH_TEST_CASE("maps of pg_ident.conf") {
   std::vector<RuleProblem> problems;
   const IdentMap map = IdentMap::parse("# map system role\nm root admin\nm \"john doe\" john\n"
                                        "m /^(.*)@example\\.org$ \\1\nm /^x(y)?$ role_\\1\nn /o admin\n",
                                        problems);
   CATCH_INFO(describe(problems));
   CATCH_CHECK(problems.empty());
   CATCH_CHECK(map.lines().size() == 5);
   std::string reason;
   const auto allows = [&](const char* name, const char* system, const char* role) {
      reason.clear();
      return map.isAllowed(name, system, role, reason);
   };
   CATCH_CHECK(allows("m", "root", "admin"));
   CATCH_CHECK(allows("m", "john doe", "john"));
   CATCH_CHECK(allows("m", "ada@example.org", "ada"));
   CATCH_CHECK_FALSE(allows("m", "ada@example.org", "bob"));
   CATCH_CHECK(reason == "no match in usermap \"m\" for user \"bob\" authenticated as \"ada@example.org\"");
   CATCH_CHECK_FALSE(allows("m", "ada@example.orgs", "ada"));
   CATCH_CHECK(allows("m", "xy", "role_y"));
   CATCH_CHECK(allows("m", "x", "role_"));
   CATCH_CHECK(allows("n", "foo", "admin")); // anywhere in the name
   CATCH_CHECK_FALSE(allows("nosuch", "root", "admin"));
   CATCH_CHECK_FALSE(allows("m", "root", "root"));
   CATCH_CHECK(allows("", "root", "root"));
   CATCH_CHECK_FALSE(allows("", "root", "admin"));
   CATCH_CHECK(reason == "provided user name (admin) and authenticated user name (root) do not match");

   IdentMap::parse("m\nm a\nm a,b c\nm /( x\nm /x y\\1\nm a b c", problems);
   CATCH_CHECK(describe(problems) ==
               "line 1: missing entry at end of line; line 2: missing entry at end of line; "
               "line 3: multiple values in ident field; "
               "line 4: invalid regular expression \"(\": missing ): (; "
               "line 5: regular expression \"x\" has no subexpressions as requested by backreference in \"y\\1\"; "
               "line 6: a line has three entries: map, system user, role");
}

CATCH_TEST_CASE("a null character does not end a field of pg_hba.conf") {
   using namespace std::string_literals;
   std::vector<RuleProblem> problems;
   CATCH_CHECK(cutRuleLines("host all all 127.0.0.1\0junk/32 trust\n"s, problems).empty());
   CATCH_REQUIRE(problems.size() == 1);
   CATCH_CHECK(problems[0].message == "a null character");
}
