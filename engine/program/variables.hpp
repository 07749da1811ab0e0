#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/core/session_core.hpp"
#include "sql/bind/state/variable_names.hpp"
#include "sql/program/program.hpp"

// The values of a program's variables while it runs.

namespace ouzel::engine {

/// A value with its type. A numeric is a Decimal, as rows have it (common/type/row.hpp).
struct TypedValue {
   SqlType type;
   Value value = Value::null(PhysicalType::String);
};

/// A row of a record variable.
struct RecordValue {
   struct Field {
      std::string name;
      TypedValue value;
   };
   bool isAssigned = false; ///< false: a variable of type record that nothing was put into yet
   std::vector<Field> fields;
   Oid rowType = invalidOid; ///< of a row with a named type, in a variable of type record

   const Field* find(std::string_view name) const;
   Field* find(std::string_view name);
};

/// What a Parameter of a compiled text stands for: a variable, or a field of a record.
struct ParameterSource {
   static constexpr uint32_t noField = ~uint32_t{0};
   /// Not for a value: the text was compiled for a record that is assigned, or for one that is not.
   static constexpr uint32_t assigned = noField - 1, unassigned = noField - 2;

   sql::program::VariableId variable = sql::program::noVariable;
   uint32_t field = noField; ///< of the record that the variable is
   SqlType type;             ///< of a record as a whole: RecordValue::rowType
   uint32_t fieldCount = 0;  ///< of the record when the text was compiled
   std::string fieldName{};
};

/// One frame of variables: those of one call. The names of SQL texts find their values here, or Parameters that stand
/// for them while a text is compiled.
class Variables final : public sql::VariableNames {
public:
   Variables(SessionCore& core, const sql::program::Program& program);

   const sql::program::Program& program() const { return program_; }
   /// While it is set, names become Parameters, each of which adds what it stands for.
   void setSources(std::vector<ParameterSource>* sources) { sources_ = sources; }
   /// The value of a Parameter. REQUIRES: has(source).
   const TypedValue& at(const ParameterSource& source) const {
      if (source.field == ParameterSource::noField) [[likely]]
         return scalars_[source.variable];
      if (source.field >= ParameterSource::unassigned) return nothing_;
      return records_[source.variable].fields[source.field].value;
   }
   /// Whether the variable is still of the type, or the record still has the field.
   bool has(const ParameterSource& source) const;
   /// Puts a value of the variable's type, which is of fixed size, in it.
   void setScalar(sql::program::VariableId id, PhysicalType physical, int64_t bits) {
      Value& value = scalars_[id].value;
      value.type = physical;
      value.isNull = false;
      value.i64 = bits;
   }
   /// Puts a value of the field's type in it.
   void setField(sql::program::VariableId id, uint32_t field, TypedValue value) {
      records_[id].fields[field].value = std::move(value);
   }
   /// The value in place, to be changed.
   Value& scalarValue(sql::program::VariableId id) { return scalars_[id].value; }
   const TypedValue& scalar(sql::program::VariableId id) const { return scalars_[id]; }
   const RecordValue& record(sql::program::VariableId id) const { return records_[id]; }
   bool isRecord(sql::program::VariableId id) const;
   /// The type that a value for the variable is cast to; none: the variable takes any type.
   std::optional<SqlType> typeOf(sql::program::VariableId id) const;
   /// Puts a value of the variable's type in it. Throws 22004 for NULL in a NOT NULL variable.
   void set(sql::program::VariableId id, TypedValue value);
   /// The row becomes the record variable's; one of a named row type keeps its fields. Throws 42804 if they do not fit.
   void setRecord(sql::program::VariableId id, RecordValue value);
   /// The record variable is NULL as a whole, and has fields that are NULL: OLD and NEW of an event without such a row.
   void setNoRecord(sql::program::VariableId id, std::vector<RecordValue::Field> fields, Oid rowType);
   /// NULL, or the fields of the variable's row type with NULLs.
   void clear(sql::program::VariableId id);
   /// The fields of a record variable's row type; empty: it is of type record.
   std::vector<RecordValue::Field> fieldsOf(sql::program::VariableId id) const;

   /// Names are looked up from here on as this text sees them.
   void enter(sql::program::NameId scope);
   /// A variable, or a field of a record, as its name would be bound.
   sql::ExprPtr named(sql::program::VariableId id, uint32_t field) const {
      return expressionOf(id, field,
                          field == ParameterSource::noField ? scalars_[id] : records_[id].fields[field].value);
   }
   // VariableNames
   sql::FoundVariable find(std::span<const std::string> names) const override;
   sql::ExprPtr positional(uint32_t number) const override;

private:
   sql::ExprPtr valueOf(sql::program::VariableId id) const;
   sql::ExprPtr expressionOf(sql::program::VariableId id, uint32_t field, const TypedValue& value) const;

   SessionCore& core_;
   const sql::program::Program& program_;
   std::vector<TypedValue> scalars_;
   std::vector<RecordValue> records_;
   TypedValue nothing_; ///< in the place of what is not for a value
   sql::program::NameId scope_ = sql::program::noName;
   std::vector<ParameterSource>* sources_ = nullptr;
   uint64_t conflictVersion_ = ~uint64_t{0}; ///< of the settings by which `conflict` was set
};

/// Sets what TG_... tell of the call of a trigger function (machine_trigger.cpp).
void setTriggerVariables(SessionCore& core, const sql::program::Program& program, const TriggerCall& call,
                         Variables& variables);

} // namespace ouzel::engine
