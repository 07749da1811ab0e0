#include <string>

#include "tests/fuzz/target.hpp"
#include "tests/unit/protocol/fake_backend.hpp"

// Input: the bytes of a hostile client. The first byte selects trust or SCRAM, and whether start-up is already done.

namespace ouzel::fuzz {

bool isText() {
   return false;
}

bool isWellFormed(const std::string&) {
   return true;
}

std::vector<std::string> seeds() {
   using namespace protocol::test;
   const std::string start = startupPacket({{"user", "postgres"}, {"database", "postgres"}});
   const std::string sync = syncMessage(), ready(1, '\2');
   return {std::string(1, '\0') + start + query("rows 3"),
           '\1' + start + message('p', cstring("SCRAM-SHA-256") + int32(32) + "n,,n=,r=rOprNGfwEbeRWgbNEkqO1234") +
               message('p', "c=biws,r=rOprNGfwEbeRWgbNEkqO1234,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="),
           std::string(1, '\0') + int32(8) + int32(80877103) + start,
           std::string(1, '\0') + int32(16) + int32(80877102) + int32(7) + int32(9),
           ready + query("begin; rows 2; fail; commit"),
           ready + query("notice;set;copyout"),
           ready + query("copyin") + message('d', "a\tb\n") + message('d', "\\.\n") + message('c', ""),
           ready + query("copyin") + message('d', "a") + message('f', cstring("no")) + query("rows 1"),
           ready + parse("s", "echo") + bind("p", "s", {"value"}, {1}) + describe('P', "p") + execute("p") + sync,
           ready + parse("", "rows 9") + bind("", "") + execute("", 4) + execute("", 4) + message('H', "") + sync,
           ready + parse("s", "echo") + describe('S', "s") + message('C', "S" + cstring("s")) + sync,
           ready + parse("", "fail") + bind("", "") + execute("") + parse("", "rows 1") + sync + query("rows 1"),
           ready + message('F', int32(1) + int16(0) + int16(0) + int16(0)) + message('X', "")};
}

} // namespace ouzel::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
   using namespace ouzel::protocol;
   if (size == 0) return 0;
   test::Conversation conversation;
   if ((data[0] & 1) != 0) conversation.doorkeeper.rule.method = AuthenticationMethod::ScramSha256;
   if ((data[0] & 2) != 0) conversation.connect();
   const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
   // "sleep" would wait forever: this target sends no cancel request.
   if (bytes.find("sleep") == std::string::npos) conversation.sayRaw(bytes);
   return 0;
}
