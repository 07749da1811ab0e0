#pragma once
#include <memory>
#include <string>
#include <vector>

#include "io/format/file_set.hpp"

// Files in object stores: s3://bucket/path/name?region=...&endpoint=... (S3Location says what may stand behind '?').

namespace ouzel::io {

/// The objects that the URL names; `*`, `[...]` and `**` as in paths ('?' begins the parameters). 58P01 when there are
/// none.
std::vector<InputFile> findObjects(const std::string& url);

/// The reader keeps the store. 58P01 when there is no such object.
std::unique_ptr<ObjectReader> openObject(const std::string& url);

/// Takes all bytes into memory, which is charged, and stores the object when it is finished, in parts and in parallel.
std::unique_ptr<OutputFile> createObject(const std::string& url, Reservation& memory);

} // namespace ouzel::io
