#pragma once
// Buckets are directories below a root, and objects are files below these; all files there are served. An object's tag,
// checksums and other fields are an extended attribute of its file. A file without the attribute gets a tag from its
// inode. A new object is written under another name and renamed into place, so a put is atomic. Files are not synced:
// objects may be lost when the machine stops. Limits: an object and one "below" it ("a" and "a/b") cannot both exist,
// nor names with "", "." or ".." between slashes.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/object_server/descriptor.hpp"

namespace ouzel::object_server {

struct ObjectMeta {
   std::string etag; ///< without quotes
   std::vector<std::pair<std::string, std::string>>
       fields; ///< headers of a GET's answer: content-type, x-amz-checksum-..., ...
   uint64_t size = 0;
   int64_t modifiedSeconds = 0;
};

/// A new file. moveTo() makes it an object; otherwise the destructor removes it.
class ObjectWriter {
public:
   explicit ObjectWriter(std::string path);
   ~ObjectWriter();
   ObjectWriter(const ObjectWriter&) = delete;
   ObjectWriter& operator=(const ObjectWriter&) = delete;
   void write(std::string_view bytes);
   /// Appends another file's bytes, without copying them through this process where the file system can.
   void appendFile(int file, uint64_t size);
   /// Renames the file to `path`, and replaces a file there.
   void moveTo(const std::string& path, const ObjectMeta& meta);
   int fd() const { return file_.get(); }
   uint64_t size() const { return size_; }

private:
   std::string path_;
   Descriptor file_;
   uint64_t size_ = 0;
};

/// The buckets below one root. Failures of the file system throw S3Error (507, 500).
class BucketDirectory {
public:
   explicit BucketDirectory(std::string root);
   bool hasBucket(const std::string& bucket) const;
   /// False: the bucket exists already.
   bool createBucket(const std::string& bucket);
   /// False: the bucket is not empty.
   bool removeBucket(const std::string& bucket);
   std::vector<std::string> buckets() const;

   std::optional<ObjectMeta> find(const std::string& bucket, const std::string& key) const;
   /// Opens an object's file; a closed descriptor when there is no such object.
   Descriptor open(const std::string& bucket, const std::string& key, ObjectMeta& meta) const;
   std::unique_ptr<ObjectWriter> newFile();
   void commit(ObjectWriter& writer, const std::string& bucket, const std::string& key, const ObjectMeta& meta);
   void remove(const std::string& bucket, const std::string& key);

   /// Calls `visit` for keys with the prefix that are greater than `after`, in byte order, until it returns false.
   using Visitor = std::function<bool(const std::string& key, const ObjectMeta& meta)>;
   void list(const std::string& bucket, std::string_view prefix, std::string_view after, const Visitor& visit) const;
   /// A directory of the server's own, outside of all buckets.
   const std::string& privateRoot() const { return private_; }

private:
   std::string pathOf(const std::string& bucket, const std::string& key) const;
   bool listBelow(const std::string& directory, const std::string& keyPrefix, std::string_view prefix,
                  std::string_view after, const Visitor& visit) const;

   const std::string root_, private_;
   uint64_t fileCount_ = 0;
};

/// Reads the file's attribute or makes up its fields. False: there is no such file.
bool readMeta(const std::string& path, ObjectMeta& meta);

} // namespace ouzel::object_server
