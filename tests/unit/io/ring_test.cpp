#include "io/ring/ring.hpp"

#include <catch2/catch.hpp>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "io/file/file.hpp"

using namespace ouzel::io;

CATCH_TEST_CASE("a ring writes, syncs and reads many requests at once, with and without io_uring") {
   for (const auto backend : {Ring::Backend::Automatic, Ring::Backend::Synchronous}) {
      std::string directory = (std::filesystem::temp_directory_path() / "ouzel-ring-XXXXXX").string();
      CATCH_REQUIRE(::mkdtemp(directory.data()) != nullptr);
      {
         File file(directory + "/file", File::Mode::CreateNew);
         Ring ring(8, backend);
         constexpr uint32_t blocks = 100, size = 4096;
         std::vector<char> data(blocks * size), back(blocks * size);
         for (size_t i = 0; i < data.size(); ++i)
            data[i] = static_cast<char>(i * 7 + i / size);
         const auto runAll = [&](RingRequest::Kind kind, std::vector<char>& buffer) {
            std::vector<bool> seen(blocks);
            uint32_t next = 0, done = 0;
            RingCompletion completions[16];
            while (done < blocks) {
               for (; next < blocks && ring.hasRoom(); ++next)
                  ring.prepare({kind, file.descriptor(), buffer.data() + next * size, size, next * size, next});
               const size_t n = ring.reap(completions, 1);
               CATCH_REQUIRE(n >= 1);
               for (size_t i = 0; i < n; ++i, ++done) {
                  CATCH_REQUIRE(completions[i].result == static_cast<int32_t>(size));
                  CATCH_REQUIRE_FALSE(seen[completions[i].userData]);
                  seen[completions[i].userData] = true;
               }
            }
            CATCH_REQUIRE(ring.inFlight() == 0);
         };
         runAll(RingRequest::Kind::Write, data);
         RingCompletion completion;
         ring.prepare({RingRequest::Kind::Sync, file.descriptor(), nullptr, 0, 0, 77});
         CATCH_REQUIRE(ring.reap(std::span(&completion, 1), 1) == 1);
         CATCH_CHECK(completion.userData == 77);
         CATCH_CHECK(completion.result == 0);
         runAll(RingRequest::Kind::Read, back);
         CATCH_CHECK(back == data);
         // Failures are results, not exceptions.
         ring.prepare({RingRequest::Kind::Read, -1, back.data(), size, 0, 1});
         CATCH_REQUIRE(ring.reap(std::span(&completion, 1), 1) == 1);
         CATCH_CHECK(completion.result == -EBADF);
      }
      std::filesystem::remove_all(directory);
   }
}
