#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/memory/ledger.hpp"
#include "io/object_store/object_store.hpp"

// Files that users name in SQL: paths and patterns of the server's machine, and URLs of object stores.

namespace ouzel::io {

struct InputFile {
   std::string path;
   uint64_t size = 0;
};

/// The files that the patterns name, each pattern's in byte order of the paths. `*`, `?` and `[...]` match within a
/// name, a component `**` any number of directories; a path without them has to exist. 58P01 for a pattern that names
/// nothing, 42809 for a directory. URLs of object stores are patterns as well (object_files.hpp).
std::vector<InputFile> findFiles(const std::vector<std::string>& patterns);

/// Throws 58P01, 42501 or 58030 with the name.
std::unique_ptr<ObjectReader> openInput(const std::string& path);

/// Bytes on their way into a new file.
class OutputFile {
public:
   virtual ~OutputFile() = default;
   virtual void write(std::string_view bytes) = 0;
   /// All is written; without it what was written may be there or not.
   virtual void finish() = 0;
};
/// Throws as openInput(). A file that is there is replaced. What it holds in memory is charged.
std::unique_ptr<OutputFile> openOutput(const std::string& path, Reservation& memory);

/// Whether the path is a URL of an object store.
bool isObjectUrl(std::string_view path);

} // namespace ouzel::io
