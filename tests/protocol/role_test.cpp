#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "tests/protocol/support.hpp"

using namespace ouzel::wire;

// Roles at the door: passwords, VALID UNTIL, NOLOGIN, CONNECTION LIMIT, settings with which sessions begin.

namespace {

/// What a client is told who may not come in.
std::string refusal(const ServerProcess& server, const std::string& more) {
   const Connection connection(server, more, true);
   CATCH_CHECK_FALSE(connection.isOpen());
   return connection.error();
}

} // namespace

CATCH_TEST_CASE("roles log in with the passwords that SQL gave them") {
   if (sharedServer().isForeign()) return;
   setenv("OUZEL_PASSWORD", "right one", 1);
   ServerProcess server({"--trust-loopback", "off"});
   unsetenv("OUZEL_PASSWORD");
   const std::string own = "user=wire_role password='plain text'";
   const std::string wrong = "password authentication failed for user \"wire_role\"\n";
   {
      const Connection c(server, "password='right one'");
      CATCH_CHECK(c.run("CREATE ROLE wire_role LOGIN PASSWORD 'plain text'") == "CREATE ROLE");
      CATCH_CHECK(c.run("SELECT rolpassword LIKE 'SCRAM-SHA-256$4096:%' FROM pg_authid WHERE rolname = 'wire_role'") ==
                  "t\n");
      CATCH_CHECK(Connection(server, own).run("SELECT current_user") == "wire_role\n");
      CATCH_CHECK(refusal(server, "user=wire_role password=wrong").ends_with(wrong));

      // An expired password fails like a wrong one; the log says why.
      c.run("ALTER ROLE wire_role VALID UNTIL '2001-01-01'");
      CATCH_CHECK(refusal(server, own).ends_with(wrong));
      CATCH_CHECK(server.awaitLog("User \"wire_role\" has an expired password.").find("plain text") ==
                  std::string::npos);
      c.run("ALTER ROLE wire_role VALID UNTIL 'infinity'");
      CATCH_CHECK(Connection(server, own).run("SELECT 1") == "1\n");

      c.run("ALTER ROLE wire_role NOLOGIN");
      CATCH_CHECK(refusal(server, own).ends_with("role \"wire_role\" is not permitted to log in\n"));
      c.run("ALTER ROLE wire_role LOGIN PASSWORD NULL");
      CATCH_CHECK(refusal(server, own).ends_with(wrong));
      // MD5, made by the server and by the client; a role's name is in it.
      c.run("SET password_encryption = md5; ALTER ROLE wire_role PASSWORD 'x'");
      CATCH_CHECK(c.run("SELECT rolpassword FROM pg_authid WHERE rolname = 'wire_role'") ==
                  c.run("SELECT 'md5' || md5('xwire_role')"));
      CATCH_CHECK(Connection(server, "user=wire_role password=x").run("SELECT 1") == "1\n");
      CATCH_CHECK(refusal(server, "user=wire_role password=y").ends_with(wrong));
      CATCH_CHECK(server.awaitLog("Password does not match for user \"wire_role\".") != "");
      c.run("ALTER ROLE wire_role VALID UNTIL '2001-01-01'");
      CATCH_CHECK(refusal(server, "user=wire_role password=x").ends_with(wrong));
      c.run("ALTER ROLE wire_role VALID UNTIL 'infinity'");
      c.run("ALTER ROLE wire_role PASSWORD 'md5" + c.run("SELECT md5('secretwire_role')").substr(0, 32) + "'");
      CATCH_CHECK(Connection(server, "user=wire_role password=secret").run("SELECT 1") == "1\n");
      c.run("ALTER ROLE wire_role RENAME TO wire_other");
      CATCH_CHECK(c.run("SELECT rolpassword IS NULL FROM pg_authid WHERE rolname = 'wire_other'") == "t\n");
      c.run("ALTER ROLE wire_other RENAME TO wire_role");
      // Whoever logs in changes the own password.
      c.run("RESET password_encryption; ALTER ROLE wire_role PASSWORD 'plain text'");
      CATCH_CHECK(Connection(server, own).run("ALTER ROLE wire_role PASSWORD 'own choice'") == "ALTER ROLE");
      CATCH_CHECK(refusal(server, own).ends_with(wrong));
      c.run("ALTER ROLE wire_role SET work_mem = '3MB'; ALTER ROLE wire_role SET application_name = 'stored'");
   }
   server.stop();
   server.start();
   const Connection c(server, "user=wire_role password='own choice'");
   CATCH_CHECK(c.run("SHOW work_mem") == "3MB\n");
   CATCH_CHECK(c.run("SHOW application_name") == "stored\n");
   // What the client asks for goes before what is stored.
   CATCH_CHECK(
       Connection(server, "user=wire_role password='own choice' application_name=asked").run("SHOW application_name") ==
       "asked\n");
}

