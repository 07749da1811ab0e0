#pragma once
#include "io/directory/directory_store.hpp"

namespace ouzel::storage::test {

/// A directory whose isRemote() the test chooses.
class RemoteDirectory : public io::ObjectStore {
public:
   explicit RemoteDirectory(const std::string& path, bool isRemote = true) : directory_(path), isRemote_(isRemote) {}
   using io::ObjectStore::open;
   using io::ObjectStore::put;
   using io::ObjectStore::remove;
   bool put(std::string_view name, std::span<const std::string_view> parts, const io::PutCondition& when) override {
      return directory_.put(name, parts, when);
   }
   std::unique_ptr<io::ObjectReader> open(std::string_view name) override { return directory_.open(name); }
   std::optional<std::string> tag(std::string_view name) override { return directory_.tag(name); }
   std::vector<io::ObjectInfo> list(std::string_view prefix, size_t limit) override {
      return directory_.list(prefix, limit);
   }
   void remove(std::string_view name) override { directory_.remove(name); }
   void removeLeftovers() override {}
   bool isRemote() const override { return isRemote_; }

private:
   io::DirectoryStore directory_;
   const bool isRemote_;
};

} // namespace ouzel::storage::test
