#pragma once
#include <memory>
#include <string>
#include <vector>

#include "io/format/file_set.hpp"

// Files in object stores: s3://bucket/path/name?region=...&endpoint=... (S3Location::parse() explains the parameters).

namespace ouzel::io {

/// The objects that match the URL; `*`, `[...]` and `**` work as in paths ('?' begins the parameters). Throws 58P01
/// when no object matches.
std::vector<InputFile> findObjects(const std::string& url);

/// Opens an object for reading; the reader owns a reference to the store. Throws 58P01 when there is no such object.
std::unique_ptr<ObjectReader> openObject(const std::string& url);

/// Creates an object. The bytes are collected in memory, charged to `memory`; finish() stores them, large ones in parts
/// and in parallel.
std::unique_ptr<OutputFile> createObject(const std::string& url, Reservation& memory);

} // namespace ouzel::io
