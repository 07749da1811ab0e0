#pragma once
#include <memory>
#include <string>
#include <vector>

#include "io/format/file_set.hpp"

// Files in object stores: s3://bucket/path/name?region=...&endpoint=... (S3Location::parse() explains the parameters).
// With an `access` its parameters count in the place of the URL's.

namespace ouzel::io {

/// The objects that match the URL; `*`, `[...]` and `**` work as in paths ('?' begins the parameters). Throws 58P01
/// when no object matches.
std::vector<InputFile> findObjects(const std::string& url, const ObjectAccessPtr& access);

/// Opens an object for reading; the reader owns a reference to the store. Throws 58P01 when there is no such object.
std::unique_ptr<ObjectReader> openObject(const std::string& url, const ObjectAccessPtr& access);

/// Creates an object. The bytes are collected in memory, charged to `memory`; finish() stores them, large ones in parts
/// and in parallel.
std::unique_ptr<OutputFile> createObject(const std::string& url, const ObjectAccessPtr& access, Reservation& memory);

} // namespace ouzel::io
