#include "catalog/builtin/builtin.hpp"
#include "executor/function/session_functions.hpp"
#include "executor/function/table/table_function_rows.hpp"

namespace ouzel::executor {

namespace {

/// pg_listening_channels(): what the session listens to.
class ChannelRows final : public TableFunction {
public:
   ChannelRows(std::vector<Representation> columns, FunctionContext& context, Reservation& memory)
      : context_(context), out_(std::move(columns), memory) {}

   void begin(std::span<const Vector>, uint32_t) override {
      channels_ = context_.requireSession("pg_listening_channels").listeningChannels();
      next_ = 0;
   }
   uint32_t next(uint32_t rowsMax, std::span<Vector> columns) override {
      out_.clear();
      for (; next_ < channels_.size() && out_.rowCount() < rowsMax; ++next_)
         out_.addText(channels_[next_]);
      out_.give(columns);
      return out_.rowCount();
   }

private:
   FunctionContext& context_;
   RowWriter out_;
   std::vector<std::string> channels_;
   size_t next_ = 0;
};

/// Rows of values that the session gives all at once.
class EventRows final : public TableFunction {
public:
   EventRows(std::string_view function, std::vector<Representation> columns, FunctionContext& context,
             Reservation& memory)
      : function_(function), context_(context), out_(std::move(columns), memory) {}

   void begin(std::span<const Vector>, uint32_t) override {
      rows_ = context_.requireSession(function_.c_str()).eventRows(function_);
      next_ = 0;
   }
   uint32_t next(uint32_t rowsMax, std::span<Vector> columns) override {
      out_.clear();
      for (; next_ < rows_.size() && out_.rowCount() < rowsMax; ++next_)
         for (const Value& value : rows_[next_])
            add(value);
      out_.give(columns);
      return out_.rowCount();
   }

private:
   void add(const Value& value) {
      if (value.isNull)
         out_.addNull();
      else if (value.type == PhysicalType::String)
         out_.addText(value.bytes);
      else if (value.type == PhysicalType::Bool)
         out_.add(value.i64 != 0);
      else
         out_.add(PhysicalType::I64, &value.i64);
   }

   const std::string function_;
   FunctionContext& context_;
   RowWriter out_;
   std::vector<std::vector<Value>> rows_;
   size_t next_ = 0;
};

} // namespace

std::unique_ptr<TableFunction> makeSessionRows(TableFunctionSignature& signature, FunctionContext& context,
                                               Reservation& memory) {
   const std::string_view source = signature.function->source;
   if (source == "pg_event_trigger_ddl_commands" || source == "pg_event_trigger_dropped_objects")
      return std::make_unique<EventRows>(source, signature.resultReprs, context, memory);
   if (source != "pg_listening_channels") return nullptr;
   return std::make_unique<ChannelRows>(signature.resultReprs, context, memory);
}

} // namespace ouzel::executor
