#include "io/directory/directory_store.hpp"

#include <algorithm>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/error/test_point.hpp"
#include "io/directory/file_reader.hpp"

namespace ouzel::io {

namespace {

constexpr std::string_view temporaryDirectory = ".tmp";

/// Removes the temporary name in the destructor, after a rename (which left none), a link, or a failed put.
struct TemporaryName {
   const std::string& path;
   ~TemporaryName() { FileSystem::current().unlink(path); }
};

std::string parentOf(const std::string& path) {
   return path.substr(0, path.find_last_of('/'));
}

} // namespace

DirectoryStore::DirectoryStore(std::string root) : root_(std::move(root)) {
   makeDirectories(root_);
   makeDirectories(root_ + "/" + std::string(temporaryDirectory));
   uint64_t number = 0;
   const File source("/dev/urandom", File::Mode::Read);
   source.readAt(&number, sizeof number, 0);
   ownPrefix_ = std::to_string(number) + "-";
}

void DirectoryStore::removeLeftovers() {
   const std::string temporary = root_ + "/" + std::string(temporaryDirectory);
   for (const DirectoryEntry& entry : listDirectory(temporary))
      if (!entry.name.starts_with(ownPrefix_)) removeFile(temporary + "/" + entry.name);
}

std::string DirectoryStore::pathOf(std::string_view name) const {
   CHECK(isValidObjectName(name));
   return root_ + "/" + std::string(name);
}

void DirectoryStore::prepareParent(const std::string& path) {
   const std::string parent = parentOf(path);
   // The lock is held during makeDirectories(), so that no other put uses the directory before it is durable. An
   // existing directory is synced once by this store, because its creator may have been killed before syncing it.
   const MutexLock lock(mutex_);
   if (knownDirectories_.contains(parent)) return;
   makeDirectories(parent);
   for (std::string level = parent; level.size() > root_.size() && !knownDirectories_.contains(level);
        level = parentOf(level)) {
      syncDirectory(parentOf(level));
      knownDirectories_.insert(level);
   }
   knownDirectories_.insert(parent);
}

bool DirectoryStore::put(std::string_view name, std::span<const std::string_view> parts,
                         const PutCondition& condition) {
   const std::string path = pathOf(name);
   std::string temporary = root_ + "/" + std::string(temporaryDirectory) + "/" + ownPrefix_;
   {
      const MutexLock lock(mutex_);
      temporary += std::to_string(++temporaryCount_);
   }
   const TemporaryName guard{temporary};
   {
      if (const int error = TEST_POINT("put.write")) throwIoError("could not write file", temporary, error);
      File file(temporary, File::Mode::CreateNew);
      uint64_t offset = 0;
      for (const std::string_view part : parts) {
         file.writeAt(part.data(), part.size(), offset);
         offset += part.size();
      }
      if (const int error = TEST_POINT("put.sync")) throwIoError("could not fsync file", temporary, error);
      file.syncData();
   }
   prepareParent(path);
   if (const int error = TEST_POINT("put.name")) throwIoError("could not create file", path, error);
   bool stored = true;
   if (condition.kind == PutCondition::Kind::IfAbsent) {
      stored = createLink(temporary, path);
   } else if (condition.kind == PutCondition::Kind::IfMatch) {
      const MutexLock lock(mutex_);
      stored = tag(name) == condition.tag;
      if (stored) renameFile(temporary, path);
   } else {
      renameFile(temporary, path);
   }
   if (const int error = TEST_POINT("put.named")) throwIoError("could not fsync directory", parentOf(path), error);
   if (stored) syncDirectory(parentOf(path));
   TEST_POINT("put.done");
   return stored;
}

std::unique_ptr<ObjectReader> DirectoryStore::open(std::string_view name) {
   const std::string path = pathOf(name);
   if (!exists(path)) return nullptr;
   return std::make_unique<FileReader>(File(path, File::Mode::Read));
}

std::optional<std::string> DirectoryStore::tag(std::string_view name) {
   FileStatus status;
   if (FileSystem::current().status(pathOf(name), status) < 0) return std::nullopt;
   return status.tag;
}

void DirectoryStore::listBelow(const std::string& directory, std::string_view prefix,
                               std::vector<ObjectInfo>& result) const {
   for (const DirectoryEntry& entry : listDirectory(directory)) {
      if (entry.name == temporaryDirectory) continue;
      const std::string path = directory + "/" + entry.name;
      if (entry.isDirectory) {
         listBelow(path, prefix, result);
         continue;
      }
      std::string name = path.substr(root_.size() + 1);
      FileStatus status;
      if (name.starts_with(prefix) && FileSystem::current().status(path, status) == 0)
         result.push_back({std::move(name), status.size});
   }
}

std::vector<ObjectInfo> DirectoryStore::list(std::string_view prefix, size_t limit) {
   std::vector<ObjectInfo> result;
   const size_t slash = prefix.find_last_of('/');
   const std::string start =
       slash == std::string_view::npos ? root_ : root_ + "/" + std::string(prefix.substr(0, slash));
   listBelow(start, prefix, result);
   std::sort(result.begin(), result.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
   if (result.size() > limit) result.resize(limit);
   return result;
}

void DirectoryStore::remove(std::string_view name) {
   const std::string path = pathOf(name);
   if (const int error = TEST_POINT("store.remove")) throwIoError("could not remove file", path, error);
   removeFile(path);
}

} // namespace ouzel::io
