#include "common/json/jsonb_writer.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "common/error/check.hpp"
#include "common/error/sql_error.hpp"
#include "common/json/jsonb_form.hpp"
#include "common/number/decimal.hpp"
#include "common/thread/stack.hpp"

namespace ouzel::json {

namespace {

// PostgreSQL's limits.
constexpr uint64_t containerBytesMax = 0x0FFFFFFF; // JENTRY_OFFLENMASK, also of a string
constexpr uint64_t elementsMax = 33'554'431;       // JSONB_MAX_ELEMS
constexpr uint64_t membersMax = 14'913'080;        // JSONB_MAX_PAIRS

/// A writer keeps parts of its memory up to this size without charging them.
constexpr size_t bytesUncharged = 16 << 10;

[[noreturn, gnu::cold]] void throwLimit(const char* what, uint64_t limit, const char* unit) {
   throw SqlError(sqlstate::programLimitExceeded, std::string(what) + std::to_string(limit) + unit);
}

/// Bytes of the length behind the header of a number or string.
uint32_t lengthBytes(uint32_t size) {
   return size <= form::shortMax ? 0 : size <= 0xFF ? 1 : size <= 0xFFFF ? 2 : size <= 0xFF'FFFF ? 3 : 4;
}

uint8_t wordWidth(uint64_t largest) {
   return largest <= 0xFF ? 1 : largest <= 0xFFFF ? 2 : 4;
}

void putHead(char*& out, form::Type type, uint32_t payload) {
   *out++ = static_cast<char>((static_cast<uint32_t>(type) << form::payloadBits) | payload);
}

void putWord(char*& out, uint32_t word, uint32_t width) {
   std::memcpy(out, &word, width); // little-endian
   out += width;
}

void putBytes(char*& out, const char* bytes, size_t size) {
   std::memcpy(out, bytes, size);
   out += size;
}

/// Writes the ends of items whose sizes follow.
class Ends {
public:
   Ends(char*& out, uint32_t width) : out_(out), width_(width) {}
   void add(uint32_t size) {
      end_ += size;
      putWord(out_, end_, width_);
   }

private:
   char*& out_;
   uint32_t width_;
   uint32_t end_ = 0;
};

} // namespace

JsonbWriter::Use::Use(JsonbWriter& writer, Reservation* reservation) : writer_(writer) {
   writer.clear();
   writer.reservation_ = reservation;
}

JsonbWriter::Use::~Use() {
   writer_.clear();
   writer_.reservation_ = nullptr;
}

template <typename Items>
void JsonbWriter::makeRoom(Items& items, size_t more) {
   if (items.capacity() - items.size() >= more) return;
   const size_t capacity = std::max(items.capacity() * 2, items.size() + more);
   const size_t bytes = capacity * sizeof(typename Items::value_type);
   if (reservation_ && bytes > bytesUncharged) {
      reservation_->grow(bytes); // the old items live until the new ones are there, and are charged until clear()
      charged_ += bytes;
   }
   items.reserve(capacity);
}

JsonbWriter::Node& JsonbWriter::add(NodeKind kind) {
   makeRoom(nodes_, 1);
   Node& node = nodes_.emplace_back();
   node.kind = kind;
   node.end = static_cast<uint32_t>(nodes_.size());
   return node;
}

void JsonbWriter::null() {
   Node& node = add(NodeKind::Literal);
   node.payload = form::literalNull;
   node.size = 1;
}

void JsonbWriter::nulls(uint64_t count) {
   if (count > elementsMax)
      throwLimit("number of jsonb array elements exceeds the maximum allowed (", elementsMax, ")");
   for (uint64_t i = 0; i < count; ++i)
      null();
}

void JsonbWriter::boolean(bool value) {
   Node& node = add(NodeKind::Literal);
   node.payload = value ? form::literalTrue : form::literalFalse;
   node.size = 1;
}

void JsonbWriter::number(StringView decimal) {
   DCHECK(decimal::isFinite(decimal));
   decimal::Scaled small;
   if (decimal.size() <= decimal::headerBytes + 1 && decimal::decode(decimal, small) && small.scale == 0 &&
       small.value >= 0 && small.value <= static_cast<int128>(form::integerMax)) {
      Node& node = add(NodeKind::Integer);
      node.payload = static_cast<uint8_t>(small.value);
      node.size = 1;
      return;
   }
   addText(NodeKind::Number, decimal.view());
}

void JsonbWriter::addText(NodeKind kind, std::string_view text) {
   if (text.size() > containerBytesMax)
      throw SqlError(sqlstate::programLimitExceeded, "string too long to represent as jsonb string")
          .detail("Due to an implementation restriction, jsonb strings cannot exceed 268435455 bytes.");
   makeRoom(texts_, text.size());
   Node& node = add(kind);
   node.content = texts_.size();
   node.size = static_cast<uint32_t>(text.size());
   texts_.append(text);
}

void JsonbWriter::string(std::string_view text) {
   addText(NodeKind::String, text);
}

void JsonbWriter::key(std::string_view text) {
   DCHECK(!open_.empty() && nodes_[open_.back()].kind == NodeKind::Object);
   addText(NodeKind::Key, text);
}

void JsonbWriter::value(const JsonbView& value) {
   const std::string_view bytes = value.bytes();
   if (bytes.size() > containerBytesMax)
      throwLimit("total size of jsonb array elements exceeds the maximum of ", containerBytesMax, " bytes");
   Node& node = add(NodeKind::Value);
   node.foreign = bytes.data();
   node.size = static_cast<uint32_t>(bytes.size());
}

void JsonbWriter::beginContainer(NodeKind kind) {
   open_.push_back(static_cast<uint32_t>(nodes_.size()));
   add(kind);
}

void JsonbWriter::beginArray() {
   beginContainer(NodeKind::Array);
}

void JsonbWriter::beginObject() {
   beginContainer(NodeKind::Object);
}

void JsonbWriter::setSize(Node& container, uint64_t count, uint64_t keyBytes, uint64_t valueBytes) {
   const bool isObject = container.kind == NodeKind::Object;
   if (count > (isObject ? membersMax : elementsMax))
      throwLimit(isObject ? "number of jsonb object pairs exceeds the maximum allowed ("
                          : "number of jsonb array elements exceeds the maximum allowed (",
                 isObject ? membersMax : elementsMax, ")");
   const uint8_t width = wordWidth(std::max({count, keyBytes, valueBytes}));
   const uint64_t size = 1 + width + count * width * (isObject ? 2 : 1) + keyBytes + valueBytes;
   if (size > containerBytesMax)
      throwLimit(isObject ? "total size of jsonb object elements exceeds the maximum of "
                          : "total size of jsonb array elements exceeds the maximum of ",
                 containerBytesMax, " bytes");
   container.payload = width;
   container.count = static_cast<uint32_t>(count);
   container.size = static_cast<uint32_t>(size);
   container.end = static_cast<uint32_t>(nodes_.size());
}

void JsonbWriter::endArray() {
   DCHECK(!open_.empty() && nodes_[open_.back()].kind == NodeKind::Array);
   const uint32_t self = open_.back();
   open_.pop_back();
   uint64_t count = 0, bytes = 0;
   for (size_t i = self + 1; i < nodes_.size(); i = nodes_[i].end, ++count)
      bytes += sizeOf(nodes_[i]);
   setSize(nodes_[self], count, 0, bytes);
}

void JsonbWriter::endObject() {
   DCHECK(!open_.empty() && nodes_[open_.back()].kind == NodeKind::Object);
   const uint32_t self = open_.back();
   open_.pop_back();
   const size_t from = members_.size();
   for (size_t i = self + 1; i < nodes_.size(); i = nodes_[i + 1].end) {
      makeRoom(members_, 1);
      members_.push_back({static_cast<uint32_t>(i), static_cast<uint32_t>(i + 1)});
   }
   sortMembers(from);
   uint64_t keyBytes = 0, valueBytes = 0;
   for (size_t i = from; i < members_.size(); ++i) {
      keyBytes += nodes_[members_[i].key].size;
      valueBytes += sizeOf(nodes_[members_[i].value]);
   }
   nodes_[self].content = from;
   setSize(nodes_[self], members_.size() - from, keyBytes, valueBytes);
}

void JsonbWriter::sortMembers(size_t from) {
   const auto first = members_.begin() + static_cast<ptrdiff_t>(from);
   const auto order = [&](const Member& a, const Member& b) { return form::compareKeys(keyOf(a), keyOf(b)); };
   const auto isAscending = [&] {
      for (size_t i = from + 1; i < members_.size(); ++i)
         if (order(members_[i - 1], members_[i]) >= 0) return false;
      return true;
   };
   if (isAscending()) return; // machine-made documents often are
   std::sort(first, members_.end(), [&](const Member& a, const Member& b) {
      const int keys = order(a, b);
      return keys != 0 ? keys < 0 : a.key > b.key; // the last of equal keys comes first
   });
   members_.erase(
       std::unique(first, members_.end(), [&](const Member& a, const Member& b) { return order(a, b) == 0; }),
       members_.end());
}

uint64_t JsonbWriter::sizeOf(const Node& node) {
   const bool isText = node.kind == NodeKind::Number || node.kind == NodeKind::String;
   return isText ? uint64_t{1} + lengthBytes(node.size) + node.size : node.size;
}

void JsonbWriter::write(const Node& node, char*& out) const {
   switch (node.kind) {
   case NodeKind::Literal: return putHead(out, form::Type::Literal, node.payload);
   case NodeKind::Integer: return putHead(out, form::Type::Integer, node.payload);
   case NodeKind::Number:
   case NodeKind::String: {
      const uint32_t more = lengthBytes(node.size);
      putHead(out, node.kind == NodeKind::Number ? form::Type::Number : form::Type::String,
              more == 0 ? node.size : form::shortMax + more);
      putWord(out, node.size, more);
      return putBytes(out, texts_.data() + node.content, node.size);
   }
   case NodeKind::Key: return putBytes(out, texts_.data() + node.content, node.size);
   case NodeKind::Value: return putBytes(out, node.foreign, node.size);
   case NodeKind::Array:
   case NodeKind::Object: return writeContainer(node, out);
   }
}

void JsonbWriter::writeContainer(const Node& node, char*& out) const {
   checkStack();
   const uint32_t width = node.payload;
   if (node.kind == NodeKind::Array) {
      putHead(out, form::Type::Array, width);
      putWord(out, node.count, width);
      const uint32_t first = static_cast<uint32_t>(&node - nodes_.data()) + 1;
      Ends ends(out, width);
      for (uint32_t i = first; i < node.end; i = nodes_[i].end)
         ends.add(static_cast<uint32_t>(sizeOf(nodes_[i])));
      for (uint32_t i = first; i < node.end; i = nodes_[i].end)
         write(nodes_[i], out);
      return;
   }
   putHead(out, form::Type::Object, width);
   putWord(out, node.count, width);
   const std::span<const Member> members(members_.data() + node.content, node.count);
   Ends keyEnds(out, width);
   for (const Member& member : members)
      keyEnds.add(nodes_[member.key].size);
   Ends valueEnds(out, width);
   for (const Member& member : members)
      valueEnds.add(static_cast<uint32_t>(sizeOf(nodes_[member.value])));
   for (const Member& member : members)
      write(nodes_[member.key], out);
   for (const Member& member : members)
      write(nodes_[member.value], out);
}

size_t JsonbWriter::finishedSize() const {
   DCHECK(open_.empty());
   DCHECK(!nodes_.empty() && nodes_[0].end == nodes_.size());
   return sizeOf(nodes_[0]);
}

void JsonbWriter::finishInto(char* target) {
   [[maybe_unused]] const char* end = target + finishedSize();
   write(nodes_[0], target);
   DCHECK(target == end);
   clear();
}

std::string JsonbWriter::finish() {
   std::string bytes(finishedSize(), '\0');
   finishInto(bytes.data());
   return bytes;
}

void JsonbWriter::clear() {
   if (charged_ != 0) {
      nodes_ = {};
      members_ = {};
      texts_ = {};
      reservation_->shrink(std::exchange(charged_, 0));
   }
   nodes_.clear();
   open_.clear();
   members_.clear();
   texts_.clear();
}

} // namespace ouzel::json
