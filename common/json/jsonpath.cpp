#include "common/json/jsonpath.hpp"

#include <vector>

#include "common/error/sql_error.hpp"
#include "common/number/decimal.hpp"
#include "common/text/utf8.hpp"
#include "common/thread/stack.hpp"

// The bytes of jsonpath.

namespace ouzel::json {

namespace {

constexpr uint8_t hasNextBit = 0x80;

[[noreturn, gnu::cold]] void throwDamaged() {
   throw SqlError(sqlstate::dataCorrupted, "damaged jsonpath value");
}

/// Whether the bytes are a finite decimal: decimal.hpp's functions trust that they are.
bool isCanonical(StringView number) {
   if (number.size() < decimal::headerBytes || !decimal::isFinite(number)) return false;
   if (number.size() == decimal::headerBytes) return (decimal::header(number) & decimal::kindNegative) == 0;
   return number.view().back() != 0;
}

class PathEncoder {
public:
   std::string run(const JsonPath& path) {
      byte(path.isLax ? 1 : 0);
      chain(path.root);
      return std::move(out_);
   }

private:
   void byte(uint8_t value) { out_.push_back(static_cast<char>(value)); }
   void number(uint64_t value) {
      for (; value >= 0x80; value >>= 7)
         byte(static_cast<uint8_t>(value | 0x80));
      byte(static_cast<uint8_t>(value));
   }
   void text(std::string_view value) {
      number(value.size());
      out_.append(value);
   }
   void level(uint32_t value) { number(value == PathNode::leaves ? 0 : uint64_t{value} + 1); }

   void chain(const PathNode* node) {
      checkStack();
      for (; node; node = node->next)
         item(*node);
   }
   void item(const PathNode& node) {
      byte(static_cast<uint8_t>(static_cast<uint8_t>(node.op) | (node.next ? hasNextBit : 0)));
      switch (node.op) {
      case PathOp::String:
      case PathOp::Variable:
      case PathOp::Key: return text(node.text);
      case PathOp::Number: return text(node.number.view());
      case PathOp::Boolean: return byte(node.boolean ? 1 : 0);
      case PathOp::Any: level(node.first); return level(node.last);
      case PathOp::DateTime: byte(node.boolean ? 1 : 0); return text(node.text);
      case PathOp::Subscripts:
         number(node.subscripts.size());
         for (const PathSubscript& subscript : node.subscripts) {
            byte(subscript.to ? 1 : 0);
            chain(subscript.from);
            if (subscript.to) chain(subscript.to);
         }
         return;
      case PathOp::LikeRegex:
         byte(node.regexFlags);
         text(node.text);
         return chain(node.left);
      default:
         if (hasTwoOperands(node.op) || hasOneOperand(node.op)) chain(node.left);
         if (hasTwoOperands(node.op)) chain(node.right);
      }
   }

   std::string out_;
};

class PathDecoder {
public:
   PathDecoder(std::string_view bytes, Arena& arena) : bytes_(bytes), arena_(arena) {}

   JsonPath run() {
      JsonPath path;
      path.isLax = flag();
      path.root = chain(Role::Items);
      if (at_ != bytes_.size()) throwDamaged();
      return path;
   }

private:
   /// What is expected of a chain.
   enum class Role : uint8_t { Items, Truth };

   uint8_t byte() {
      if (at_ >= bytes_.size()) throwDamaged();
      return static_cast<uint8_t>(bytes_[at_++]);
   }
   bool flag() {
      const uint8_t value = byte();
      if (value > 1) throwDamaged();
      return value == 1;
   }
   uint64_t number() {
      uint64_t value = 0;
      for (uint32_t shift = 0; shift < 42; shift += 7) {
         const uint8_t next = byte();
         value |= uint64_t{next & 0x7fu} << shift;
         if (next < 0x80) {
            if (next == 0 && shift > 0) throwDamaged(); // there is a shorter form
            return value;
         }
      }
      throwDamaged();
   }
   std::string_view piece() {
      const uint64_t size = number();
      if (size > bytes_.size() - at_) throwDamaged();
      const std::string_view value = bytes_.substr(at_, size);
      at_ += size;
      return value;
   }
   std::string_view text() {
      const std::string_view value = piece();
      if (findInvalidUtf8(value) != value.size()) throwDamaged();
      return value;
   }
   uint32_t level() {
      const uint64_t value = number();
      if (value > UINT32_MAX) throwDamaged();
      return value == 0 ? PathNode::leaves : static_cast<uint32_t>(value - 1);
   }

