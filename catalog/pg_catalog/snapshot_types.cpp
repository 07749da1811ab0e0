#include "catalog/pg_catalog/snapshot_types.hpp"

#include "catalog/pg_catalog/functions.hpp"
#include "common/error/sql_error.hpp"
#include "common/type/enum_labels.hpp"

namespace ouzel::catalog {

void SnapshotTypes::follow(const Snapshot& snapshot, const Snapshot& committed) {
   const MutexLock lock(mutex_);
   if (snapshot_.version() == snapshot.version() && snapshot_.database() == snapshot.database() &&
       committed_.version() == committed.version())
      return;
   snapshot_ = snapshot;
   committed_ = committed;
   known_.clear();
   labels_.clear();
   path_.reset();
}

Snapshot SnapshotTypes::snapshot() const {
   const MutexLock lock(mutex_);
   return snapshot_;
}

void SnapshotTypes::setSearchPath(const std::vector<std::string>& setting, std::string_view user, Oid temporarySchema) {
   const MutexLock lock(mutex_);
   if (setting_ == setting && user_ == user && temporarySchema_ == temporarySchema) return;
   setting_ = setting;
   user_ = user;
   temporarySchema_ = temporarySchema;
   path_.reset();
}

std::string SnapshotTypes::objectName(Oid regType, Oid object) const {
   const MutexLock lock(mutex_);
   if (!path_) path_ = SearchPath::resolve(snapshot_, setting_, user_, temporarySchema_);
   return regOut({snapshot_, *path_}, regType, object);
}

Oid SnapshotTypes::objectNamed(Oid regType, std::string_view name) const {
   const MutexLock lock(mutex_);
   if (!path_) path_ = SearchPath::resolve(snapshot_, setting_, user_, temporarySchema_);
   return regIn({snapshot_, *path_}, regType, name);
}

RowFields SnapshotTypes::rowFields(Oid type) const {
   const MutexLock lock(mutex_);
   RowFields& fields = known_[type];
   if (fields) return fields;
   const RelationPtr relation = snapshot_.relationOfType(type);
   if (!relation) throwInternal("row type " + std::to_string(type) + " does not exist");
   auto made = std::make_shared<std::vector<RowField>>();
   for (const Column& column : relation->columns)
      made->push_back({column.name, column.type, column.isDropped});
   return fields = std::move(made);
}

EnumLabelsPtr SnapshotTypes::enumLabels(Oid type) const {
   const MutexLock lock(mutex_);
   EnumLabelsPtr& labels = labels_[type];
   if (labels) return labels;
   const RelationPtr relation = snapshot_.relationOfType(type);
   if (!relation || !relation->labels) throwInternal("enum type " + std::to_string(type) + " does not exist");
   labels = relation->labels;
   const RelationPtr before = committed_.relationOfType(type);
   if (before == relation) return labels;
   std::vector<EnumLabel> marked = labels->inOrder();
   for (EnumLabel& label : marked)
      label.isUncommitted = label.isAdded && !(before && before->labels && before->labels->find(label.code));
   return labels = std::make_shared<const EnumLabels>(std::move(marked));
}

} // namespace ouzel::catalog
