#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "catalog/editor/editor.hpp"
#include "catalog/object/snapshot.hpp"
#include "common/sync/mutex.hpp"

namespace ouzel::catalog {

/// The newest committed snapshot and the order in which commits replace it. One per process; thread-safe.
///
/// A commit: `auto commit = catalog.prepare(editor)` (rebases and waits for other DDL commits), write
/// `commit.record()` to the log, then `commit.publish()` at the commit point; destroying it unpublished gives up.
class Catalog {
public:
   explicit Catalog(Snapshot initial) : newest_(std::move(initial)) {}

   /// Cheap; take one per statement.
   Snapshot newest() const;

   /// Show another snapshot: that of a database which somebody else changes. REQUIRES: nobody commits.
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
          order_; ///< holds the place in the order until done; moves with the commit, as UniqueLock cannot
      Snapshot next_;
      std::string record_;
   };
   /// Throws what CatalogEditor::rebase throws. REQUIRES: the caller holds no other Commit.
   Commit prepare(CatalogEditor& editor);

private:
   Mutex order_;         ///< one DDL commit at a time
   mutable Mutex latch_; ///< guards newest_
   Snapshot newest_ GUARDED_BY(latch_);
};

} // namespace ouzel::catalog
