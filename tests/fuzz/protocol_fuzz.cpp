#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/unit/protocol/fake_backend.hpp"

// What a hostile client sends. The first byte picks trust or SCRAM and whether start-up has already happened.
// Run: cmake -G Ninja -B build/fuzz -DCMAKE_CXX_COMPILER=clang++-19 -DOUZEL_FUZZ=ON -DOUZEL_DCHECKS=ON
//         -DOUZEL_SANITIZE=address,undefined; ninja -C build/fuzz protocol_fuzz; build/fuzz/tests/fuzz/protocol_fuzz
// -max_len=65536

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
   using namespace ouzel::protocol;
   if (size == 0) return 0;
   test::Conversation conversation;
   if ((data[0] & 1) != 0) conversation.doorkeeper.rule.method = AuthenticationMethod::ScramSha256;
   if ((data[0] & 2) != 0) conversation.connect();
   conversation.sayRaw(std::string(reinterpret_cast<const char*>(data) + 1, size - 1));
   return 0;
}
