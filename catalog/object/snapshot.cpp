#include "catalog/object/snapshot.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <tuple>

#include "catalog/builtin/text_table.hpp"
#include "catalog/object/cast.hpp"
#include "catalog/object/collation.hpp"
#include "catalog/object/comments.hpp"
#include "catalog/object/extension.hpp"
#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "catalog/object/function.hpp"
#include "catalog/object/initial_databases.hpp"
#include "catalog/object/large_object.hpp"
#include "catalog/object/membership.hpp"
#include "catalog/object/object_name.hpp"
#include "catalog/object/operator.hpp"
#include "catalog/object/persistent_map.hpp"
#include "catalog/object/prepared_transaction.hpp"
#include "catalog/object/statistics.hpp"
#include "catalog/object/system_relations.hpp"
#include "catalog/object/text_search/text_search.hpp"
#include "common/error/check.hpp"
#include "common/value/range_types.hpp"

namespace ouzel::catalog {

namespace {

/// The relation that the object is if it has a row type, else null.
const Relation* withRowType(const CatalogObject& object) {
   if (object.kind != ObjectKind::Relation) return nullptr;
   const auto& relation = static_cast<const Relation&>(object);
   return relation.rowType == invalidOid ? nullptr : &relation;
}

/// A type that users made. Copies of a database have the types of the original.
using TypeKey = std::pair<Oid, Oid>; ///< database, type
TypeKey typeOf(const Relation& relation) {
   return {relation.database, relation.rowType};
}

uint64_t nextVersion() {
   static std::atomic<uint64_t> last{0};
   return ++last;
}

template <typename T>
std::shared_ptr<const T> as(const ObjectPtr& object) {
   return std::static_pointer_cast<const T>(object);
}

} // namespace

namespace {

/// The heirs of one table. Their list is made when it is first asked for.
class HeirGroup {
public:
   explicit HeirGroup(std::vector<Oid> oids) : oids_(std::move(oids)) {}

   const std::vector<Oid>& oids() const { return oids_; }
   std::shared_ptr<const HeirList> list(const Relation& table, const Snapshot& snapshot) const {
      std::call_once(once_, [&] { list_ = make(table, snapshot); });
      return list_;
   }

private:
   std::shared_ptr<const HeirList> make(const Relation& table, const Snapshot& snapshot) const {
      std::vector<Heir> heirs;
      for (const Oid oid : oids_)
         if (RelationPtr relation = snapshot.relation(oid)) heirs.push_back({relation, attributesIn(table, *relation)});
      auto list = std::make_shared<HeirList>();
      if (!table.partitionKey) {
         list->heirs = std::move(heirs);
         return list;
      }
      std::vector<SqlType> types = boundTypes(snapshot, table);
      std::erase_if(heirs, [](const Heir& heir) { return !heir.relation->bound; });
      const auto boundsOf = [](const std::vector<Heir>& all) {
         std::vector<const PartitionBound*> bounds;
         for (const Heir& heir : all)
            bounds.push_back(&*heir.relation->bound);
         return bounds;
      };
      for (const uint32_t i : PartitionMap(*table.partitionKey, types, boundsOf(heirs)).inOrder())
         list->heirs.push_back(std::move(heirs[i]));
      list->map = std::make_shared<const PartitionMap>(*table.partitionKey, std::move(types), boundsOf(list->heirs));
      return list;
   }

   const std::vector<Oid> oids_; ///< ascending
   mutable std::once_flag once_;
   mutable std::shared_ptr<const HeirList> list_;
};

} // namespace

struct Snapshot::State {
   uint64_t version = 0;
   PersistentMap<ObjectKey, ObjectPtr> objects;
   PersistentMap<NameKey, ObjectPtr, NameLess> names;
   PersistentMap<TypeKey, RelationPtr> rowTypes;                        ///< by Relation::rowType
   PersistentMap<Oid, std::shared_ptr<const HeirGroup>> heirs;          ///< by the table that they inherit from
   PersistentMap<Oid, std::shared_ptr<const std::vector<Oid>>> indexes; ///< ascending, by their table
   PersistentMap<std::pair<Oid, Oid>, Oid> partOwners; ///< database, OID of a constraint or rule -> its relation

