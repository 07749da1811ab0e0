#include "catalog/object/published_tables.hpp"
#include "common/error/sql_error.hpp"
#include "common/type/array.hpp"
#include "executor/function/context.hpp"
#include "executor/function/table/table_function_rows.hpp"

// pg_get_publication_tables().

namespace ouzel::executor {

namespace {

class PublicationRows final : public TableFunction {
public:
   PublicationRows(std::vector<Representation> columns, FunctionContext& context, Reservation& memory)
      : context_(context), out_(std::move(columns), memory) {}

   void begin(std::span<const Vector> args, uint32_t row) override {
      const RowCall call{args, row};
      rows_.clear();
      next_ = 0;
      if (call.isNull(0)) return;
      if (!context_.catalog) throwInternal("no catalog to look publications up in");
      const catalog::Publication* found = catalog::findPublication(*context_.catalog, call.text(0));
      if (!found)
         throw SqlError(sqlstate::undefinedObject, "publication \"" + std::string(call.text(0)) + "\" does not exist");
      for (const catalog::PublishedTable& published : catalog::publishedTables(*context_.catalog, *found)) {
         rows_.push_back({published.table->oid, {}, {}});
         if (!published.named) continue;
         rows_.back().filter = published.named->filter;
         std::vector<Value> columns;
         for (const int16_t attribute : published.named->columns)
            columns.push_back(Value::integer(PhysicalType::I16, attribute));
         if (!columns.empty()) rows_.back().columns = makeArray(oid::int2, columns, 0);
      }
   }

   uint32_t next(uint32_t rowsMax, std::span<Vector> columns) override {
      checkInterrupted();
      out_.clear();
      for (; next_ < rows_.size() && out_.rowCount() < rowsMax; ++next_) {
         const Row& row = rows_[next_];
         const int64_t table = row.table;
         out_.add(PhysicalType::I64, &table);
         addBytes(row.columns);
         addBytes(row.filter);
      }
      out_.give(columns);
      return out_.rowCount();
   }

private:
   struct Row {
      Oid table;
      std::string columns, filter; ///< empty: NULL
   };
   void addBytes(const std::string& bytes) {
      if (bytes.empty()) return out_.addNull();
      const StringView kept = out_.strings().copyString(bytes);
      out_.add(PhysicalType::String, &kept);
   }

   FunctionContext& context_;
   RowWriter out_;
   std::vector<Row> rows_;
   size_t next_ = 0;
};

} // namespace

std::unique_ptr<TableFunction> makePublicationRows(TableFunctionSignature& signature, FunctionContext& context,
                                                   Reservation& memory) {
   if (signature.function->source != "pg_get_publication_tables") return nullptr;
   return std::make_unique<PublicationRows>(signature.resultReprs, context, memory);
}

} // namespace ouzel::executor
