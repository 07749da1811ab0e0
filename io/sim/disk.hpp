#pragma once
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "common/sync/mutex.hpp"
#include "io/file/file_system.hpp"

// A disk in memory for tests. It tells what a program has written from what it has made durable, and can say what is
// left after the power was cut.
//
// What may happen to changes that were not synced, independently of each other:
//   bytes of a file       by 512-byte sector: dropped, kept, or torn: each byte the write touched is old, new or
//   garbage.
//                         Bytes that the write did not change are safe, as all devices in use promise ("powersafe
//                         overwrite" in SQLite's words)
//   size of a file        the old, the new, or in between
//   names in a directory  each name is what it was at the last syncDirectory, or anything it has been since
// syncData makes bytes and size durable, not the name; syncDirectory the names in it. Nothing is durable by itself.

namespace ouzel::io::sim {

/// A small deterministic generator (splitmix64).
class Random {
public:
   explicit Random(uint64_t seed) : state_(seed) {}
   uint64_t next() {
      uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
      return z ^ (z >> 31);
   }
   /// Below `bound`, which is not 0.
   uint64_t below(uint64_t bound) { return next() % bound; }
   bool oneIn(uint64_t n) { return below(n) == 0; }

private:
   uint64_t state_;
};

enum class Operation : uint8_t {
   Create,
   Write,
   Allocate,
   Sync,
   Truncate,
   MakeDirectory,
   SyncDirectory,
   Link,
   Rename,
   Unlink
};
constexpr size_t operationCount = 10;

/// What a power cut does to changes that were not synced.
enum class Loss : uint8_t { DropAll, KeepAll, Mixed, Torn };

/// Thread-safe. Directories cannot be renamed or removed; open files outlive their names.
class Disk final : public FileSystem {
public:
   explicit Disk(uint64_t seed) : random_(seed) {}
   /// As left by a cut. REQUIRES: bytes of afterCut().
   Disk(uint64_t seed, std::string_view image);

   // What tests steer.

   /// Called before and after each operation that changes something, inside the disk's lock: it may call afterCut()
   /// but no other member. A negative errno returned before makes the operation fail; a failed Sync leaves an unknown
   /// part durable and forgets the rest, as the kernel does.
   std::function<int(Operation, const std::string& path, bool isAfter)> onOperation;
   /// Space for files; what exceeds it fails with ENOSPC. Not what is in use already.
   void setCapacity(uint64_t bytes);
   uint64_t usedBytes() const;
   /// The disk as the next start finds it.
   std::string afterCut(Random& random, Loss loss) const;

   int open(const std::string& path, int flags) override;
   void close(int descriptor) override;
   ssize_t read(int descriptor, void* target, size_t size, uint64_t offset) override;
   ssize_t write(int descriptor, const void* source, size_t size, uint64_t offset) override;
   int allocate(int descriptor, uint64_t offset, uint64_t size) override;
   int syncData(int descriptor) override;
   int truncate(int descriptor, uint64_t size) override;
   int64_t size(int descriptor) override;
   int lock(int descriptor) override;
   void prefetch(int descriptor, uint64_t offset, uint64_t size) override;
   int makeDirectory(const std::string& path) override;
   int syncDirectory(const std::string& path) override;
   int list(const std::string& path, std::vector<DirectoryEntry>& entries) override;
   int status(const std::string& path, FileStatus& status) override;
   int link(const std::string& from, const std::string& to) override;
   int rename(const std::string& from, const std::string& to) override;
   int unlink(const std::string& path) override;

   // disk_image.cpp
   static constexpr size_t sectorSize = 512, pageSize = 4096;
   using Page = std::array<char, pageSize>;
   struct Node;
   using NodePtr = std::shared_ptr<Node>;
   /// A file or a directory: as the program sees it, and as it is durable.
   struct Node {
      bool isDirectory = false;
      // Files. Pages that are missing read as zeros; pages are shared until one of the sides changes.
      std::map<uint64_t, std::shared_ptr<Page>> pages, durablePages;
      std::set<uint64_t> dirtyPages;
      uint64_t size = 0, durableSize = 0;
      uint64_t reserved = 0; ///< space taken, at least size
      uint64_t changes = 0;
      uint32_t holders = 0; ///< names and descriptors
      // Directories. A pending name lists what it has been since the last sync, null standing for nothing.
      std::map<std::string, NodePtr> names, durableNames;
      std::map<std::string, std::vector<NodePtr>> pending;
   };

private:
   struct OpenFile {
      NodePtr node;
      std::string path;
      bool isRandomSource = false;
   };
   NodePtr find(const std::string& path) const;
   /// The directory that holds the last component of the path, and that component.
   std::pair<NodePtr, std::string> parentOf(const std::string& path) const;
   OpenFile* opened(int descriptor);
   int before(Operation operation, const std::string& path);
   int after(Operation operation, const std::string& path, int result);
   void setName(Node& directory, const std::string& name, NodePtr node);
   int reserve(Node& node, uint64_t end);
   bool isFull() const { return used_ + pageSize > capacity_; }
   void release(Node& node);
   void change(Node& node, uint64_t offset, const char* source, uint64_t size);

   mutable Mutex mutex_; ///< guards what follows
   Random random_ GUARDED_BY(mutex_);
   NodePtr root_ = [] {
      auto node = std::make_shared<Node>();
      node->isDirectory = true;
      return node;
   }();
   std::map<int, OpenFile> open_;
   int nextDescriptor_ = 1 << 28; ///< unlike the kernel's
   uint64_t capacity_ = UINT64_MAX;
   uint64_t used_ = 0; ///< by all files that have a name or are open
};

} // namespace ouzel::io::sim
