#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/memory/ledger.hpp"
#include "io/object_store/object_store.hpp"
#include "io/store/object_access.hpp"

// Files that users name in SQL: paths and patterns of the server's machine, and URLs of object stores.

namespace ouzel::io {

struct InputFile {
   std::string path;
   uint64_t size = 0;
};

/// The files that match the patterns, for each pattern in byte order of the paths. `*`, `?` and `[...]` match within a
/// name, a component `**` matches any number of directories. A path without wildcards must exist. Throws 58P01 for a
/// pattern without matches, 42809 for a directory. Patterns may be URLs of object stores (object_files.hpp), to which
/// `access` has the keys; null: the server's own.
std::vector<InputFile> findFiles(const std::vector<std::string>& patterns, const ObjectAccessPtr& access);

/// Opens a file or object for reading. Throws 58P01, 42501 or 58030 with the name.
std::unique_ptr<ObjectReader> openInput(const std::string& path, const ObjectAccessPtr& access);

/// A new file or object that is being written. Used by one thread.
class OutputFile {
public:
   virtual ~OutputFile() = default;
   virtual void write(std::string_view bytes) = 0;
   /// Completes the file. Without this call the file may be absent, partial or complete.
   virtual void finish() = 0;
};
/// Creates or replaces a file or object. Buffered bytes are charged to `memory`. Throws what openInput() throws.
std::unique_ptr<OutputFile> openOutput(const std::string& path, const ObjectAccessPtr& access, Reservation& memory);

/// Whether the path is a URL of an object store.
bool isObjectUrl(std::string_view path);

} // namespace ouzel::io
