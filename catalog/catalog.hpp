#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "catalog/editor/editor.hpp"
#include "catalog/object/snapshot.hpp"
#include "common/sync/mutex.hpp"

namespace ouzel::catalog {

/// Holds the newest committed snapshot, and lets one DDL commit at a time replace it. One per process; thread-safe.
///
/// The steps of a commit:
/// 1. `auto commit = catalog.prepare(editor)` waits until no other DDL commit runs, and rebases the editor.
/// 2. The caller writes `commit.record()` to the log.
/// 3. `commit.publish()` at the commit point makes the snapshot the newest one.
/// A Commit that is destroyed before publish() leaves the catalog unchanged. A Commit holds `order_` while it lives.
class Catalog {
public:
   explicit Catalog(Snapshot initial) : newest_(std::move(initial)) {}

   /// Copies a handle, which is cheap. A statement takes one snapshot and keeps it.
   Snapshot newest() const;

   /// Replaces the newest snapshot. A read-only server calls it when it follows a database that another server writes.
   /// REQUIRES: no Commit exists.
   void replace(Snapshot snapshot);

   class Commit {
   public:
      /// Bytes for the log; Snapshot::apply(decodeChanges(record)) repeats the commit.
      const std::string& record() const { return record_; }
      /// Does not throw and does not wait.
      void publish() noexcept;

   private:
      friend class Catalog;
      Commit(Catalog& catalog, CatalogEditor& editor);

      Catalog& catalog_;
      std::unique_lock<Mutex>
          order_; ///< held until the commit is destroyed; std::unique_lock, because UniqueLock cannot be moved
      Snapshot next_;
      std::string record_;
   };
   /// Throws the errors of CatalogEditor::rebase. REQUIRES: the calling thread holds no other Commit.
   Commit prepare(CatalogEditor& editor);

private:
   Mutex order_;         ///< held by the one DDL commit that runs; acquired before latch_
   mutable Mutex latch_; ///< guards newest_
   Snapshot newest_ GUARDED_BY(latch_);
};

} // namespace ouzel::catalog
