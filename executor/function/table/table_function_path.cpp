#include "catalog/builtin/builtin.hpp"
#include "executor/function/jsonpath/path_query.hpp"
#include "executor/function/table/table_function_rows.hpp"

// jsonb_path_query: a row for each item that a path finds.

namespace ouzel::executor {

namespace {

class PathRows final : public TableFunction {
public:
   PathRows(std::vector<Representation> columns, FunctionContext& context, bool usesTimeZone, Reservation& memory)
      : query_(context, usesTimeZone, &memory), items_(&memory), out_(std::move(columns), memory) {}

   void begin(std::span<const Vector> args, uint32_t row) override {
      found_.reset();
      next_ = 0;
      for (const Vector& arg : args)
         if (arg.isNull(row)) return;
      const auto text = [&](size_t i) { return args[i].values<StringView>()[args[i].positionOf(row)].view(); };
      const PathQuery::Row input{text(0), text(1), text(2), args[3].value<uint8_t>(row) != 0};
      items_.reset();
      found_.emplace(items_);
      query_.find(input, [&](const PathItems& found) { found_->replaceBy(found); });
   }
   uint32_t next(uint32_t rowsMax, std::span<Vector> columns) override {
      checkInterrupted();
      out_.clear();
      for (; found_ && next_ < found_->size() && out_.rowCount() < rowsMax; ++next_) {
         const StringView value = query_.value((*found_)[next_], out_.strings());
         out_.add(PhysicalType::String, &value);
      }
      out_.give(columns);
      return out_.rowCount();
   }

private:
   PathQuery query_;
   Arena items_;                    ///< of found_
   std::optional<PathItems> found_; ///< all of them: an error in the last one leaves no rows
   uint32_t next_ = 0;
   RowWriter out_;
};

} // namespace

std::unique_ptr<TableFunction> makePathRows(TableFunctionSignature& signature, FunctionContext& context,
                                            Reservation& memory) {
   const std::string_view source = signature.function->source;
   if (source != "jsonb_path_query" && source != "jsonb_path_query_tz") return nullptr;
   return std::make_unique<PathRows>(signature.resultReprs, context, source == "jsonb_path_query_tz", memory);
}

} // namespace ouzel::executor
