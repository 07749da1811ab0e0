#include "executor/function/json/jsonb_edit.hpp"

#include "common/error/sql_error.hpp"
#include "common/thread/stack.hpp"
#include "executor/function/json/jsonb_path.hpp"

namespace ouzel::executor {

using json::JsonbView;
using json::Kind;

void JsonbPathEdit::visit(const JsonbView& target, size_t level) {
   checkStack();
   if (!path_[level])
      throw SqlError(sqlstate::nullValueNotAllowed,
                     "path element at position " + std::to_string(level + 1) + " is null");
   if (!target.isScalar()) return target.kind() == Kind::Array ? visitArray(target, level) : visitObject(target, level);
   if (isAssignment_)
      throw SqlError(sqlstate::invalidParameterValue, "cannot replace existing key")
          .detail("The path assumes key is a composite object, but it is a scalar value.");
   writer_.value(target);
}

void JsonbPathEdit::visitObject(const JsonbView& object, size_t level) {
   const std::string& key = *path_[level];
   writer_.beginObject();
   bool isFound = false;
   for (uint32_t i = 0; i < object.size(); ++i) {
      const std::string_view name = object.key(i);
      if (name != key) {
         writer_.key(name);
         writer_.value(object.element(i));
         continue;
      }
      isFound = true;
      if (!isLast(level)) {
         writer_.key(name);
         visit(object.element(i), level + 1);
         continue;
      }
      if (change_ == Change::InsertBefore || change_ == Change::InsertAfter)
         throw SqlError(sqlstate::invalidParameterValue, "cannot replace existing key")
             .hint("Try using the function jsonb_set to replace key value.");
      if (change_ == Change::Delete) continue;
      writer_.key(name);
      put();
   }
   if (!isFound && isLast(level) && creates()) {
      writer_.key(key);
      put();
   } else if (!isFound && !isLast(level) && isAssignment_) {
      writer_.key(key);
      makeRest(level);
   }
   writer_.endObject();
}

int64_t JsonbPathEdit::indexOf(const JsonbView& array, size_t level) const {
   const std::string& text = *path_[level];
   const std::string place = "path element at position " + std::to_string(level + 1);
   const std::optional<int32_t> subscript = subscriptOf(text);
   if (!subscript) throw SqlError(sqlstate::invalidTextRepresentation, place + " is not an integer: \"" + text + '"');
   int64_t index = *subscript;
   const int64_t size = array.size();
   if (index < 0 && -index > size) {
      if (isAssignment_)
         throw SqlError(sqlstate::invalidParameterValue, place + " is out of range: " + std::to_string(index));
      return INT64_MIN;
   }
   if (index < 0) index += size;
   return !isAssignment_ && index > size ? size : index;
}

void JsonbPathEdit::change(const JsonbView& element) {
   if (change_ == Change::InsertAfter) writer_.value(element);
   if (change_ != Change::Delete) put();
   if (change_ == Change::InsertBefore) writer_.value(element);
}

void JsonbPathEdit::visitArray(const JsonbView& array, size_t level) {
   const int64_t index = indexOf(array, level), size = array.size();
   const auto fill = [&] {
      if (isAssignment_ && index > size) writer_.nulls(static_cast<uint64_t>(index - size));
   };
   writer_.beginArray();
   bool isDone = false;
   if ((index == INT64_MIN || size == 0) && isLast(level) && creates()) {
      fill();
      put();
      isDone = true;
   }
   for (uint32_t i = 0; i < array.size(); ++i) {
      if (i != index) {
         writer_.value(array.element(i));
         continue;
      }
      isDone = true;
      if (isLast(level))
         change(array.element(i));
      else
         visit(array.element(i), level + 1);
   }
   if (!isDone && isLast(level) && creates()) {
      fill();
      put();
   } else if (!isDone && !isLast(level) && isAssignment_) {
      fill();
      makeRest(level);
   }
   writer_.endArray();
}

void JsonbPathEdit::makeRest(size_t level) {
   std::vector<bool> areArrays;
   for (size_t i = level + 1; i < path_.size(); ++i) {
      const std::optional<int32_t> index = subscriptOf(*path_[i]);
      areArrays.push_back(index.has_value());
      if (index) {
         writer_.beginArray();
         if (*index > 0) writer_.nulls(static_cast<uint64_t>(*index));
      } else {
         writer_.beginObject();
         writer_.key(*path_[i]);
      }
   }
   put();
   for (size_t i = areArrays.size(); i-- > 0;)
      areArrays[i] ? writer_.endArray() : writer_.endObject();
}

} // namespace ouzel::executor
