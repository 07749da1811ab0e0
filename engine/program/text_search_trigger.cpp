#include "engine/program/text_search_trigger.hpp"

#include "catalog/object/text_search/text_search.hpp"
#include "common/base_type/ts_vector.hpp"
#include "common/error/sql_error.hpp"
#include "common/type/row.hpp"
#include "executor/function/text_search/ts_analyzer.hpp"

namespace ouzel::engine {

namespace {

constexpr std::string_view byName = "tsvector_update_trigger", byColumn = "tsvector_update_trigger_column";

[[noreturn]] void refuse(const char* problem) {
   throw SqlError(sqlstate::internalError, std::string("tsvector_update_trigger: ") + problem);
}

/// Where a column's field stands in the records of a table's live columns; none: there is no such column.
std::optional<uint32_t> fieldOf(const catalog::Relation& table, std::string_view name) {
   uint32_t field = 0;
   for (const catalog::Column& column : table.columns) {
      if (column.isDropped) continue;
      if (column.name == name) return field;
      ++field;
   }
   return std::nullopt;
}

class VectorUpdate {
public:
   VectorUpdate(SessionCore& core, const TriggerCall& call)
      : core_(core), call_(call), args_(call.trigger.arguments), new_(*call.newRow) {}

   std::string run(bool isByColumn) {
      const uint32_t target = requireField(args_[0], "tsvector column \"", oid::tsvector, "tsvector");
      executor::TsAnalyzer analyzer;
      analyzer.use(core_.functionContext(), isByColumn ? configurationOfRow() : configurationNamed());
      bool isNeeded = !call_.oldRow;
      for (size_t i = 2; i < args_.size(); ++i) {
         const uint32_t field = requireField(args_[i], "column \"", oid::text, "a character");
         const Value text = valueOfField(new_.field(field));
         isNeeded = isNeeded || hasChanged(field, text);
         if (!text.isNull) analyzer.add(text.bytes);
      }
      return isNeeded ? withVector(target, analyzer.vector()) : std::string(*call_.newRow);
   }

private:
   /// The field of a column. Throws 42703, or 42804 for a column of another type.
   uint32_t requireField(const std::string& name, const char* prefix, Oid type, const char* typeName) {
      const auto field = fieldOf(call_.table, name);
      if (!field) throw SqlError(sqlstate::undefinedColumn, prefix + name + "\" does not exist");
      const Oid has = typeOf(*field);
      const bool isText = type == oid::text && (has == oid::varchar || has == oid::bpchar);
      if (has != type && !isText)
         throw SqlError(sqlstate::datatypeMismatch, "column \"" + name + "\" is not of " + typeName + " type");
      return *field;
   }
   Oid typeOf(uint32_t field) const {
      for (const catalog::Column& column : call_.table.columns)
         if (!column.isDropped && field-- == 0) return column.type.oid;
      return invalidOid;
   }

   Oid configurationNamed() {
      const std::string& name = args_[1];
      const auto parts = catalog::parseQualifiedName(name);
      if (parts.size() < 2)
         throw SqlError(sqlstate::invalidParameterValue,
                        "text search configuration name \"" + name + "\" must be schema-qualified");
      return catalog::requireTextSearch(core_.transaction.catalog(), core_.searchPath(),
                                        catalog::ObjectKind::TextSearchConfiguration, catalog::toQualifiedName(parts))
          ->oid;
   }
   Oid configurationOfRow() {
      const uint32_t field = requireField(args_[1], "configuration column \"", oid::regconfig, "regconfig");
      const Value value = valueOfField(new_.field(field));
      if (value.isNull)
         throw SqlError(sqlstate::nullValueNotAllowed, "configuration column \"" + args_[1] + "\" must not be null");
      return static_cast<Oid>(value.i64);
   }

   bool hasChanged(uint32_t field, const Value& now) const {
      if (!call_.oldRow) return true;
      const Value before = valueOfField(RowView(*call_.oldRow).field(field));
      return before.isNull != now.isNull || before.bytes != now.bytes;
   }
   std::string withVector(uint32_t target, std::string_view vector) const {
      const StringView value(vector);
      std::vector<RowView::Field> fields;
      for (RowView::Cursor field(new_); field.next();)
         fields.push_back(*field);
      std::vector<RowPart> parts;
      std::vector<std::string> names;
      for (size_t i = 0; i < fields.size(); ++i) {
         const RowView::Field& field = fields[i];
         if (i == target)
            parts.push_back({oid::tsvector, PhysicalType::String, &value});
         else
            parts.push_back({field.type, field.physical, field.isNull ? nullptr : field.value});
         if (new_.hasNames()) names.emplace_back(field.name);
      }
      std::string row;
      appendRow(row, new_.type(), parts, names);
      return row;
   }

   SessionCore& core_;
   const TriggerCall& call_;
   const std::vector<std::string>& args_;
   const RowView new_;
};

} // namespace

bool isTextSearchTrigger(std::string_view name) {
   return name == byName || name == byColumn;
}

std::optional<std::string> runTextSearchTrigger(SessionCore& core, std::string_view name, const TriggerCall& call) {
   if (!call.trigger.has(catalog::trigger_bit::row)) refuse("must be fired for row");
   if (!call.trigger.has(catalog::trigger_bit::before)) refuse("must be fired BEFORE event");
   if (call.event != catalog::trigger_bit::insert && call.event != catalog::trigger_bit::update)
      refuse("must be fired for INSERT or UPDATE");
   if (call.trigger.arguments.size() < 3) refuse("arguments must be tsvector_field, ts_config, text_field1, ...)");
   return VectorUpdate(core, call).run(name == byColumn);
}

} // namespace ouzel::engine