   template <typename T>
   std::shared_ptr<const T> find(const ObjectKey& key) const {
      const ObjectPtr* found = objects.find(key);
      return found == nullptr ? nullptr : as<T>(*found);
   }
   template <typename T>
   std::shared_ptr<const T> findName(ObjectKind kind, Oid database, Oid schema, std::string_view name) const {
      const ObjectPtr* found = names.find(NameView{kind, database, schema, name});
      return found == nullptr ? nullptr : as<T>(*found);
   }
   template <typename T, typename Keep>
   std::vector<std::shared_ptr<const T>> list(ObjectKind kind, Keep&& keep) const {
      std::vector<std::shared_ptr<const T>> result;
      objects.visitFrom(ObjectKey{kind}, [&](const ObjectKey& key, const ObjectPtr& object) {
         if (key.kind != kind) return false;
         if (keep(static_cast<const T&>(*object))) result.push_back(as<T>(object));
         return true;
      });
      return result;
   }
   /// Of a kind whose keys begin with the database.
   bool hasAny(ObjectKind kind, Oid database) const {
      bool found = false;
      objects.visitFrom(ObjectKey{kind, database}, [&](const ObjectKey& key, const ObjectPtr&) {
         found = key.kind == kind && key.a == database;
         return false;
      });
      return found;
   }
   void remove(const ObjectKey& key) {
      const ObjectPtr* found = objects.find(key);
      if (found == nullptr) return;
      if (const auto name = nameOf(**found)) {
         // Another object may have taken the name in the same set of changes; that object's entry stays.
         const ObjectPtr* named = names.find(*name);
         if (named != nullptr && *named == *found) names = names.without(*name);
      }
      if (const Relation* relation = withRowType(**found)) {
         const RelationPtr* known = rowTypes.find(typeOf(*relation));
         if (known != nullptr && known->get() == relation) rowTypes = rowTypes.without(typeOf(*relation));
      }
      if ((*found)->kind == ObjectKind::Relation) {
         const auto& relation = static_cast<const Relation&>(**found);
         for (const Oid parent : relation.parents)
            changeHeirs(parent, [&](std::vector<Oid>& oids) { std::erase(oids, key.a); });
         if (relation.index)
            changeIndexes(relation.index->table, [&](std::vector<Oid>& oids) { std::erase(oids, key.a); });
         forEachPart(relation, [&](Oid part) {
            const Oid* owner = partOwners.find(std::pair(relation.database, part));
            if (owner != nullptr && *owner == key.a)
               partOwners = partOwners.without(std::pair(relation.database, part));
         });
      }
      objects = objects.without(key);
   }
   template <typename Visit>
   static void forEachPart(const Relation& relation, Visit&& visit) {
      for (const Constraint& constraint : relation.constraints)
         visit(constraint.oid);
      for (const Rule& rule : relation.rules)
         visit(rule.oid);
   }
   /// The relation of a database that has a constraint or rule of this OID; null: none has.
   RelationPtr ownerOf(Oid database, Oid part) const {
      const Oid* owner = partOwners.find(std::pair(database, part));
      return owner == nullptr ? nullptr : find<Relation>({ObjectKind::Relation, *owner});
   }
   /// Puts a changed list of OIDs in the place of the table's.
   template <typename Edit>
   void changeHeirs(Oid parent, Edit&& edit) {
      const auto* known = heirs.find(parent);
      std::vector<Oid> oids = known == nullptr ? std::vector<Oid>() : (*known)->oids();
      edit(oids);
      heirs =
          oids.empty() ? heirs.without(parent) : heirs.with(parent, std::make_shared<const HeirGroup>(std::move(oids)));
   }
   template <typename Edit>
   void changeIndexes(Oid table, Edit&& edit) {
      const auto* known = indexes.find(table);
      std::vector<Oid> oids = known == nullptr ? std::vector<Oid>() : **known;
      edit(oids);
      indexes = oids.empty() ? indexes.without(table)
                             : indexes.with(table, std::make_shared<const std::vector<Oid>>(std::move(oids)));
   }
   void put(const ObjectPtr& object) {
      DCHECK(object != nullptr);
      const ObjectKey key = keyOf(*object);
      remove(key);
      objects = objects.with(key, object);
      if (auto name = nameOf(*object)) names = names.with(std::move(*name), object);
      if (const Relation* relation = withRowType(*object))
         rowTypes = rowTypes.with(typeOf(*relation), as<Relation>(object));
      if (object->kind != ObjectKind::Relation) return;
      const auto insert = [&](std::vector<Oid>& oids) {
         oids.insert(std::lower_bound(oids.begin(), oids.end(), key.a), key.a);
      };
      const auto& relation = static_cast<const Relation&>(*object);
      if (relation.relationKind == RelationKind::Range)
         rememberRangeType(relation.rowType, relation.range->partner, relation.columns[0].type);
      for (const Oid parent : relation.parents)
         changeHeirs(parent, insert);
      if (relation.index) changeIndexes(relation.index->table, insert);
      forEachPart(relation,
                  [&](Oid part) { partOwners = partOwners.with(std::pair(relation.database, part), relation.oid); });
      // How heirs number the attributes of a table changes with the table.
      if (heirs.find(key.a) != nullptr) changeHeirs(key.a, [](std::vector<Oid>&) {});
   }
};

Snapshot::Snapshot() : Snapshot(std::make_shared<const State>(), invalidOid) {}
Snapshot::Snapshot(std::shared_ptr<const State> state, Oid database) : state_(std::move(state)), database_(database) {}

uint64_t Snapshot::version() const {
   return state_->version;
}
Snapshot Snapshot::inDatabase(Oid database) const {
   return Snapshot(state_, database);
}

DatabasePtr Snapshot::database(Oid oid) const {
   return state_->find<Database>({ObjectKind::Database, oid});
}
RolePtr Snapshot::role(Oid oid) const {
   return state_->find<Role>({ObjectKind::Role, oid});
}
SchemaPtr Snapshot::schema(Oid oid) const {
   return state_->find<Schema>({ObjectKind::Schema, database_, oid});
}
RelationPtr Snapshot::relation(Oid oid) const {
   if (oid < firstUserOid) return systemRelation(oid);
   RelationPtr found = state_->find<Relation>({ObjectKind::Relation, oid});
   return found && found->database == database_ ? found : nullptr;
}

DatabasePtr Snapshot::findDatabase(std::string_view name) const {
   return state_->findName<Database>(ObjectKind::Database, 0, 0, name);
}
RolePtr Snapshot::findRole(std::string_view name) const {
   return state_->findName<Role>(ObjectKind::Role, 0, 0, name);
}
SchemaPtr Snapshot::findSchema(std::string_view name) const {
   return state_->findName<Schema>(ObjectKind::Schema, database_, 0, name);
}
RelationPtr Snapshot::findRelation(Oid schema, std::string_view name) const {
   if (RelationPtr builtin = findSystemRelation(schema, name)) return builtin;
   return state_->findName<Relation>(ObjectKind::Relation, database_, schema, name);
}

ServerPtr Snapshot::findServer(std::string_view name) const {
   return state_->findName<ForeignServer>(ObjectKind::Server, database_, 0, name);
}
ServerPtr Snapshot::server(Oid oid) const {
   ServerPtr found = state_->find<ForeignServer>({ObjectKind::Server, oid});
   return found && found->database == database_ ? found : nullptr;
}
ForeignWrapperPtr Snapshot::findWrapper(std::string_view name) const {
   if (name == builtinWrapper()->name) return builtinWrapper();
   return state_->findName<ForeignWrapper>(ObjectKind::ForeignWrapper, database_, 0, name);
}
ForeignWrapperPtr Snapshot::wrapper(Oid oid) const {
   if (oid == s3Wrapper) return builtinWrapper();
   ForeignWrapperPtr found = state_->find<ForeignWrapper>({ObjectKind::ForeignWrapper, oid});
   return found && found->database == database_ ? found : nullptr;
}

StatisticsPtr Snapshot::findStatistics(Oid schema, std::string_view name) const {
   return state_->findName<Statistics>(ObjectKind::Statistics, database_, schema, name);
}
StatisticsPtr Snapshot::statistics(Oid oid) const {
   StatisticsPtr found = state_->find<Statistics>({ObjectKind::Statistics, oid});
   return found && found->database == database_ ? found : nullptr;
}

CollationPtr Snapshot::findCollation(Oid schema, std::string_view name) const {
   return state_->findName<Collation>(ObjectKind::Collation, database_, schema, name);
}
CollationPtr Snapshot::collation(Oid oid) const {
   return state_->find<Collation>({ObjectKind::Collation, database_, oid});
}

FunctionPtr Snapshot::findFunction(Oid schema, std::string_view name, std::span<const Oid> inputTypes) const {
   return state_->findName<Function>(ObjectKind::Function, database_, schema, functionKey(name, inputTypes));
}
std::vector<FunctionPtr> Snapshot::findFunctions(Oid schema, std::string_view name) const {
   std::vector<FunctionPtr> found;
   const std::string first = functionKey(name, {});
   state_->names.visitFrom(NameView{ObjectKind::Function, database_, schema, first},
                           [&](const NameKey& key, const ObjectPtr& object) {
                              if (key.kind != ObjectKind::Function || key.database != database_ ||
                                  key.schema != schema || !key.name.starts_with(first))
                                 return false;
                              found.push_back(as<Function>(object));
                              return true;
                           });
   return found;
}
OperatorPtr Snapshot::findOperator(Oid schema, std::string_view name, Oid left, Oid right) const {
   return state_->findName<Operator>(ObjectKind::Operator, database_, schema, operatorKey(name, left, right));
}
std::vector<OperatorPtr> Snapshot::findOperators(Oid schema, std::string_view name) const {
   std::vector<OperatorPtr> found;
   const std::string first = std::string(name) + '\0';
   state_->names.visitFrom(NameView{ObjectKind::Operator, database_, schema, first},
                           [&](const NameKey& key, const ObjectPtr& object) {
                              if (key.kind != ObjectKind::Operator || key.database != database_ ||
                                  key.schema != schema || !key.name.starts_with(first))
                                 return false;
                              found.push_back(as<Operator>(object));
                              return true;
                           });
   return found;
}
OperatorPtr Snapshot::op(Oid oid) const {
   return state_->find<Operator>({ObjectKind::Operator, database_, oid});
}
CastPtr Snapshot::findCast(Oid source, Oid target) const {
   return state_->findName<Cast>(ObjectKind::Cast, database_, 0, operatorKey({}, source, target));
}
CastPtr Snapshot::cast(Oid oid) const {
   return state_->find<Cast>({ObjectKind::Cast, database_, oid});
}
ExtensionPtr Snapshot::findExtension(std::string_view name) const {
   return state_->findName<Extension>(ObjectKind::Extension, database_, 0, name);
}
ExtensionPtr Snapshot::extension(Oid oid) const {
   return state_->find<Extension>({ObjectKind::Extension, database_, oid});
}
bool Snapshot::hasOperators() const {
   return state_->hasAny(ObjectKind::Operator, database_);
}
bool Snapshot::hasCasts() const {
   return state_->hasAny(ObjectKind::Cast, database_);
}

FunctionPtr Snapshot::function(Oid oid) const {
   return state_->find<Function>({ObjectKind::Function, database_, oid});
}

PreparedTransactionPtr Snapshot::findPrepared(std::string_view name) const {
   return state_->findName<PreparedTransaction>(ObjectKind::PreparedTransaction, 0, 0, name);
}
std::vector<PreparedTransactionPtr> Snapshot::preparedTransactions() const {
   return state_->list<PreparedTransaction>(ObjectKind::PreparedTransaction,
                                            [](const PreparedTransaction&) { return true; });
}

std::vector<DatabasePtr> Snapshot::databases() const {
   return state_->list<Database>(ObjectKind::Database, [](const Database&) { return true; });
}
std::vector<RolePtr> Snapshot::roles() const {
   return state_->list<Role>(ObjectKind::Role, [](const Role&) { return true; });
}
std::vector<SchemaPtr> Snapshot::schemas() const {
   return state_->list<Schema>(ObjectKind::Schema, [&](const Schema& s) { return s.database == database_; });
}
std::vector<RelationPtr> Snapshot::relations() const {
   return relationsOfDatabase(database_);
}
std::vector<RelationPtr> Snapshot::relationsOfDatabase(Oid database) const {
   return state_->list<Relation>(ObjectKind::Relation, [&](const Relation& r) { return r.database == database; });
}
std::vector<std::shared_ptr<const Comment>> Snapshot::comments() const {
   return state_->list<Comment>(ObjectKind::Comment,
                                [&](const Comment& c) { return c.object.a == 0 || c.object.a == database_; });
}
std::vector<std::shared_ptr<const Settings>> Snapshot::settings() const {
   return state_->list<Settings>(ObjectKind::Settings, [](const Settings&) { return true; });
}

std::vector<std::shared_ptr<const DefaultAcl>> Snapshot::defaultAcls() const {
   return state_->list<DefaultAcl>(ObjectKind::DefaultAcl,
                                   [&](const DefaultAcl& d) { return d.database == database_; });
}

std::vector<std::shared_ptr<const SystemAcl>> Snapshot::systemAcls() const {
   return state_->list<SystemAcl>(ObjectKind::SystemAcl, [&](const SystemAcl& a) { return a.database == database_; });
}

std::shared_ptr<const SystemAcl> Snapshot::systemAcl(Oid classOid, Oid object) const {
   return state_->find<SystemAcl>({ObjectKind::SystemAcl, database_, classOid, object});
}

std::vector<ServerPtr> Snapshot::servers() const {
   return state_->list<ForeignServer>(ObjectKind::Server,
                                      [&](const ForeignServer& s) { return s.database == database_; });
}

std::vector<ForeignWrapperPtr> Snapshot::wrappers() const {
   return state_->list<ForeignWrapper>(ObjectKind::ForeignWrapper,
                                       [&](const ForeignWrapper& w) { return w.database == database_; });
}

std::vector<StatisticsPtr> Snapshot::allStatistics() const {
   return state_->list<Statistics>(ObjectKind::Statistics,
                                   [&](const Statistics& s) { return s.database == database_; });
}

TextSearchPtr Snapshot::textSearch(ObjectKind kind, Oid oid) const {
   return state_->find<TextSearchObject>({kind, database_, oid});
}
TextSearchPtr Snapshot::findTextSearch(ObjectKind kind, Oid schema, std::string_view name) const {
   return state_->findName<TextSearchObject>(kind, database_, schema, name);
}
std::vector<TextSearchPtr> Snapshot::textSearchObjects(ObjectKind kind) const {
   return state_->list<TextSearchObject>(kind,
                                         [&](const TextSearchObject& object) { return object.database == database_; });
}
std::vector<CollationPtr> Snapshot::collations() const {
   return state_->list<Collation>(ObjectKind::Collation, [&](const Collation& c) { return c.database == database_; });
}

std::vector<OperatorPtr> Snapshot::operators() const {
   return state_->list<Operator>(ObjectKind::Operator, [&](const Operator& op) { return op.database == database_; });
}

std::vector<CastPtr> Snapshot::casts() const {
   return state_->list<Cast>(ObjectKind::Cast, [&](const Cast& cast) { return cast.database == database_; });
}

std::vector<ExtensionPtr> Snapshot::extensions() const {
   return state_->list<Extension>(ObjectKind::Extension,
                                  [&](const Extension& extension) { return extension.database == database_; });
}

LargeObjectPtr Snapshot::largeObject(Oid oid) const {
   return state_->find<LargeObject>({ObjectKind::LargeObject, database_, oid});
}

StorageId Snapshot::largeObjectPages() const {
   const auto pages = state_->find<LargeObjectPages>({ObjectKind::LargeObjectPages, database_});
   return pages ? pages->storage : noStorage;
}

std::vector<LargeObjectPtr> Snapshot::largeObjects() const {
   std::vector<LargeObjectPtr> result;
   state_->objects.visitFrom(ObjectKey{ObjectKind::LargeObject, database_},
                             [&](const ObjectKey& key, const ObjectPtr& object) {
                                if (key.kind != ObjectKind::LargeObject || key.a != database_) return false;
                                result.push_back(as<LargeObject>(object));
                                return true;
                             });
   return result;
}

std::vector<FunctionPtr> Snapshot::functions() const {
   return state_->list<Function>(ObjectKind::Function, [&](const Function& f) { return f.database == database_; });
}

std::vector<StatisticsPtr> Snapshot::statisticsOf(Oid table) const {
   return state_->list<Statistics>(ObjectKind::Statistics, [&](const Statistics& s) { return s.table == table; });
}

RelationPtr Snapshot::relationOfType(Oid type) const {
   if (type < firstUserOid) {
      const TypeInfo* info = builtins().type(type);
      if (info != nullptr && info->element != invalidOid && info->isArray()) info = builtins().type(info->element);
      return info != nullptr && info->relation != invalidOid ? systemRelation(info->relation) : nullptr;
   }
   const RelationPtr* found = state_->rowTypes.find(TypeKey{database_, type & ~userArrayBit});
   return found != nullptr ? *found : nullptr;
}

std::pair<RelationPtr, const Constraint*> Snapshot::constraint(Oid oid) const {
   if (RelationPtr owner = state_->ownerOf(database_, oid))
      for (const Constraint& constraint : owner->constraints)
         if (constraint.oid == oid) return {owner, &constraint};
   return {nullptr, nullptr};
}

std::shared_ptr<const HeirList> Snapshot::heirs(Oid table) const {
   const auto* group = state_->heirs.find(table);
   const RelationPtr relation = group == nullptr ? nullptr : this->relation(table);
   if (!relation) return nullptr;
   return (*group)->list(*relation, *this);
}

std::vector<Oid> Snapshot::heirOids(Oid table) const {
   const auto* group = state_->heirs.find(table);
   return group == nullptr ? std::vector<Oid>() : (*group)->oids();
}

std::vector<Oid> Snapshot::allHeirOids(Oid table) const {
   std::vector<Oid> all = heirOids(table);
   std::set<Oid> seen(all.begin(), all.end());
   for (size_t i = 0; i < all.size(); ++i)
      for (const Oid below : heirOids(all[i]))
         if (seen.insert(below).second) all.push_back(below);
   return all;
}

Snapshot::Counts Snapshot::counts() const {
   return {state_->rowTypes.size(), state_->heirs.size(), state_->indexes.size()};
}

std::vector<RelationPtr> Snapshot::indexesOf(Oid table) const {
   std::vector<RelationPtr> indexes;
   if (const auto* oids = state_->indexes.find(table))
      for (const Oid oid : **oids)
         if (RelationPtr index = state_->find<Relation>({ObjectKind::Relation, oid})) indexes.push_back(index);
   return indexes;
}

bool Snapshot::hasIndexes(Oid table) const {
   return state_->indexes.find(table) != nullptr;
}

std::vector<RelationPtr> Snapshot::dependentsOf(Oid relation) const {
   return state_->list<Relation>(ObjectKind::Relation, [&](const Relation& r) {
      for (const Dependency& dependency : r.dependsOn)
         if (dependency.relation == relation) return true;
      return false;
   });
}

std::vector<RelationPtr> Snapshot::withPoliciesReading(Oid relation) const {
   return state_->list<Relation>(ObjectKind::Relation, [&](const Relation& r) {
      return r.oid != relation && std::any_of(r.policies.begin(), r.policies.end(),
                                              [&](const Policy& policy) { return policy.reads(relation, 0); });
   });
}

std::vector<RelationPtr> Snapshot::withRulesUsing(Oid relation) const {
   return state_->list<Relation>(ObjectKind::Relation, [&](const Relation& r) {
      return std::any_of(r.rules.begin(), r.rules.end(),
                         [&](const Rule& rule) { return r.oid == relation || rule.reads(relation, 0); });
   });
}

std::pair<RelationPtr, const Rule*> Snapshot::rule(Oid oid) const {
   if (const RelationPtr owner = state_->ownerOf(database_, oid))
      for (const Rule& rule : owner->rules)
         if (rule.oid == oid) return {owner, &rule};
   return {nullptr, nullptr};
}

std::optional<std::string> Snapshot::comment(Oid classOid, Oid object, int32_t attribute) const {
   const bool isShared = classOid == class_oid::pgAuthid || classOid == class_oid::pgDatabase;
   const ObjectKey key{ObjectKind::Comment, isShared ? invalidOid : database_, classOid, object, attribute};
   if (const auto found = state_->find<Comment>(key)) return found->text;
   if (const auto text = builtinComment(classOid, object, attribute)) return std::string(*text);
   return std::nullopt;
}

std::vector<std::pair<std::string, std::string>> Snapshot::settingsFor(Oid database, Oid role) const {
   const auto found = state_->find<Settings>({ObjectKind::Settings, database, role});
   return found ? found->values : std::vector<std::pair<std::string, std::string>>();
}

ObjectPtr Snapshot::object(const ObjectKey& key) const {
   return state_->find<CatalogObject>(key);
}

std::vector<ObjectPtr> Snapshot::allObjects() const {
   std::vector<ObjectPtr> all;
   state_->objects.forEach([&](const ObjectKey&, const ObjectPtr& object) { all.push_back(object); });
   return all;
}

Snapshot Snapshot::apply(std::span<const Change> changes) const {
   if (changes.empty()) return *this;
   auto next = std::make_shared<State>(*state_);
   next->version = nextVersion();
   DCHECK(next->version > state_->version);
   // Removals come first: a transaction may drop an object and give its name to a new object.
   for (const Change& change : changes)
      if (!change.after) next->remove(change.key);
   for (const Change& change : changes)
      if (change.after) next->put(change.after);
   return Snapshot(std::move(next), database_);
}

Snapshot Snapshot::bootstrap() {
   std::vector<Change> changes;
   const auto add = [&](ObjectPtr object) { changes.push_back({keyOf(*object), nullptr, object}); };
   const TextTable& authid = *builtins().rows("pg_authid");
   for (uint32_t row = 0; row < authid.rowCount(); ++row) {
      const auto text = [&](std::string_view column) { return *authid.at(row, authid.column(column)); };
      auto role = std::make_shared<Role>();
      role->oid = static_cast<Oid>(std::stoul(std::string(text("oid"))));
      role->name = text("rolname");
      role->isSuperuser = text("rolsuper") == "t";
      role->inherits = text("rolinherit") == "t";
      role->createsRoles = text("rolcreaterole") == "t";
      role->createsDatabases = text("rolcreatedb") == "t";
      role->canLogin = text("rolcanlogin") == "t";
      role->canReplicate = text("rolreplication") == "t";
      role->bypassesRls = text("rolbypassrls") == "t";
      role->memberOf = predefinedMemberships(role->oid);
      add(role);
   }
   const std::vector<Change> databases = initialDatabases();
   changes.insert(changes.end(), databases.begin(), databases.end());
   return Snapshot().apply(changes).inDatabase(postgresDatabase);
}

} // namespace ouzel::catalog
