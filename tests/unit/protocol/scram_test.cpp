#include "protocol/scram.hpp"

#include <catch2/catch.hpp>

#include "common/error/sql_error.hpp"
#include "tests/unit/protocol/fake_backend.hpp"

using namespace ouzel;
using namespace ouzel::protocol;
using namespace ouzel::protocol::test;

CATCH_TEST_CASE("base64 both ways; what is no base64 is refused") {
   for (const char* text : {"a", "ab", "abc", "abcd"})
      CATCH_CHECK(base64Decode(base64Encode(text)) == text);
   for (const char* bad : {"", "a", "YQ=", " YQ=", "Y===", "YQ=a", "YW\nJ"})
      CATCH_CHECK_FALSE(base64Decode(bad));
}

CATCH_TEST_CASE("RFC 7677's example exchange") {
   // User "user", password "pencil". The RFC's server nonce does not have our form, so only the keys are compared.
   const auto salt = base64Decode("W22ZaJ0SNY7soEsUEjb6gQ==");
   const auto verifier = ScramVerifier::derive("pencil", *salt, 4096);
   const auto text = verifier.text();
   CATCH_CHECK(text.starts_with("SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$"));
   const auto again = ScramVerifier::parse(text);
   CATCH_REQUIRE(again);
   CATCH_CHECK(again->text() == text);
   CATCH_CHECK(text == "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:"
                       "wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=");
}

CATCH_TEST_CASE("malformed verifiers are no verifiers") {
   const auto good = ScramVerifier::derive("x", "0123456789abcdef").text();
   CATCH_CHECK(ScramVerifier::parse(good));
   for (size_t length = 0; length < good.size(); ++length)
      CATCH_CHECK_FALSE(ScramVerifier::parse(good.substr(0, length)));
   CATCH_CHECK_FALSE(ScramVerifier::parse("md5aabbccddeeff00112233445566778899"));
   CATCH_CHECK_FALSE(ScramVerifier::parse("SCRAM-SHA-256$0:YWJj$" + good.substr(good.rfind('$') + 1)));
}

namespace {

std::string saslInitial(const std::string& first, const std::string& mechanism = "SCRAM-SHA-256") {
   return message('p', cstring(mechanism) + int32(static_cast<int64_t>(first.size())) + first);
}

} // namespace

CATCH_TEST_CASE("a wrong password and an unknown user get the same answers") {
   for (const bool known : {true, false}) {
      Conversation c;
      c.doorkeeper.rule = {AuthenticationMethod::ScramSha256,
                           known ? ScramVerifier::derive("right", "0123456789abcdef").text() : ""};
      CATCH_CHECK(c.connect() == "R 10 SCRAM-SHA-256\n");
      const auto challenge = c.say(saslInitial("n,,n=,r=abcdef"));
      CATCH_CHECK(challenge.starts_with("R 11 r=abcdefAAECAwQFBgcICQoLDA0ODxAR,s="));
      CATCH_CHECK(challenge.ends_with(",i=4096\n"));
      CATCH_CHECK(
          c.say(message('p', "c=biws,r=abcdefAAECAwQFBgcICQoLDA0ODxAR,p=" + base64Encode(std::string(32, 'x')))) ==
          "E FATAL 28P01 password authentication failed for user \"postgres\"\n");
      CATCH_CHECK(c.last == Session::Next::Close);
   }
}

CATCH_TEST_CASE("broken SCRAM messages are protocol violations") {
   const auto answer = [](const std::string& bytes, const std::string& second = "") {
      Conversation c;
      c.doorkeeper.rule = {AuthenticationMethod::ScramSha256, ""};
      c.connect();
      auto text = c.say(bytes);
      if (!second.empty()) text = c.say(second);
      return text.substr(0, 13);
   };
   const std::string violation = "E FATAL 08P01";
   CATCH_CHECK(answer(query("rows 1")) == violation);
   CATCH_CHECK(answer("p" + int32(100'000)) == violation);
   CATCH_CHECK(answer(saslInitial("n,,n=,r=a", "SCRAM-SHA-1")) == violation);
   for (const char* first :
        {"", "n", "n,", "x,,n=,r=a", "p=tls-unique,,n=,r=a", "n,,r=a", "n,,n=", "n,,n=,r=", "n,,n=,r=\x01"})
      CATCH_CHECK(answer(saslInitial(first)) == violation);
   CATCH_CHECK(answer(saslInitial("n,a=me,n=,r=a")) == "E FATAL 0A000");
   for (const char* last : {"", "c=biws", "c=eSws,r=aAAECAwQFBgcICQoLDA0ODxAR,p=AAAA", "c=biws,r=wrong,p=AAAA",
                            "c=biws,r=aAAECAwQFBgcICQoLDA0ODxAR", "c=biws,r=aAAECAwQFBgcICQoLDA0ODxAR,p=AAAA"})
      CATCH_CHECK(answer(saslInitial("n,,n=,r=a"), message('p', last)) == violation);
}
