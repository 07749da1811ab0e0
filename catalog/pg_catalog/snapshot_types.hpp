#pragma once
#include <map>
#include <optional>

#include "catalog/object/search_path.hpp"
#include "common/sync/mutex.hpp"
#include "common/type/user_types.hpp"

namespace ouzel::catalog {

/// The types of users as a session sees them. A session keeps one and follows its transactions' catalog with it. What a
/// domain checks is compiled elsewhere.
class SnapshotTypes : public UserTypes {
public:
   /// From now on the types are those of the snapshot. Values of earlier statements may be printed then; they say
   /// themselves what their fields are.
   /// Labels that `committed` does not have must not be used yet.
   void follow(const Snapshot& snapshot, const Snapshot& committed);
   /// The search_path by which names of objects are qualified or not.
   void setSearchPath(const std::vector<std::string>& setting, std::string_view user, Oid temporarySchema);
   RowFields rowFields(Oid type) const override;
   EnumLabelsPtr enumLabels(Oid type) const override;
   std::string objectName(Oid regType, Oid object) const override;
   Oid objectNamed(Oid regType, std::string_view name) const override;

protected:
   Snapshot snapshot() const;

private:
   mutable Mutex mutex_;
   Snapshot snapshot_ GUARDED_BY(mutex_), committed_ GUARDED_BY(mutex_);
   std::vector<std::string> setting_ GUARDED_BY(mutex_);
   std::string user_ GUARDED_BY(mutex_);
   Oid temporarySchema_ GUARDED_BY(mutex_) = invalidOid;
   mutable std::optional<SearchPath> path_ GUARDED_BY(mutex_); ///< empty: not resolved in the snapshot yet
   mutable std::map<Oid, RowFields> known_ GUARDED_BY(mutex_);
   mutable std::map<Oid, EnumLabelsPtr> labels_ GUARDED_BY(mutex_);
};

} // namespace ouzel::catalog
