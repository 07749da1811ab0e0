#pragma once
#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "engine/definition/definition.hpp"
#include "engine/definition/rewrite_rows.hpp"

struct AlterTableCmd;
struct List;

namespace ouzel::engine {

/// The sub-commands of one ALTER TABLE, which run in PostgreSQL's order rather than as they are written: what is
/// dropped goes first, then types change, then columns and constraints come. USING reads the table as it was before.
///
/// One object per statement: add() each sub-command, then run().
class TableAlteration {
public:
   /// `isHeir`: the statement names a table from which this one inherits.
   TableAlteration(CommandContext& context, Oid relation, bool isHeir = false);

   void add(const ::AlterTableCmd& command);
   void run();

private:
   enum Pass : uint8_t { Drop, AlterType, AddColumn, ColumnAttributes, AddIndex, AddOther, Misc, passCount };
   void enqueue(Pass pass, std::function<void()> step) { steps_[pass].push_back(std::move(step)); }

   catalog::RelationPtr table() const { return editor_.snapshot().relation(oid_); }
   catalog::DropBehavior behaviorOf(const ::AlterTableCmd& command) const;

   // alter_table.cpp
   void dropColumn(const ::AlterTableCmd& command);
   /// `number`: of this SET DEFAULT among those of the statement, from 0.
   void setDefault(const ::AlterTableCmd& command, size_t number);
   void setNotNull(const ::AlterTableCmd& command, bool notNull);
   void addConstraint(const ::Constraint& constraint);
   /// `hasNulls`: the columns of a primary key hold NULLs.
   void addUniqueKey(catalog::Constraint key, const ::Constraint& definition, bool hasNulls = false);
   void requireNoPrimaryKey() const;
   /// ADD CONSTRAINT ... USING INDEX.
   void adoptIndex(const ::Constraint& constraint);
   void alterConstraint(const ::AlterTableCmd& command);
   void dropConstraint(const ::AlterTableCmd& command);
   bool hasNulls(const std::string& column);
   void rejectNulls(const std::string& column);
   [[noreturn]] void throwContainsNulls(const std::string& column) const;
   /// Whether a generated column is computed from another.
   bool reads(const catalog::Relation& relation, const catalog::Column& generated, int16_t attribute);
   void dropGeneratedFrom(const catalog::Relation& relation, const catalog::Column& dropped,
                          catalog::DropBehavior behavior);

   // add_column.cpp
   struct AddedColumn {
      catalog::Column column;
      std::optional<Value> missing;          ///< what rows that are there now have in it; none: NULL
      std::string value;                     ///< SQL for each row that is there now; empty: `missing`
      std::vector<::Constraint> constraints; ///< to be added when the column is there
      bool isNullable = false;               ///< NULL was given
   };
   void addColumn(const ::AlterTableCmd& command);
   /// `limit`: where the constraint's text ends.
   void addColumnConstraint(AddedColumn& added, const ::Constraint& constraint, size_t limit);
   void drawAsParent(AddedColumn& added);
   void drawFromSequence(AddedColumn& added, Oid type, const ::List* options);
   /// Adds the column without touching rows.
   void appendColumn(const AddedColumn& added);
   /// Adds the column and computes its value for each row.
   void insertColumn(const AddedColumn& added);
   void addKey(const ::Constraint& constraint, int16_t attribute);

   // alter_type.cpp
   struct TypeChange {
      std::string column;
      int16_t attribute;
      SqlType before, after;
      int16_t dimensions; ///< pg_attribute.attndims
      bool hasUsing;
   };
   void prepareType(const ::AlterTableCmd& command);
   void changeType(const TypeChange& change);
   void bindChecksAnew(const catalog::Relation& before, catalog::Relation& after, int16_t attribute);
   void checkConstraintsOf(int16_t attribute);
   bool isAssignable(const catalog::Column& column, const SqlType& type);

   CommandContext& context_;
   SessionCore& core_;
   catalog::CatalogEditor& editor_;
   const Oid oid_;
   std::array<std::vector<std::function<void()>>, passCount> steps_;
   size_t defaults_ = 0; ///< SET DEFAULT sub-commands so far
   std::vector<TypeChange> typeChanges_;
   std::vector<NewValue> converted_; ///< of the columns whose types change
   bool changesColumns_ = false;     ///< adds or drops some
   const bool isHeir_;
};

} // namespace ouzel::engine
