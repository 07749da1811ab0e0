#include <cmath>
#include <string>

#include "common/json/jsonb_writer.hpp"
#include "common/number/decimal.hpp"
#include "common/text/number_text.hpp"
#include "executor/function/jsonpath/path_evaluation.hpp"

// Arithmetic and methods of jsonpath.

namespace ouzel::executor {

using json::JsonbView;
using json::PathNode;
using json::PathOp;

namespace {

StringView calculate(PathOp op, StringView a, StringView b, Arena& arena) {
   switch (op) {
   case PathOp::Add: return decimal::add(a, b, arena);
   case PathOp::Subtract: return decimal::subtract(a, b, arena);
   case PathOp::Multiply: return decimal::multiply(a, b, arena);
   case PathOp::Divide: return decimal::divide(a, b, arena);
   default: return decimal::modulo(a, b, arena);
   }
}

/// Whether an error is one of the values, which predicates and silent calls suppress, and not one of the statement.
bool isDataError(const SqlError& error) {
   return error.state().text().starts_with("22");
}

} // namespace

PathEvaluation::Found PathEvaluation::binary(const PathNode& node, PathItem& item) {
   PathItems left(arena_), right(arena_);
   if (unwrapped(node.left, item, left) == Found::Error) return Found::Error;
   if (unwrapped(node.right, item, right) == Found::Error) return Found::Error;
   const auto notOneNumber = [&](const char* side) {
      return fail(sqlstate::singletonSqlJsonItemRequired, side, pathOpName(node.op), " is not a single numeric value");
   };
   if (left.size() != 1 || !left[0].isNumber()) return notOneNumber("left operand of jsonpath operator ");
   if (right.size() != 1 || !right[0].isNumber()) return notOneNumber("right operand of jsonpath operator ");
   const StringView a = left[0].number(), b = right[0].number();
   const bool divides = node.op == PathOp::Divide || node.op == PathOp::Modulo;
   if (!throwsErrors_ && divides && decimal::sign(b) == 0) return Found::Error;
   try {
      item = PathItem::number(calculate(node.op, a, b, arena_));
   } catch (const SqlError& error) {
      if (throwsErrors_ || !isDataError(error)) throw;
      return Found::Error;
   }
   return Found::Yes;
}

PathEvaluation::Found PathEvaluation::sign(const PathNode& node, const PathItem& item, PathItems* found) {
   PathItems operands(arena_);
   if (unwrapped(node.left, item, operands) == Found::Error) return Found::Error;
   const bool isLastAsked = !node.next && !found;
   Found result = Found::No;
   for (const PathItem& operand : operands) {
      if (isLastAsked) {
         if (operand.isNumber()) return Found::Yes;
         continue;
      }
      if (!operand.isNumber())
         return fail(sqlstate::sqlJsonNumberNotFound, "operand of unary jsonpath operator ", pathOpName(node.op),
                     " is not a numeric value");
      const Found each =
          next(&node, node.op == PathOp::Minus ? PathItem::number(decimal::negate(operand.number(), arena_)) : operand,
               found);
      if (each == Found::Error || (each == Found::Yes && !found)) return each;
      if (each == Found::Yes) result = each;
   }
   return result;
}

PathEvaluation::Found PathEvaluation::numberMethod(const PathNode& node, PathItem& item) {
   if (!item.isNumber())
      return fail(sqlstate::nonNumericSqlJsonItem, "jsonpath item method .", pathOpName(node.op),
                  "() can only be applied to a numeric value");
   const StringView value = item.number();
   item = PathItem::number(node.op == PathOp::Abs     ? decimal::absolute(value, arena_)
                           : node.op == PathOp::Floor ? decimal::floor(value, arena_)
                                                      : decimal::ceil(value, arena_));
   return Found::Yes;
}

PathEvaluation::Found PathEvaluation::doubleMethod(PathItem& item) {
   const auto parse = [](std::string_view text, double& value) {
      return parseDouble(text, value) == ParseStatus::Ok && std::isfinite(value);
   };
   double value = 0;
   if (item.isNumber()) { // stays what it is
      if (parse(decimal::toString(item.number()), value)) return Found::Yes;
      return fail(sqlstate::nonNumericSqlJsonItem, "numeric argument of jsonpath item method .double() is out of range "
                                                   "for type double precision");
   }
   if (item.isString()) {
      if (parse(item.string(), value)) {
         item = PathItem::number(decimal::fromDouble(value, arena_));
         return Found::Yes;
      }
      return fail(sqlstate::nonNumericSqlJsonItem, "string argument of jsonpath item method .double() is not a valid "
                                                   "representation of a double precision number");
   }
   return fail(sqlstate::nonNumericSqlJsonItem,
               "jsonpath item method .double() can only be applied to a string or numeric value");
}

PathEvaluation::Found PathEvaluation::dateTimeMethod(const PathNode& node, PathItem& item) {
   if (!item.isString())
      return fail(sqlstate::invalidArgumentForSqlJsonDatetimeFunction,
                  "jsonpath item method .datetime() can only be applied to a string");
   const std::string_view text = item.string();
   if (!node.boolean) {
      if (const std::optional<DateTimeValue> value = parseIsoDateTime(text)) {
         item = PathItem::dateTime(*value);
         return Found::Yes;
      }
      if (!throwsErrors_) return Found::Error;
      throw SqlError(sqlstate::invalidArgumentForSqlJsonDatetimeFunction,
                     "datetime format is not recognized: \"" + std::string(text) + '"')
          .hint("Use a datetime template argument to specify the input data format.");
   }
   checkDateTimeTemplate(node.text); // an error that nothing suppresses
   try {
      item = PathItem::dateTime(parseDateTime(text, node.text));
      return Found::Yes;
   } catch (const SqlError& error) {
      if (throwsErrors_ || !(isDataError(error) || error.state() == sqlstate::featureNotSupported)) throw;
      return Found::Error;
   }
}

PathEvaluation::Found PathEvaluation::keyValues(const PathNode& node, const PathItem& item, PathItems* found) {
   if (!item.isObject())
      return fail(sqlstate::sqlJsonObjectNotFound, "jsonpath item method .keyvalue() can only be applied to an object");
   const JsonbView object = item.view();
   if (object.size() == 0) return Found::No;
   if (!node.next && !found) return Found::Yes;
   constexpr int64_t idsPerBaseObject = 10'000'000'000; // more than a document has bytes
   const int64_t offset = base_.view ? ids_.offset(*base_.view, object) : 0;
   const int64_t id = base_.id * idsPerBaseObject + offset;
   const BaseObject outer = base_;
   Found result = Found::No;
   for (uint32_t i = 0; i < object.size(); ++i) {
      const JsonbView made = keyValueObject(object.key(i), object.element(i), id);
      base_ = {&made, nextObjectId_++};
      result = next(&node, made, found);
      if (result == Found::Error || (result == Found::Yes && !found)) break;
   }
   base_ = outer;
   return result;
}

/// {"key": ..., "value": ..., "id": ...}.
JsonbView PathEvaluation::keyValueObject(std::string_view key, const JsonbView& value, int64_t id) {
   json::JsonbWriter writer;
   writer.beginObject();
   writer.key("key");
   writer.string(key);
   writer.key("value");
   writer.value(value);
   writer.key("id");
   writer.number(decimal::fromInt64(id));
   writer.endObject();
   const size_t size = writer.finishedSize();
   char* bytes = static_cast<char*>(arena_.allocate(size, 1));
   writer.finishInto(bytes);
   return JsonbView({bytes, size});
}

} // namespace ouzel::executor
