#include "catalog/catalog.hpp"

#include "catalog/object/codec.hpp"
#include "catalog/object/verify.hpp"
#include "common/error/check.hpp"

namespace ouzel::catalog {

Snapshot Catalog::newest() const {
   const MutexLock guard(latch_);
   return newest_;
}

void Catalog::replace(Snapshot snapshot) {
   const MutexLock guard(latch_);
   std::swap(newest_, snapshot);
}

Catalog::Commit Catalog::prepare(CatalogEditor& editor) {
   return Commit(*this, editor);
}

Catalog::Commit::Commit(Catalog& catalog, CatalogEditor& editor) : catalog_(catalog), order_(catalog.order_) {
   const Snapshot newest = catalog.newest();
   editor.rebase(newest);
   const std::vector<Change> changes = editor.changes();
   next_ = newest.apply(changes);
   DCHECK(changes.empty() || findDamage(next_).size() <= findDamage(newest).size());
   if (!changes.empty()) record_ = encodeChanges(changes);
}

void Catalog::Commit::publish() noexcept {
   const MutexLock guard(catalog_.latch_);
   std::swap(catalog_.newest_, next_);
}

} // namespace ouzel::catalog
