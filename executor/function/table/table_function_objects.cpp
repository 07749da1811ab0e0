#include "catalog/pg_catalog/object_address.hpp"
#include "catalog/pg_catalog/object_identity.hpp"
#include "common/type/array.hpp"
#include "executor/function/name_scope.hpp"
#include "executor/function/table/table_function_rows.hpp"

// pg_get_object_address(), pg_identify_object() and pg_identify_object_as_address().

namespace ouzel::executor {

namespace {

/// A function of one row, which is NULL in all columns if an argument is.
class OneRow : public TableFunction {
public:
   OneRow(std::vector<Representation> columns, FunctionContext& context, Reservation& memory)
      : columnCount_(columns.size()), context_(context), out_(std::move(columns), memory) {}

   void begin(std::span<const Vector> args, uint32_t row) override {
      const RowCall call{args, row};
      out_.clear();
      isDone_ = false;
      if (call.isNull(0) || call.isNull(1) || call.isNull(2)) {
         for (size_t i = 0; i < columnCount_; ++i)
            out_.addNull();
         return;
      }
      const NameScope scope(context_);
      fill(call, scope.names(), out_);
   }
   uint32_t next(uint32_t rowsMax, std::span<Vector> columns) override {
      out_.give(columns);
      return rowsMax == 0 || std::exchange(isDone_, true) ? 0 : 1;
   }

protected:
   virtual void fill(const RowCall& call, const catalog::NameContext& names, RowWriter& out) const = 0;
   static void addText(RowWriter& out, const std::string& text) {
      const StringView kept = out.strings().copyString(text);
      out.add(PhysicalType::String, &kept);
   }
   static Oid oidAt(const RowCall& call, size_t i) {
      return static_cast<Oid>(Value::fromVector(call.args[i], call.row).i64);
   }

private:
   const size_t columnCount_;
   FunctionContext& context_;
   RowWriter out_;
   bool isDone_ = true;
};

class ObjectRow final : public OneRow {
public:
   ObjectRow(std::vector<Representation> columns, FunctionContext& context, Reservation& memory, bool asAddress)
      : OneRow(std::move(columns), context, memory), asAddress_(asAddress) {}

private:
   void fill(const RowCall& call, const catalog::NameContext& names, RowWriter& out) const override {
      const catalog::ObjectIdentity found =
          catalog::identifyObject(names, oidAt(call, 0), oidAt(call, 1), call.value<int32_t>(2));
      addText(out, found.type);
      const bool exists = found.description.has_value();
      if (!asAddress_) {
         for (const auto& text : {found.schema, found.name, std::optional(found.identity)})
            text&& exists ? addText(out, *text) : out.addNull();
         return;
      }
      for (const std::vector<std::string>* list : {&found.names, &found.args}) {
         std::vector<Value> texts;
         for (const std::string& text : *list)
            texts.push_back(Value::string(text));
         exists ? addText(out, makeArray(oid::text, texts)) : out.addNull();
      }
   }

   const bool asAddress_;
};

class AddressRow final : public OneRow {
public:
   using OneRow::OneRow;

private:
   void fill(const RowCall& call, const catalog::NameContext& names, RowWriter& out) const override {
      const catalog::ObjectAddress found =
          catalog::objectAddress(names, std::string(call.text(0)), textsOf(call.text(1)), textsOf(call.text(2)));
      for (const int64_t oid : {int64_t{found.classOid}, int64_t{found.object}})
         out.add(PhysicalType::I64, &oid);
      out.add(found.attribute);
   }
   static std::vector<std::string> textsOf(std::string_view array) {
      std::vector<std::string> texts;
      for (const Value& element : readArray(array).elements) {
         if (element.isNull)
            throw SqlError(sqlstate::invalidParameterValue, "name or argument lists may not contain nulls");
         texts.push_back(element.bytes);
      }
      return texts;
   }
};

} // namespace

std::unique_ptr<TableFunction> makeObjectRows(TableFunctionSignature& signature, FunctionContext& context,
                                              Reservation& memory) {
   const std::string_view source = signature.function->source;
   if (source == "pg_get_object_address") return std::make_unique<AddressRow>(signature.resultReprs, context, memory);
   if (source != "pg_identify_object" && source != "pg_identify_object_as_address") return nullptr;
   return std::make_unique<ObjectRow>(signature.resultReprs, context, memory,
                                      source == "pg_identify_object_as_address");
}

} // namespace ouzel::executor
