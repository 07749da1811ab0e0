#include "executor/function/jsonpath/path_evaluation.hpp"

#include <algorithm>
#include <string>

#include "common/number/decimal.hpp"
#include "common/thread/interruption.hpp"
#include "common/thread/stack.hpp"

namespace ouzel::executor {

using json::JsonbView;
using json::PathNode;
using json::PathOp;

namespace {

/// Sets a variable and gives it its old value back at the end.
template <typename T>
class Restored {
public:
   explicit Restored(T& place) : place_(place), old_(place) {}
   Restored(T& place, T value) : Restored(place) { place = value; }
   ~Restored() { place_ = old_; }
   Restored(const Restored&) = delete;

private:
   T& place_;
   const T old_;
};

const char* typeName(const PathItem& item) {
   switch (item.kind()) {
   case PathItem::Kind::Null: return "null";
   case PathItem::Kind::Boolean: return "boolean";
   case PathItem::Kind::Number: return "number";
   case PathItem::Kind::String: return "string";
   case PathItem::Kind::Array: return "array";
   case PathItem::Kind::Object: return "object";
   case PathItem::Kind::DateTime: break;
   }
   switch (item.dateTime().type) {
   case oid::date: return "date";
   case oid::time: return "time without time zone";
   case oid::timetz: return "time with time zone";
   case oid::timestamp: return "timestamp without time zone";
   default: return "timestamp with time zone";
   }
}

} // namespace

PathEvaluation::PathEvaluation(const Call& call, const FunctionContext& context, Arena& arena)
   : context_(context), arena_(arena), path_(call.path.root), root_(call.document), variables_(call.variables),
     isLax_(call.path.isLax), usesTimeZone_(call.usesTimeZone), ignoresStructure_(isLax_),
     throwsErrors_(!call.isSilent), current_(&root_), nextObjectId_(variables_ ? 2 : 1), ids_(arena) {
   if (variables_ && variables_->kind() != json::Kind::Object)
      throw SqlError(sqlstate::invalidParameterValue, "\"vars\" argument is not an object")
          .detail("Jsonpath parameters should be encoded as key-value pairs of \"vars\" object.");
}

PathEvaluation::Found PathEvaluation::run(PathItems& found) {
   return chain(path_, root_, &found, isLax_);
}

PathEvaluation::Found PathEvaluation::exists() {
   if (isLax_) return chain(path_, root_, nullptr, true);
   PathItems found(arena_); // in strict mode all of it has to be free of errors
   if (run(found) == Found::Error) return Found::Error;
   return found.size() > 0 ? Found::Yes : Found::No;
}

void PathEvaluation::tick() {
   constexpr uint32_t stepsBetweenChecks = 4096;
   if (++steps_ % stepsBetweenChecks == 0) checkInterrupted();
}

PathEvaluation::Found PathEvaluation::fail(SqlState state, const char* before, const char* name,
                                           const char* behind) const {
   if (!throwsErrors_) return Found::Error;
   throw SqlError(state, std::string(before) + name + behind);
}

/// Items with one result are done in a loop, so that long chains need no stack.
PathEvaluation::Found PathEvaluation::chain(const PathNode* node, PathItem item, PathItems* found, bool unwrap) {
   checkStack();
   const Restored keepBase(base_);
   for (;; node = node->next, unwrap = isLax_) {
      tick();
      const bool isLastAsked = !node->next && !found; // whether there is a value suffices
      switch (node->op) {
      case PathOp::Null:
      case PathOp::Boolean:
      case PathOp::Number:
      case PathOp::String:
      case PathOp::Variable:
         if (isLastAsked && node->op != PathOp::Variable) return Found::Yes; // a missing variable is an error
         item = node->op == PathOp::Null      ? PathItem::null()
                : node->op == PathOp::Boolean ? PathItem::boolean(node->boolean)
                : node->op == PathOp::Number  ? PathItem::number(node->number)
                : node->op == PathOp::String  ? PathItem::string(node->text)
                                              : variable(node->text);
         break;
      case PathOp::Root:
         item = root_;
         base_ = {root_.isContainer() ? &root_.view() : nullptr, 0};
         break;
      case PathOp::Current: item = *current_; break;
      case PathOp::Last:
         if (arraySize_ < 0) throwInternal("last outside of a subscript");
         item = PathItem::number(decimal::fromInt64(arraySize_ - 1));
         break;
      case PathOp::Key: {
         if (!item.isObject()) {
            if (unwrap && item.isArray()) return elements(node, item.view(), found, false);
            if (ignoresStructure_) return Found::No;
            return fail(sqlstate::sqlJsonMemberNotFound, "jsonpath member accessor can only be applied to an object");
         }
         const std::optional<JsonbView> member = item.view().find(node->text);
         if (member) {
            item = *member;
            break;
         }
         if (ignoresStructure_) return Found::No;
         return fail(sqlstate::sqlJsonMemberNotFound, "JSON object does not contain key \"",
                     std::string(node->text).c_str(), "\"");
      }
      case PathOp::AnyKey:
         if (item.isObject()) return elements(node->next, item.view(), found, isLax_);
         if (unwrap && item.isArray()) return elements(node, item.view(), found, false);
         if (ignoresStructure_) return Found::No;
         return fail(sqlstate::sqlJsonObjectNotFound,
                     "jsonpath wildcard member accessor can only be applied to an object");
      case PathOp::AnyElement:
         if (item.isArray()) return elements(node->next, item.view(), found, isLax_);
         if (isLax_) break;
         if (ignoresStructure_) return Found::No;
         return fail(sqlstate::sqlJsonArrayNotFound,
                     "jsonpath wildcard array accessor can only be applied to an array");
      case PathOp::Subscripts: return subscripts(*node, item, found);
      case PathOp::Any: return anyLevel(*node, item, found);
      case PathOp::Filter: {
         if (unwrap && item.isArray()) return elements(node, item.view(), found, false);
         const Restored keepCurrent(current_, static_cast<const PathItem*>(&item));
         if (truth(*node->left, item) != Truth::True) return Found::No;
         break;
      }
      case PathOp::Type: item = PathItem::string(typeName(item)); break;
      case PathOp::Size: {
         if (!item.isArray() && !isLax_) {
            if (ignoresStructure_) return Found::No;
            return fail(sqlstate::sqlJsonArrayNotFound, "jsonpath item method .size() can only be applied to an array");
         }
         item = PathItem::number(decimal::fromInt64(item.isArray() ? item.view().size() : 1));
         break;
      }
      case PathOp::Abs:
      case PathOp::Floor:
      case PathOp::Ceiling:
      case PathOp::Double:
      case PathOp::DateTime: {
         if (unwrap && item.isArray()) return elements(node, item.view(), found, false);
         const Found result = node->op == PathOp::Double     ? doubleMethod(item)
                              : node->op == PathOp::DateTime ? dateTimeMethod(*node, item)
                                                             : numberMethod(*node, item);
         if (result == Found::Error) return result;
         break;
      }
      case PathOp::KeyValue:
         if (unwrap && item.isArray()) return elements(node, item.view(), found, false);
         return keyValues(*node, item, found);
      case PathOp::Plus:
      case PathOp::Minus: return sign(*node, item, found);
      case PathOp::Add:
      case PathOp::Subtract:
      case PathOp::Multiply:
      case PathOp::Divide:
      case PathOp::Modulo:
         if (const Found result = binary(*node, item); result == Found::Error) return result;
         break;
      default: {
         const Truth result = truth(*node, item);
         item = result == Truth::Unknown ? PathItem::null() : PathItem::boolean(result == Truth::True);
         break;
      }
      }
      if (!node->next) break;
   }
   if (found) found->add(item);
   return Found::Yes;
}

PathEvaluation::Found PathEvaluation::next(const PathNode* node, const PathItem& item, PathItems* found) {
   if (node->next) return chain(node->next, item, found, isLax_);
   if (found) found->add(item);
   return Found::Yes;
}

PathEvaluation::Found PathEvaluation::elements(const PathNode* node, const JsonbView& container, PathItems* found,
                                               bool unwrap) {
   Found result = Found::No;
   for (uint32_t i = 0; i < container.size(); ++i) {
      if (node) {
         result = chain(node, container.element(i), found, unwrap);
         if (result == Found::Error || (result == Found::Yes && !found)) break;
      } else if (found) {
         tick();
         found->add(container.element(i));
      } else {
         return Found::Yes;
      }
   }
   return result;
}

PathEvaluation::Found PathEvaluation::anyLevel(const PathNode& node, const PathItem& item, PathItems* found) {
   Found result = Found::No;
   if (node.first == 0) {
      const Restored keep(ignoresStructure_, true);
      result = next(&node, item, found);
      if (result == Found::Yes && !found) return result;
   }
   // As in PostgreSQL, what is below decides, even over an error of the item itself.
   return item.isContainer() ? descend(node, item.view(), found, 1) : result;
}

/// What is below a container, from `level` on.
PathEvaluation::Found PathEvaluation::descend(const PathNode& any, const JsonbView& container, PathItems* found,
                                              uint32_t level) {
   checkStack();
   if (level > any.last) return Found::No;
   const bool onlyLeaves = any.first == PathNode::leaves && any.last == PathNode::leaves;
   Found result = Found::No;
   for (uint32_t i = 0; i < container.size(); ++i) {
      const PathItem element = container.element(i);
      if (level >= any.first || (onlyLeaves && !element.isContainer())) {
         const Restored keep(ignoresStructure_, true);
         if (any.next) {
            result = chain(any.next, element, found, isLax_);
            if (result == Found::Error || (result == Found::Yes && !found)) break;
         } else if (found) {
            tick();
            found->add(element);
         } else {
            return Found::Yes;
         }
      }
      if (level < any.last && element.isContainer()) {
         result = descend(any, element.view(), found, level + 1);
         if (result == Found::Error || (result == Found::Yes && !found)) break;
      }
   }
   return result;
}

PathEvaluation::Found PathEvaluation::subscripts(const PathNode& node, const PathItem& item, PathItems* found) {
   if (!item.isArray() && !isLax_) {
      if (ignoresStructure_) return Found::No;
      return fail(sqlstate::sqlJsonArrayNotFound, "jsonpath array accessor can only be applied to an array");
   }
   const int64_t size = item.isArray() ? item.view().size() : 1;
   const Restored keep(arraySize_);
   Found result = Found::No;
   for (const json::PathSubscript& subscript : node.subscripts) {
      arraySize_ = size;
      int32_t from = 0, to = 0;
      result = index(subscript.from, item, from);
      if (result == Found::Error) return result;
      to = from;
      if (subscript.to && (result = index(subscript.to, item, to)) == Found::Error) return result;
      if (!ignoresStructure_ && (from < 0 || from > to || to >= size))
         return fail(sqlstate::invalidSqlJsonSubscript, "jsonpath array subscript is out of bounds");
      result = Found::No;
      const int64_t end = std::min<int64_t>(to, size - 1);
      for (int64_t i = std::max(from, 0); i <= end; ++i) {
         if (!node.next && !found) return Found::Yes;
         tick();
         const PathItem element = item.isArray() ? item.view().element(static_cast<uint32_t>(i)) : item;
         result = next(&node, element, found);
         if (result == Found::Error || (result == Found::Yes && !found)) return result;
      }
   }
   return result;
}

/// A subscript, without what is behind its point.
PathEvaluation::Found PathEvaluation::index(const PathNode* node, const PathItem& item, int32_t& out) {
   StringView number = node->number;
   if (node->op != PathOp::Number || node->next) { // mostly it is a number alone
      PathItems found(arena_);
      if (chain(node, item, &found, isLax_) == Found::Error) return Found::Error;
      if (found.size() != 1 || !found[0].isNumber())
         return fail(sqlstate::invalidSqlJsonSubscript, "jsonpath array subscript is not a single numeric value");
      number = found[0].number();
   }
   const StringView whole = decimal::truncate(number, 0, arena_);
   const std::optional<int64_t> value = decimal::toInt64(whole, 0);
   if (!value || *value < INT32_MIN || *value > INT32_MAX)
      return fail(sqlstate::invalidSqlJsonSubscript, "jsonpath array subscript is out of integer range");
   out = static_cast<int32_t>(*value);
   return Found::Yes;
}

PathItem PathEvaluation::variable(std::string_view name) {
   const std::optional<JsonbView> value = variables_ ? variables_->find(name) : std::nullopt;
   if (!value)
      throw SqlError(sqlstate::undefinedObject, "could not find jsonpath variable \"" + std::string(name) + '"');
   base_ = {&*variables_, 1};
   return *value;
}

PathEvaluation::Found PathEvaluation::unwrapped(const PathNode* node, const PathItem& item, PathItems& found) {
   const Found result = chain(node, item, &found, isLax_);
   if (result == Found::Error || !isLax_) return result;
   if (std::none_of(found.begin(), found.end(), [](const PathItem& i) { return i.isArray(); })) return Found::Yes;
   PathItems all(arena_);
   for (const PathItem& each : found) {
      if (each.isArray())
         elements(nullptr, each.view(), &all, false);
      else
         all.add(each);
   }
   found.replaceBy(all);
   return Found::Yes;
}

} // namespace ouzel::executor
