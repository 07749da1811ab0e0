#include "io/sim/disk.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>

#include "common/error/check.hpp"

namespace ouzel::io::sim {

void Disk::setCapacity(uint64_t bytes) {
   const MutexLock lock(mutex_);
   capacity_ = bytes;
}

uint64_t Disk::usedBytes() const {
   const MutexLock lock(mutex_);
   return used_;
}

Disk::NodePtr Disk::find(const std::string& path) const {
   NodePtr node = root_;
   for (size_t begin = 0; begin < path.size();) {
      const size_t end = std::min(path.find('/', begin), path.size());
      if (end > begin) {
         if (!node->isDirectory) return nullptr;
         const auto it = node->names.find(path.substr(begin, end - begin));
         if (it == node->names.end()) return nullptr;
         node = it->second;
      }
      begin = end + 1;
   }
   return node;
}

std::pair<Disk::NodePtr, std::string> Disk::parentOf(const std::string& path) const {
   const size_t slash = path.find_last_of('/');
   CHECK(slash != std::string::npos); // tests use absolute paths
   NodePtr parent = find(path.substr(0, slash));
   if (parent && !parent->isDirectory) parent = nullptr;
   return {parent, path.substr(slash + 1)};
}

Disk::OpenFile* Disk::opened(int descriptor) {
   const auto it = open_.find(descriptor);
   return it == open_.end() ? nullptr : &it->second;
}

int Disk::before(Operation operation, const std::string& path) {
   return onOperation ? onOperation(operation, path, false) : 0;
}

int Disk::after(Operation operation, const std::string& path, int result) {
   if (onOperation) onOperation(operation, path, true);
   return result;
}

void Disk::setName(Node& directory, const std::string& name, NodePtr node) {
   directory.pending[name].push_back(node);
   if (node) ++node->holders;
   if (const auto it = directory.names.find(name); it != directory.names.end()) {
      release(*it->second);
      directory.names.erase(it);
   }
   if (node) directory.names[name] = std::move(node);
}

void Disk::release(Node& node) {
   if (--node.holders > 0) return;
   used_ -= node.reserved; // a file that only a power cut could bring back takes no space
   node.reserved = 0;
}

int Disk::reserve(Node& node, uint64_t end) {
   const uint64_t needed = (end + pageSize - 1) / pageSize * pageSize;
   if (needed <= node.reserved) return 0;
   if (used_ + (needed - node.reserved) > capacity_) return -ENOSPC;
   used_ += needed - node.reserved;
   node.reserved = needed;
   return 0;
}

void Disk::change(Node& node, uint64_t offset, const char* source, uint64_t size) {
   ++node.changes;
   while (size > 0) {
      const uint64_t number = offset / pageSize, inside = offset % pageSize;
      const uint64_t count = std::min<uint64_t>(size, pageSize - inside);
      auto& page = node.pages[number];
      if (!page)
         page = std::make_shared<Page>(Page{});
      else if (page.use_count() > 1)
         page = std::make_shared<Page>(*page);
      if (source)
         std::memcpy(page->data() + inside, source, count), source += count;
      else
         std::memset(page->data() + inside, 0, count);
      node.dirtyPages.insert(number);
      offset += count;
      size -= count;
   }
}

int Disk::open(const std::string& path, int flags) {
   const MutexLock lock(mutex_);
   OpenFile file{nullptr, path, path == "/dev/urandom"};
   if (!file.isRandomSource) {
      file.node = find(path);
      if (file.node && (flags & O_EXCL)) return -EEXIST;
      if (file.node && file.node->isDirectory) return -EISDIR;
      if (!file.node) {
         const auto [parent, name] = parentOf(path);
         if (!parent || !(flags & O_CREAT)) return -ENOENT;
         if (const int error = before(Operation::Create, path)) return error;
         if (isFull()) return -ENOSPC;
         file.node = std::make_shared<Node>();
         setName(*parent, name, file.node);
         after(Operation::Create, path, 0);
      }
   }
   if (file.node) ++file.node->holders;
   open_[nextDescriptor_] = std::move(file);
   return nextDescriptor_++;
}

void Disk::close(int descriptor) {
   const MutexLock lock(mutex_);
   const auto it = open_.find(descriptor);
   if (it == open_.end()) return;
   if (it->second.node) release(*it->second.node);
   open_.erase(it);
}

ssize_t Disk::read(int descriptor, void* target, size_t size, uint64_t offset) {
   const MutexLock lock(mutex_);
   OpenFile* file = opened(descriptor);
   if (!file) return -EBADF;
   auto* out = static_cast<char*>(target);
   if (file->isRandomSource) {
      std::generate_n(out, size, [&]() REQUIRES(mutex_) { return static_cast<char>(random_.next()); });
      return static_cast<ssize_t>(size);
   }
   const Node& node = *file->node;
   if (offset >= node.size) return 0;
   const size_t count = std::min<uint64_t>(size, node.size - offset);
   for (size_t done = 0; done < count;) {
      const uint64_t inside = (offset + done) % pageSize;
      const size_t here = std::min<uint64_t>(count - done, pageSize - inside);
      const auto it = node.pages.find((offset + done) / pageSize);
      if (it == node.pages.end())
         std::memset(out + done, 0, here);
      else
         std::memcpy(out + done, it->second->data() + inside, here);
      done += here;
   }
   return static_cast<ssize_t>(count);
}

ssize_t Disk::write(int descriptor, const void* source, size_t size, uint64_t offset) {
   const MutexLock lock(mutex_);
   OpenFile* file = opened(descriptor);
   if (!file) return -EBADF;
   if (const int error = before(Operation::Write, file->path)) return error;
   Node& node = *file->node;
   if (const int error = reserve(node, offset + size)) return error;
   change(node, offset, static_cast<const char*>(source), size);
   node.size = std::max(node.size, offset + size);
   after(Operation::Write, file->path, 0);
   return static_cast<ssize_t>(size);
}

int Disk::allocate(int descriptor, uint64_t offset, uint64_t size) {
   const MutexLock lock(mutex_);
   OpenFile* file = opened(descriptor);
   if (!file) return -EBADF;
   if (const int error = before(Operation::Allocate, file->path)) return error;
   if (const int error = reserve(*file->node, offset + size)) return error;
   file->node->size = std::max(file->node->size, offset + size);
   ++file->node->changes;
   return after(Operation::Allocate, file->path, 0);
}

int Disk::syncData(int descriptor) {
   const MutexLock lock(mutex_);
   OpenFile* file = opened(descriptor);
   if (!file) return -EBADF;
   Node& node = *file->node;
   const int error = before(Operation::Sync, file->path);
   for (const uint64_t number : node.dirtyPages) {
      if (error != 0 && random_.oneIn(2)) continue;
      const auto it = node.pages.find(number);
      if (it == node.pages.end())
         node.durablePages.erase(number);
      else
         node.durablePages[number] = it->second;
   }
   node.dirtyPages.clear();
   if (error != 0) return error;
   node.durableSize = node.size;
   return after(Operation::Sync, file->path, 0);
}

int Disk::truncate(int descriptor, uint64_t size) {
   const MutexLock lock(mutex_);
   OpenFile* file = opened(descriptor);
   if (!file) return -EBADF;
   if (const int error = before(Operation::Truncate, file->path)) return error;
   Node& node = *file->node;
   if (size < node.size) {
      const uint64_t end = (size + pageSize - 1) / pageSize;
      if (size % pageSize != 0 && node.pages.contains(size / pageSize))
         change(node, size, nullptr, pageSize - size % pageSize);
      for (auto it = node.pages.lower_bound(end); it != node.pages.end(); it = node.pages.erase(it))
         node.dirtyPages.insert(it->first);
      used_ -= node.reserved - std::min(node.reserved, end * pageSize);
      node.reserved = std::min(node.reserved, end * pageSize);
   } else if (const int error = reserve(node, size)) {
      return error;
   }
   node.size = size;
   ++node.changes;
   return after(Operation::Truncate, file->path, 0);
}

int64_t Disk::size(int descriptor) {
   const MutexLock lock(mutex_);
   OpenFile* file = opened(descriptor);
   return file ? static_cast<int64_t>(file->node->size) : -EBADF;
}

int Disk::lock(int) {
   return 0;
}

void Disk::prefetch(int, uint64_t, uint64_t) {}

int Disk::makeDirectory(const std::string& path) {
   const MutexLock lock(mutex_);
   if (find(path)) return -EEXIST;
   const auto [parent, name] = parentOf(path);
   if (!parent) return -ENOENT;
   if (const int error = before(Operation::MakeDirectory, path)) return error;
   if (isFull()) return -ENOSPC;
   auto node = std::make_shared<Node>();
   node->isDirectory = true;
   setName(*parent, name, std::move(node));
   return after(Operation::MakeDirectory, path, 0);
}

int Disk::syncDirectory(const std::string& path) {
   const MutexLock lock(mutex_);
   const NodePtr node = find(path);
   if (!node || !node->isDirectory) return -ENOENT;
   if (const int error = before(Operation::SyncDirectory, path)) return error;
   node->durableNames = node->names;
   node->pending.clear();
   return after(Operation::SyncDirectory, path, 0);
}

int Disk::list(const std::string& path, std::vector<DirectoryEntry>& entries) {
   const MutexLock lock(mutex_);
   const NodePtr node = find(path);
   if (!node || !node->isDirectory) return -ENOENT;
   for (const auto& [name, child] : node->names)
      entries.push_back({name, child->isDirectory});
   return 0;
}

int Disk::status(const std::string& path, FileStatus& status) {
   const MutexLock lock(mutex_);
   const NodePtr node = find(path);
   if (!node) return -ENOENT;
   status = {node->isDirectory, node->size, std::to_string(node->changes) + "-" + std::to_string(node->size)};
   return 0;
}

int Disk::link(const std::string& from, const std::string& to) {
   const MutexLock lock(mutex_);
   const NodePtr node = find(from);
   const auto [parent, name] = parentOf(to);
   if (!node || !parent) return -ENOENT;
   if (find(to)) return -EEXIST;
   if (const int error = before(Operation::Link, to)) return error;
   if (isFull()) return -ENOSPC;
   setName(*parent, name, node);
   return after(Operation::Link, to, 0);
}

int Disk::rename(const std::string& from, const std::string& to) {
   const MutexLock lock(mutex_);
   const NodePtr node = find(from);
   const auto [source, oldName] = parentOf(from);
   const auto [target, newName] = parentOf(to);
   if (!node || !target) return -ENOENT;
   if (const int error = before(Operation::Rename, to)) return error;
   if (isFull()) return -ENOSPC;
   setName(*target, newName, node);
   setName(*source, oldName, nullptr);
   return after(Operation::Rename, to, 0);
}

int Disk::unlink(const std::string& path) {
   const MutexLock lock(mutex_);
   const NodePtr node = find(path);
   if (!node) return -ENOENT;
   if (node->isDirectory) return -EISDIR;
   const auto [parent, name] = parentOf(path);
   if (const int error = before(Operation::Unlink, path)) return error;
   setName(*parent, name, nullptr);
   return after(Operation::Unlink, path, 0);
}

} // namespace ouzel::io::sim
