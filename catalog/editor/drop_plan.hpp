#pragma once
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "catalog/editor/editor.hpp"
#include "catalog/object/cast.hpp"
#include "catalog/object/collation.hpp"
#include "catalog/object/extension.hpp"
#include "catalog/object/foreign/foreign_wrapper.hpp"
#include "catalog/object/function.hpp"
#include "catalog/object/operator.hpp"
#include "catalog/object/statistics.hpp"

namespace ouzel::catalog {

/// The objects that one DROP removes: the named objects, and all relations, constraints and defaults that depend on a
/// removed object, each with the reason. Steps: add..., close(), refuse() for RESTRICT, execute().
class DropPlan {
public:
   explicit DropPlan(CatalogEditor& editor) : editor_(editor) {}

   void addTarget(const RelationPtr& relation) { add(relation, false, false, {}); }
   void addCascaded(const RelationPtr& relation, const std::string& reason) { add(relation, true, false, reason); }
   void addInternal(const RelationPtr& relation) { add(relation, false, true, {}); }
   void addCascaded(const StatisticsPtr& statistics, const std::string& reason) {
      statistics_.emplace_back(statistics, reason);
   }
   void addTarget(const CollationPtr& collation) { add(collation, false, {}); }
   void addCascaded(const CollationPtr& collation, const std::string& reason) { add(collation, true, reason); }
   void addTarget(const TextSearchPtr& object) { add(object, false, {}); }
   void addCascaded(const TextSearchPtr& object, const std::string& reason) { add(object, true, reason); }
   void addTarget(const FunctionPtr& function) { add(function, false, {}); }
   void addTarget(const Language& language);
   void addCascaded(const FunctionPtr& function, const std::string& reason) { add(function, true, reason); }
   void addTarget(const OperatorPtr& op) { add(op, false, {}); }
   void addCascaded(const OperatorPtr& op, const std::string& reason) { add(op, true, reason); }
   void addTarget(const CastPtr& cast) { add(cast, false, {}); }
   void addTarget(const ExtensionPtr& extension) { add(extension, false, {}); }
   void addCascaded(const ExtensionPtr& extension, const std::string& reason) { add(extension, true, reason); }
   void addTarget(const ForeignWrapperPtr& wrapper) { add(wrapper, false, {}); }
   void addCascaded(const ForeignWrapperPtr& wrapper, const std::string& reason) { add(wrapper, true, reason); }
   void addTarget(const ServerPtr& server) { add(server, false, {}); }
   /// Adds the dependents of all added objects until no further object is added.
   void close();
   /// Adds what partitions have of a foreign key that is dropped from the partitioned table.
   void addForeignKeyParts(const Constraint& constraint) { addPartsOfConstraint(constraint.oid); }
   /// Adds the objects that depend on the column that the statement drops, of a table that stays.
   void addColumn(const RelationPtr& relation, int16_t attribute);

   /// Throws 2BP01 if an extension requires an object that falls, but stays itself.
   void requireNoMembers() const;
   /// Throws 2BP01 if the DROP would remove an object that the statement does not name. `what`: what it names; empty:
   /// several objects.
   void refuse(const std::string& what) const;
   Dropped execute();
   /// Publications lose a schema that falls, without a word.
   static void dropPublishedSchema(CatalogEditor& editor, Oid schema);
   std::string describe(const Relation& relation) const;
   std::string describe(const Statistics& statistics) const {
      return "statistics object " + displayName(editor_.snapshot(), editor_.searchPath_, statistics);
   }
   std::string describe(const Collation& collation) const {
      return "collation " + displayName(editor_.snapshot(), editor_.searchPath_, collation);
   }
   std::string describe(const TextSearchObject& object) const;
   std::string describe(const Function& function) const;
   std::string describe(const Operator& op) const;
   std::string describe(const Cast& cast) const;
   static std::string describe(const Extension& extension) { return "extension " + extension.name; }
   static std::string describe(const ForeignWrapper& wrapper) { return "foreign-data wrapper " + wrapper.name; }
   static std::string describe(const ForeignServer& server) { return "server " + server.name; }
   /// What an index or sequence is a part of and falls with, as error messages name it; empty: nothing.
   std::string requiredBy(const Relation& relation) const;

private:
   struct Fallen {
      RelationPtr relation;
      bool isCascaded, isInternal;
      std::string reason; ///< the object that it depends on: "table t"
      bool isFollowed = false;
   };
   struct FallenPart { ///< a constraint, default, column or policy of a relation that stays
      Oid relation;
      std::string constraint;
      int16_t defaultOf = 0;
      std::string description, reason;
      int16_t column = 0;
      std::string policy{};
      bool isInternal = false; ///< falls without a word, with the constraint of the parent that it is a part of
      std::string rule{}, trigger{};
   };

