#include "catalog/catalog.hpp"

#include "catalog/object/codec.hpp"

namespace ouzel::catalog {

Snapshot Catalog::newest() const {
   const std::scoped_lock guard(latch_);
   return newest_;
}

void Catalog::replace(Snapshot snapshot) {
   const std::scoped_lock guard(latch_);
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
   if (!changes.empty()) record_ = encodeChanges(changes);
}

void Catalog::Commit::publish() noexcept {
   const std::scoped_lock guard(catalog_.latch_);
   std::swap(catalog_.newest_, next_);
}

} // namespace ouzel::catalog
