#include "common/base_type/type_form.hpp"
#include "common/error/sql_error.hpp"
#include "common/number/decimal.hpp"
#include "common/type/date_time.hpp"
#include "common/type/enum_labels.hpp"
#include "common/type/session_format.hpp"
#include "common/type/text_codec.hpp"
#include "executor/expression/convert.hpp"
#include "executor/expression/scratch.hpp"
#include "executor/function/value_text.hpp"
#include "executor/kernel/select.hpp"
#include "executor/kernel/validity.hpp"

// Casts that are not functions: between representations, through text, and to a type modifier.

namespace ouzel::executor {

namespace {

using Scratch = ExpressionState::Scratch;

/// Types whose values are the same as their text. bpchar is not among them: its text is padded.
bool isText(Oid type) {
   return type == oid::text || type == oid::varchar || type == oid::unknown || type == oid::name;
}

/// Run `body(rows without NULL)`, which writes to the node's buffer. The result is NULL or constant where the argument
/// is.
template <typename Body>
Vector strictUnary(Scratch& s, const Node& node, const Vector& arg, const Rows& rows, Body&& body) {
   const bool isConstant = arg.encoding == Encoding::Constant;
   Selection selection = isConstant ? Selection::dense(1) : rows.selection;
   Scratch::Buffer& buffer = s.buffer(node);
   const bool hasNulls = combineValidity({&arg, 1}, selection, isConstant ? 1 : s.rowCount, buffer.validity);
   ListLoan list(s);
   if (hasNulls) {
      if (isVariableSize(node.repr.physical)) std::memset(buffer.data, 0, s.rowCount * sizeof(StringView));
      selection = narrowed(selection, list, selectNotNull(arg, selection, list));
   }
   body(selection, buffer.data);
   Vector result = Vector::flat(node.repr.physical, buffer.data, hasNulls ? buffer.validity : nullptr);
   if (isConstant) result.encoding = Encoding::Constant;
   return result;
}

} // namespace

Vector evaluateConvert(Scratch& s, const Node& node, const Rows& rows) {
   const Vector arg = evaluateNode(s, node.args[0], rows);
   return strictUnary(s, node, arg, rows, [&](Selection selection, void* out) {
      convertRows(arg, node.argReprs[0], node.repr, selection, out, *s.strings);
   });
}

namespace {

/// Casts between an enum and text, which ask for the labels once.
Vector enumToText(Scratch& s, const Node& node, const Vector& arg, const Rows& rows) {
   const EnumLabelsPtr labels = labelsOf(node.argTypes[0].oid, sessionFormat(s.context).types);
   return strictUnary(s, node, arg, rows, [&](Selection selection, void* out) {
      forEachRow(selection, [&](uint32_t row) {
         static_cast<StringView*>(out)[row] = s.strings->copyString(labels->require(arg.value<int64_t>(row)).name);
      });
   });
}

Vector textToEnum(Scratch& s, const Node& node, const Vector& arg, const Rows& rows) {
   const UserTypes* types = sessionFormat(s.context).types;
   const EnumLabelsPtr labels = labelsOf(node.type.oid, types);
   return strictUnary(s, node, arg, rows, [&](Selection selection, void* out) {
      forEachRow(selection, [&](uint32_t row) {
         static_cast<int64_t*>(out)[row] = parseEnum(node.type, arg.value<StringView>(row).view(), *labels, types);
      });
   });
}

} // namespace

Vector evaluateTextCast(Scratch& s, const Node& node, const Rows& rows) {
   const Vector arg = evaluateNode(s, node.args[0], rows);
   const SqlType& source = node.argTypes[0];
   const uint32_t sourceWidth = physicalSize(arg.type), targetWidth = physicalSize(node.repr.physical);
   const bool fromText = isText(source.oid), toText = isText(node.type.oid) && node.type.typmod < 0;
   if (toText && isEnumType(source.oid)) return enumToText(s, node, arg, rows);
   if (fromText && isEnumType(node.type.oid)) return textToEnum(s, node, arg, rows);
   return strictUnary(s, node, arg, rows, [&](Selection selection, void* out) {
      std::string text;
      forEachRow(selection, [&](uint32_t row) {
         const std::byte* value = static_cast<const std::byte*>(arg.data) + size_t{arg.positionOf(row)} * sourceWidth;
         std::string_view view;
         if (fromText) {
            view = arg.value<StringView>(row).view();
         } else {
            text.clear();
            appendValueText(text, s.context, source, node.argReprs[0], value);
            view = text;
         }
         std::byte* target = static_cast<std::byte*>(out) + size_t{row} * targetWidth;
         if (toText) {
            const StringView copy = s.strings->copyString(view);
            std::memcpy(target, &copy, sizeof copy);
         } else {
            parseValueText(target, s.context, node.type, view, *s.strings);
         }
      });
   });
}

namespace {

/// Cast integers or scaled numerics to numeric(p, s): rescale, then check that p digits suffice.
void typmodScaled(const Node& node, const Vector& arg, Selection selection, void* out, Arena& strings) {
   Arena decimals;
   const bool toScaled = node.repr.physical != PhysicalType::Decimal;
   const StringView* values = nullptr;
   std::vector<StringView> converted;
   if (arg.type == PhysicalType::Decimal) {
      values = arg.values<StringView>();
   } else {
      converted.resize(batchRowsMax);
      convertRows(arg, node.argReprs[0], {PhysicalType::Decimal, 0}, selection, converted.data(), decimals);
   }
   forEachRow(selection, [&](uint32_t row) {
      const StringView value = values ? values[arg.positionOf(row)] : converted[row];
      if (!toScaled) {
         const StringView cut = decimal::applyTypmod(value, node.type.typmod, strings);
         // `cut` may share the argument's bytes, which live as long as the batch.
         static_cast<StringView*>(out)[row] = values ? cut : strings.copyString(cut.view());
      } else if (node.repr.physical == PhysicalType::I64) {
         static_cast<int64_t*>(out)[row] = static_cast<int64_t>(decimal::toScaledColumn(value, node.type.typmod));
      } else {
         static_cast<int128*>(out)[row] = decimal::toScaledColumn(value, node.type.typmod);
      }
   });
}

void typmodStrings(const Node& node, const Vector& arg, Selection selection, StringView* out, Arena& strings) {
   const bool isPadded = node.type.oid == oid::bpchar;
   forEachRow(selection, [&](uint32_t row) {
      const StringView& value = arg.value<StringView>(row);
      const std::string_view cut = isPadded ? applyBpcharTypmod(value.view(), node.type.typmod, node.explicitCast)
                                            : applyVarcharTypmod(value.view(), node.type.typmod, node.explicitCast);
      out[row] = cut.size() == value.size() ? value : strings.copyString(cut);
   });
}

void typmodOfForm(const Node& node, const Vector& arg, Selection selection, StringView* out, Arena& strings) {
   const TypeForm* form = findTypeForm(node.type.oid);
   if (!form || !form->applyTypmod) throwNotSupported("cast to a modifier of type " + formatType(node.type));
   forEachRow(selection, [&](uint32_t row) {
      out[row] = form->applyTypmod(arg.value<StringView>(row), node.type.typmod, node.explicitCast, strings);
   });
}

} // namespace

Vector evaluateTypmodCast(Scratch& s, const Node& node, const Rows& rows) {
   const Vector arg = evaluateNode(s, node.args[0], rows);
   const int32_t typmod = node.type.typmod;
   return strictUnary(s, node, arg, rows, [&](Selection selection, void* out) {
      const auto eachI64 = [&](auto&& function) {
         int64_t* target = static_cast<int64_t*>(out);
         forEachRow(selection, [&](uint32_t row) { target[row] = function(arg.value<int64_t>(row)); });
      };
      switch (node.type.oid) {
      case oid::numeric: return typmodScaled(node, arg, selection, out, *s.strings);
      case oid::varchar:
      case oid::bpchar: return typmodStrings(node, arg, selection, static_cast<StringView*>(out), *s.strings);
      case oid::time: return eachI64([&](int64_t v) { return roundTime(v, typmod); });
      case oid::timestamp:
      case oid::timestamptz: return eachI64([&](int64_t v) { return roundTimestamp(v, typmod); });
      case oid::interval: {
         Interval* target = static_cast<Interval*>(out);
         forEachRow(selection,
                    [&](uint32_t row) { target[row] = applyIntervalTypmod(arg.value<Interval>(row), typmod); });
         return;
      }
      case oid::timetz: {
         StringView* target = static_cast<StringView*>(out);
         forEachRow(selection, [&](uint32_t row) {
            target[row] = s.strings->copyString(roundTimeTz(arg.value<StringView>(row).view(), typmod));
         });
         return;
      }
      default: typmodOfForm(node, arg, selection, static_cast<StringView*>(out), *s.strings);
      }
   });
}

} // namespace ouzel::executor