   void add(const RelationPtr& relation, bool isCascaded, bool isInternal, const std::string& reason);
   void add(const CollationPtr& collation, bool isCascaded, const std::string& reason);
   // editor_text_search.cpp
   void add(const TextSearchPtr& object, bool isCascaded, const std::string& reason);
   void follow(const TextSearchObject& object);
   void add(const FunctionPtr& function, bool isCascaded, const std::string& reason);
   void add(const OperatorPtr& op, bool isCascaded, const std::string& reason);
   void add(const CastPtr& cast, bool isCascaded, const std::string& reason);
   /// The extension, and its members, which fall without a word.
   void add(const ExtensionPtr& extension, bool isCascaded, const std::string& reason);
   // drop_collation.cpp
   /// Adds what needs a collation.
   void follow(const Collation& collation);
   void addDependentOf(const Collation& collation, const RelationPtr& relation, const std::string& reason);
   void addIndex(const RelationPtr& index, const std::string& reason);
   /// Whether a text of the catalog names what falls.
   using Names = std::function<bool(const std::string& text)>;
   /// Adds the defaults, constraints, policies and rules of a relation whose texts name it.
   void addTextsNaming(const Names& names, const Relation& relation, const std::string& reason);
   // drop_function.cpp
   /// Adds what calls a function.
   void follow(const Function& function);
   /// Adds the triggers for which `needs` is true.
   using NeedsOfTrigger = std::function<bool(const Relation& table, const Trigger& trigger)>;
   void addTriggers(const NeedsOfTrigger& needs, const std::string& reason);
   // drop_publication.cpp
   /// Adds what publications have of a table, if its column list or filter needs the column.
   void addPublished(const Relation& table, int16_t attribute, const std::string& reason);
   /// Publications lose these, and without a word the tables that fall.
   void dropPublished(Dropped& dropped);
   // drop_function.cpp
   void addEventTriggers(Oid function, const std::string& reason);
   void dropEventTriggers(Dropped& dropped);
   void dropLanguages(Dropped& dropped);
   /// Adds what has a text that calls a function or an operator.
   void followTexts(Oid oid, const std::string& reason);
   void addCallers(const Names& names, const RelationPtr& relation, const std::string& reason);
   /// A type that falls, and its array; a shell type has none.
   struct FallenType {
      Oid type, array;
      bool is(const SqlType& other) const {
         return other.named() == type || (array != invalidOid && other.named() == array);
      }
   };
   /// Adds the functions whose bodies read or write a relation (attribute 0) or a column.
   void addFunctionsReading(const Dependency& needed, const std::string& reason);
   /// Adds the functions that have the type.
   void addFunctionsOfType(const FallenType& type, const std::string& reason);
   // drop_operator.cpp
   void follow(const Operator& op);
   /// Adds the operators and casts that have the type, or that call the function.
   void addOperatorsOfType(const FallenType& type, const std::string& reason);
   void addOperatorsCalling(Oid function, const std::string& reason);
   // drop_foreign.cpp
   struct FallenForeign;
   void add(const ForeignWrapperPtr& wrapper, bool isCascaded, const std::string& reason);
   /// The server, and its user mappings.
   void add(const ServerPtr& server, bool isCascaded, const std::string& reason);
   /// Adds the servers of a wrapper, or the foreign tables of a server.
   void follow(const FallenForeign& fallen);
   void addWrappersCalling(Oid function, const std::string& reason);
   void dropForeign(Dropped& dropped);
   /// What falls with what the statement names, each with the object that it depends on.
   struct Line {
      std::string description, reason;
   };
   std::vector<Line> cascadedLines() const;
   /// With foreign data, in PostgreSQL's order: behind each object what depends on it.
   std::vector<Line> inTreeOrder(std::vector<Line> lines) const;
   /// Adds what partitions have as parts of a constraint or index of a partitioned table.
   void addPartsOfConstraint(Oid constraint);
   void addPartsOfIndex(Oid index);
   /// Adds the foreign keys for which `needs` is true.
   template <typename Needs>
   void addForeignKeys(const Needs& needs, const std::string& reason);
   /// The same of rules.
   void addRules(Oid relation, int16_t attribute, const std::string& reason);
   /// Adds the policies of other tables, and of the table whose column falls, that read a relation or column.
   void addPolicies(Oid relation, int16_t attribute, const std::string& reason);
   void follow(size_t i);
   /// Adds the columns of other relations that have the relation's row type, or a type of an extension.
   void addColumnsOfType(const Relation& relation);
   void addColumnsOfType(const FallenType& type, Oid relation, const std::string& reason);
   void addDependentsOfColumn(const RelationPtr& relation, int16_t attribute, const std::string& reason);
   bool has(Oid relation) const {
      return std::any_of(fallen_.begin(), fallen_.end(), [&](const Fallen& f) { return f.relation->oid == relation; });
   }

