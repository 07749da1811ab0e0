#pragma once
#include <map>
#include <vector>

#include "catalog/editor/editor.hpp"

namespace ouzel::catalog {

/// Copies of what one database has, for another one. Relations, constraints, servers, ... get OIDs of their own, for an
/// OID is unique in the cluster. Schemas, types and collations keep theirs, which are unique in a database only:
/// values have OIDs of types in them, and columns those of collations.
class DatabaseCopy {
public:
   /// Gives OIDs to the copies of everything that the database has from which `source` is seen.
   DatabaseCopy(const Snapshot& source, Oid target, const OidSource& oids);

   /// The copies, those of relations after `complete` has seen them.
   std::vector<ObjectPtr> make(const CompleteCopy& complete);
   /// The publications, of the copied tables.
   std::vector<Publication> copied(std::vector<Publication> publications) const;

private:
   void number(Oid oid);
   void number(const Relation& relation);
   Oid copied(Oid oid) const; ///< the copy's OID; `oid` itself for what is not copied
   std::string copied(const std::string& sql) const;
   void renumber(std::vector<Dependency>& reads) const;
   void renumber(Column& column) const;
   void renumber(Constraint& constraint) const;
   void renumber(Policy& policy) const;
   void renumber(Rule& rule) const;
   void renumber(Trigger& trigger) const;
   void renumber(IndexDefinition& index) const;
   std::shared_ptr<Relation> copy(const Relation& relation) const;

   const Snapshot source_;
   const Oid target_;
   const OidSource& oids_;
   std::map<Oid, Oid> copies_; ///< by the OID of the original
};

} // namespace ouzel::catalog