CATCH_TEST_CASE("a role's CONNECTION LIMIT counts its sessions, not those of superusers") {
   const Connection c;
   c.run("CREATE ROLE wire_few LOGIN CONNECTION LIMIT 1; CREATE ROLE wire_many LOGIN SUPERUSER CONNECTION LIMIT 0");
   {
      const Connection first(sharedServer(), "user=wire_few");
      CATCH_CHECK(refusal(sharedServer(), "user=wire_few").ends_with("too many connections for role \"wire_few\"\n"));
      const Connection many(sharedServer(), "user=wire_many");
      CATCH_CHECK(many.run("ALTER ROLE wire_few CONNECTION LIMIT 2") == "ALTER ROLE");
      CATCH_CHECK(Connection(sharedServer(), "user=wire_few").run("SELECT 1") == "1\n");
      c.run("ALTER ROLE wire_few CONNECTION LIMIT 0");
      CATCH_CHECK(first.run("SELECT 1") == "1\n"); // who is inside stays
      CATCH_CHECK(refusal(sharedServer(), "user=wire_few").ends_with("too many connections for role \"wire_few\"\n"));
   }
   CATCH_CHECK(c.run("DROP ROLE wire_few, wire_many") == "DROP ROLE");
}

CATCH_TEST_CASE("a client cannot begin as a role that its user may not become") {
   const Connection c;
   c.run("CREATE ROLE wire_small LOGIN; CREATE ROLE wire_group; GRANT wire_group TO wire_small");
   const std::string small = "user=wire_small options='-c ";
   CATCH_CHECK(Connection(sharedServer(), small + "role=wire_group'").run("SELECT session_user, current_user") ==
               "wire_small|wire_group\n");
   CATCH_CHECK(
       refusal(sharedServer(), small + "role=postgres'").ends_with("permission denied to set role \"postgres\"\n"));
   CATCH_CHECK(refusal(sharedServer(), small + "session_authorization=postgres'")
                   .ends_with("permission denied to set session authorization\n"));
   CATCH_CHECK(Connection(sharedServer(), "user=wire_small").run("SHOW is_superuser") == "off\n");
   CATCH_CHECK(c.run("DROP ROLE wire_small, wire_group") == "DROP ROLE");
}

CATCH_TEST_CASE("DROP ROLE tells what depends on the role") {
   const Connection c;
   c.run("CREATE ROLE wire_owner LOGIN; CREATE TABLE wire_owned (a int); ALTER TABLE wire_owned OWNER TO wire_owner; "
         "CREATE VIEW wire_view AS SELECT 1 AS one; ALTER VIEW wire_view OWNER TO wire_owner");
   c.run("DROP ROLE wire_owner");
   CATCH_CHECK(c.error() == "ERROR:  role \"wire_owner\" cannot be dropped because some objects depend on it\n"
                            "DETAIL:  owner of table wire_owned\nowner of view wire_view\n");
   c.run("GRANT SELECT ON wire_owned TO wire_owner; ALTER TABLE wire_owned OWNER TO CURRENT_USER; "
         "GRANT SELECT ON wire_owned TO wire_owner; DROP ROLE wire_owner");
   CATCH_CHECK(c.error().ends_with("DETAIL:  privileges for table wire_owned\nowner of view wire_view\n"));
   CATCH_CHECK(c.run("DROP VIEW wire_view; DROP TABLE wire_owned; DROP ROLE wire_owner") == "DROP ROLE");
}