   CatalogEditor& editor_;
   std::vector<Fallen> fallen_;
   std::vector<FallenPart> parts_;
   /// Of a schema that falls, each with the reason; those of tables that fall go with the table, without a word.
   std::vector<std::pair<StatisticsPtr, std::string>> statistics_;
   struct FallenCollation {
      CollationPtr collation;
      bool isCascaded;
      std::string reason;
   };
   std::vector<FallenCollation> collations_;
   struct FallenTextSearch {
      TextSearchPtr object;
      bool isCascaded;
      std::string reason;
   };
   std::vector<FallenTextSearch> textSearch_;
   std::vector<std::pair<EventTrigger, std::string>> eventTriggers_; ///< each with the reason
   std::vector<Language> languages_;                                 ///< that the statement names
   struct FallenPublished {
      PublicationTable published;
      std::string description, reason;
   };
   std::vector<FallenPublished> published_;
   struct FallenFunction {
      FunctionPtr function;
      bool isCascaded;
      std::string reason;
      bool isFollowed = false;
   };
   std::vector<FallenFunction> functions_;
   struct FallenOperator {
      OperatorPtr op;
      bool isCascaded;
      std::string reason;
      bool isFollowed = false;
   };
   std::vector<FallenOperator> operators_;
   struct FallenCast {
      CastPtr cast;
      bool isCascaded;
      std::string reason;
   };
   std::vector<FallenCast> casts_;
   struct FallenExtension {
      ExtensionPtr extension;
      bool isCascaded;
      std::string reason;
   };
   std::vector<FallenExtension> extensions_;
   struct FallenForeign { ///< a wrapper, a server, or the mapping of a server that falls
      ForeignWrapperPtr wrapper;
      ServerPtr server;
      std::string description, reason;
      bool isCascaded;
      bool isFollowed = false;
   };
   std::vector<FallenForeign> foreign_;
   // The column of addColumn(); its default and constraints over it fall with it, without a word.
   Oid columnOwner_ = invalidOid;
   int16_t column_ = 0;
};

/// Leaves the place of the column, and takes its constraints with it.
void dropColumnOf(Relation& relation, int16_t attribute);

} // namespace ouzel::catalog
