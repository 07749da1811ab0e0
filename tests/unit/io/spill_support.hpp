#pragma once
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "common/hash/hash.hpp"
#include "io/spill/spill.hpp"

// Directories to spill to, and pages whose content can be verified.

namespace ouzel::io::test {

/// Empty directories, removed by the destructor.
class SpillDirectories {
public:
   explicit SpillDirectories(size_t count = 1) {
      root_ = (std::filesystem::temp_directory_path() / "ouzel-spill-test-XXXXXX").string();
      if (!::mkdtemp(root_.data())) std::abort();
      for (size_t i = 0; i < count; ++i)
         options.targets.push_back(root_ + "/" + std::to_string(i));
   }
   ~SpillDirectories() { std::filesystem::remove_all(root_); }

   SpillOptions options;

private:
   std::string root_;
};

/// A page whose bytes are determined by its number. Half of it can be compressed.
inline std::vector<std::byte> pageOf(uint64_t number, size_t bytes) {
   std::vector<uint64_t> words(bytes / 8 + 1);
   for (size_t i = 0; i < words.size(); ++i)
      words[i] = i % 2 == 0 ? hashU64(number * 1000000007 + i) : i / 32;
   std::vector<std::byte> page(bytes);
   std::memcpy(page.data(), words.data(), bytes);
   return page;
}

/// Compares like ==, which is slow under ThreadSanitizer: it checks each byte.
inline bool isSame(const std::vector<std::byte>& a, const std::vector<std::byte>& b) {
   return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

inline SpillPolicy atLevel(int level) {
   SpillPolicy policy;
   policy.level = level;
   return policy;
}

inline SpilledPage writePage(SpillSpace& space, const std::vector<std::byte>& page) {
   const std::span<const std::byte> parts[] = {page};
   return space.write(parts);
}

inline std::vector<std::byte> readPage(SpillReader& reader) {
   std::vector<std::byte> page(reader.nextBytes());
   reader.next(page.data());
   return page;
}

} // namespace ouzel::io::test