   const PathNode* chain(Role role) {
      checkStack();
      const PathNode* head = nullptr;
      const PathNode** place = &head;
      bool hasNext = true;
      while (hasNext) {
         const uint8_t first = byte();
         hasNext = (first & hasNextBit) != 0;
         if ((first & ~hasNextBit) >= pathOpCount) throwDamaged();
         auto* node = new (arena_.allocate(sizeof(PathNode), alignof(PathNode))) PathNode;
         node->op = static_cast<PathOp>(first & ~hasNextBit);
         const bool isHead = place == &head;
         if (isHead == isAccessor(node->op)) throwDamaged();
         if (role == Role::Truth && (!isPredicate(node->op) || hasNext)) throwDamaged();
         if (node->op == PathOp::Last && !isInSubscript_) throwDamaged();
         content(*node);
         *place = node;
         place = &node->next;
      }
      return head;
   }
   void content(PathNode& node) {
      switch (node.op) {
      case PathOp::String:
      case PathOp::Variable:
      case PathOp::Key: node.text = text(); return;
      case PathOp::Number:
         node.number = StringView(piece(), StringView::Storage::Permanent);
         if (!isCanonical(node.number)) throwDamaged();
         return;
      case PathOp::Boolean: node.boolean = flag(); return;
      case PathOp::Any:
         node.first = level();
         node.last = level();
         return;
      case PathOp::DateTime:
         node.boolean = flag();
         node.text = text();
         return;
      case PathOp::Subscripts: return subscripts(node);
      case PathOp::LikeRegex:
         node.regexFlags = byte();
         if (node.regexFlags > regexFlagsAll) throwDamaged();
         node.text = text();
         node.left = chain(Role::Items);
         return;
      default: {
         const Role role = joinsTruths(node.op) ? Role::Truth : Role::Items;
         if (hasTwoOperands(node.op) || hasOneOperand(node.op)) node.left = chain(role);
         if (hasTwoOperands(node.op)) node.right = chain(role);
      }
      }
   }
   void subscripts(PathNode& node) {
      const uint64_t count = number();
      if (count == 0 || count > bytes_.size() - at_) throwDamaged(); // each has two bytes at least
      auto* list = arena_.allocateArray<PathSubscript>(count);
      const bool isInOuter = isInSubscript_;
      isInSubscript_ = true;
      for (uint64_t i = 0; i < count; ++i) {
         const bool isRange = flag();
         const PathNode* from = chain(Role::Items);
         list[i] = {from, isRange ? chain(Role::Items) : nullptr};
      }
      isInSubscript_ = isInOuter;
      node.subscripts = {list, count};
   }

   std::string_view bytes_;
   Arena& arena_;
   size_t at_ = 0;
   bool isInSubscript_ = false;
};

} // namespace

const char* pathOpName(PathOp op) {
   switch (op) {
   case PathOp::And: return "&&";
   case PathOp::Or: return "||";
   case PathOp::Equal: return "==";
   case PathOp::NotEqual: return "!=";
   case PathOp::Less: return "<";
   case PathOp::LessOrEqual: return "<=";
   case PathOp::Greater: return ">";
   case PathOp::GreaterOrEqual: return ">=";
   case PathOp::StartsWith: return "starts with";
   case PathOp::LikeRegex: return "like_regex";
   case PathOp::Plus:
   case PathOp::Add: return "+";
   case PathOp::Minus:
   case PathOp::Subtract: return "-";
   case PathOp::Multiply: return "*";
   case PathOp::Divide: return "/";
   case PathOp::Modulo: return "%";
   case PathOp::Type: return "type";
   case PathOp::Size: return "size";
   case PathOp::Abs: return "abs";
   case PathOp::Floor: return "floor";
   case PathOp::Ceiling: return "ceiling";
   case PathOp::Double: return "double";
   case PathOp::KeyValue: return "keyvalue";
   case PathOp::DateTime: return "datetime";
   default: throwInternal("jsonpath operation without a name");
   }
}

std::string encodePath(const JsonPath& path) {
   return PathEncoder().run(path);
}

JsonPath decodePath(std::string_view bytes, Arena& arena) {
   return PathDecoder(bytes, arena).run();
}

} // namespace ouzel::json
