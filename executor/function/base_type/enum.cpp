#include "common/type/enum_labels.hpp"
#include "common/type/session_format.hpp"
#include "executor/function/array_builder.hpp"
#include "executor/function/base_type_families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/value_text.hpp"

// enum_first(), enum_last(), enum_range(): they ask for the labels of their argument's type, whatever its value is.
// Comparisons are those of integers (comparison.cpp).

namespace ouzel::executor {

namespace {

/// The labels of the type of the call's first argument, which the transaction may use.
class CallLabels {
public:
   explicit CallLabels(const KernelCall& call)
      : type_(call.argTypes[0].oid), types_(sessionFormat(call.context).types), labels_(labelsOf(type_, types_)) {
      if (labels_->inOrder().empty())
         throw SqlError(sqlstate::objectNotInPrerequisiteState,
                        "enum " + types_->objectName(oid::regtype, type_) + " contains no values");
   }
   int64_t code(const EnumLabel& label) const {
      requireCommitted(label, type_, types_);
      return label.code;
   }
   const std::vector<EnumLabel>& inOrder() const { return labels_->inOrder(); }
   Oid type() const { return type_; }

private:
   const Oid type_;
   const UserTypes* const types_;
   const EnumLabelsPtr labels_;
};

template <bool wantsLast>
void endLabel(const KernelCall& call, ResultVector& result) {
   const CallLabels labels(call);
   const int64_t code = labels.code(wantsLast ? labels.inOrder().back() : labels.inOrder().front());
   forEachRow(call.rows, [&](uint32_t row) { result.values<int64_t>()[row] = code; });
}

/// enum_range(any value) and enum_range(from, to), where NULL is an open end.
void range(const KernelCall& call, ResultVector& result) {
   const Oid type = call.argTypes[0].oid;
   const UserTypes* types = sessionFormat(call.context).types;
   const EnumLabelsPtr labels = labelsOf(type, types);
   const bool hasBounds = call.args.size() == 2;
   forEachRow(call.rows, [&](uint32_t row) {
      ArrayBuilder array(result.strings(), type);
      const bool isFrom = hasBounds && !call.args[0].isNull(row), isTo = hasBounds && !call.args[1].isNull(row);
      for (const EnumLabel& label : labels->inOrder()) {
         if (isFrom && label.code < call.args[0].value<int64_t>(row)) continue;
         if (isTo && label.code > call.args[1].value<int64_t>(row)) break;
         requireCommitted(label, type, types);
         array.add(&label.code);
      }
      result.values<StringView>()[row] = array.finish();
   });
}

} // namespace

void registerEnum() {
   registerKernel("enum_first", anyArguments, {endLabel<false>, false, false});
   registerKernel("enum_last", anyArguments, {endLabel<true>, false, false});
   registerKernel("enum_range_all", anyArguments, {range, false, false});
   registerKernel("enum_range_bounds", anyArguments, {range, false, false});
}

} // namespace ouzel::executor
