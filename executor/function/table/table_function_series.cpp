#include "catalog/builtin/builtin.hpp"
#include "common/error/sql_error.hpp"
#include "common/number/decimal.hpp"
#include "common/type/date_time_math.hpp"
#include "common/type/session_format.hpp"
#include "executor/function/table/table_function_rows.hpp"

// generate_series over integers, numerics and timestamps.

namespace ouzel::executor {

namespace {

[[noreturn, gnu::cold]] void throwZeroStep() {
   throw SqlError(sqlstate::invalidParameterValue, "step size cannot equal zero");
}

template <typename T>
class IntegerSeries : public TableFunction {
public:
   void begin(std::span<const Vector> args, uint32_t row) override {
      isDone_ = true;
      for (const Vector& arg : args)
         if (arg.isNull(row)) return;
      current_ = args[0].value<T>(row);
      stop_ = args[1].value<T>(row);
      step_ = args.size() > 2 ? args[2].value<T>(row) : T{1};
      if (step_ == 0) throwZeroStep();
      isDone_ = step_ > 0 ? current_ > stop_ : current_ < stop_;
   }
   uint32_t next(uint32_t rowsMax, std::span<Vector> columns) override {
      uint32_t count = 0;
      if (!isDone_) {
         // Compute the number of further values without overflow: the distance fits into the unsigned type.
         using U = std::make_unsigned_t<T>;
         const U distance = step_ > 0 ? static_cast<U>(stop_) - static_cast<U>(current_)
                                      : static_cast<U>(current_) - static_cast<U>(stop_);
         const U stride = step_ > 0 ? static_cast<U>(step_) : static_cast<U>(0 - static_cast<U>(step_));
         const U more = distance / stride; // number of values after the current one
         count = more >= rowsMax ? rowsMax : static_cast<uint32_t>(more) + 1;
         U value = static_cast<U>(current_);
         for (uint32_t i = 0; i < count; ++i, value += static_cast<U>(step_))
            values_[i] = static_cast<T>(value);
         current_ = static_cast<T>(value);
         isDone_ = more < rowsMax;
      }
      columns[0] = Vector::flat(sizeof(T) == 4 ? PhysicalType::I32 : PhysicalType::I64, values_, nullptr);
      return count;
   }

private:
   T current_ = 0, stop_ = 0, step_ = 1;
   bool isDone_ = true;
   alignas(64) T values_[batchRowsMax];
};

class DecimalSeries : public TableFunction {
public:
   explicit DecimalSeries(Reservation& memory) : strings_(&memory) {}
   void begin(std::span<const Vector> args, uint32_t row) override {
      isDone_ = true;
      for (const Vector& arg : args)
         if (arg.isNull(row)) return;
      static constexpr const char* names[] = {"start", "stop", "step size"};
      const StringView one = decimal::fromInt64(1);
      StringView values[3] = {StringView(), StringView(), one};
      for (size_t i = 0; i < args.size(); ++i) {
         values[i] = args[i].value<StringView>(row);
         if (decimal::isFinite(values[i])) continue;
         const std::string what = std::string(names[i]) + (i < 2 ? " value" : "");
         throw SqlError(sqlstate::invalidParameterValue,
                        what + " cannot be " + (decimal::isNaN(values[i]) ? "NaN" : "infinity"));
      }
      if (decimal::sign(values[2]) == 0) throwZeroStep();
      current_ = std::string(values[0].view());
      stop_ = std::string(values[1].view());
      step_ = std::string(values[2].view());
      isDone_ = false;
   }
   uint32_t next(uint32_t rowsMax, std::span<Vector> columns) override {
      strings_.reset();
      uint32_t count = 0;
      while (!isDone_ && count < rowsMax) {
         const StringView current(current_), stop(stop_), step(step_);
         const int order = decimal::compare(current, stop);
         if (decimal::sign(step) > 0 ? order > 0 : order < 0) {
            isDone_ = true;
            break;
         }
         values_[count++] = strings_.copyString(current.view());
         isDone_ = order == 0; // the next value may overflow
         if (isDone_) break;
         current_ = std::string(decimal::add(current, step, strings_).view());
      }
      columns[0] = Vector::flat(PhysicalType::Decimal, values_.data(), nullptr);
      return count;
   }

private:
   std::string current_, stop_, step_; // bytes of decimals
   bool isDone_ = true;
   Arena strings_;
   std::vector<StringView> values_ = std::vector<StringView>(batchRowsMax);
};

/// generate_series over timestamps with an interval as step. For timestamptz, steps are made in the session's local
/// time.
class TimestampSeries : public TableFunction {
public:
   TimestampSeries(bool hasZone, const FunctionContext& context)
      : hasZone_(hasZone), zone_(context.format ? context.format->zone : nullptr) {}
   void begin(std::span<const Vector> args, uint32_t row) override {
      isDone_ = true;
      for (const Vector& arg : args)
         if (arg.isNull(row)) return;
      current_ = args[0].value<int64_t>(row);
      stop_ = args[1].value<int64_t>(row);
      step_ = args[2].value<Interval>(row);
      direction_ = intervalSpan(step_);
      if (direction_ == 0) throwZeroStep();
      isDone_ = false;
   }
   uint32_t next(uint32_t rowsMax, std::span<Vector> columns) override {
      uint32_t count = 0;
      while (!isDone_ && count < rowsMax) {
         if (direction_ > 0 ? current_ > stop_ : current_ < stop_) {
            isDone_ = true;
            break;
         }
         values_[count++] = current_;
         current_ = hasZone_ ? addIntervalTz(current_, step_, zone_) : addInterval(current_, step_);
      }
      columns[0] = Vector::flat(PhysicalType::I64, values_, nullptr);
      return count;
   }

private:
   bool hasZone_;
   const TimeZone* zone_;
   int64_t current_ = 0, stop_ = 0;
   Interval step_;
   int128 direction_ = 0;
   bool isDone_ = true;
   int64_t values_[batchRowsMax];
};

} // namespace

std::unique_ptr<TableFunction> makeSeries(TableFunctionSignature& signature, FunctionContext& context,
                                          Reservation& memory) {
   const std::string_view source = signature.function->source;
   if (source == "generate_series_int4" || source == "generate_series_step_int4")
      return std::make_unique<IntegerSeries<int32_t>>();
   if (source == "generate_series_int8" || source == "generate_series_step_int8")
      return std::make_unique<IntegerSeries<int64_t>>();
   if (source == "generate_series_numeric" || source == "generate_series_step_numeric")
      return std::make_unique<DecimalSeries>(memory);
   if (source == "generate_series_timestamp") return std::make_unique<TimestampSeries>(false, context);
   if (source == "generate_series_timestamptz") return std::make_unique<TimestampSeries>(true, context);
   return nullptr;
}

} // namespace ouzel::executor
