#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/json/jsonb.hpp"
#include "common/memory/ledger.hpp"

namespace ouzel::json {

/// Makes the bytes of one jsonb value. The value is described depth first:
///
///    writer.beginObject();
///    writer.key("a");
///    writer.number(decimal::fromInt64(1));
///    writer.endObject();
///    std::string bytes = writer.finish();
///
/// Objects sort their keys when they end; of equal keys the last one stays. The time is linear in the size of the
/// value, but for the sorting. finish() leaves the writer empty; it keeps its memory for the next value unless that was
/// charged. Throws 54000 where PostgreSQL's jsonb has its limits.
class JsonbWriter {
public:
   /// While it lives, the writer's memory is charged to the reservation, if that is not null. Begins and ends with an
   /// empty writer.
   class Use {
   public:
      Use(JsonbWriter& writer, Reservation* reservation);
      ~Use();
      Use(const Use&) = delete;
      Use& operator=(const Use&) = delete;

   private:
      JsonbWriter& writer_;
   };

   JsonbWriter() = default;
   JsonbWriter(const JsonbWriter&) = delete;
   JsonbWriter& operator=(const JsonbWriter&) = delete;

   void null();
   void nulls(uint64_t count); ///< as elements of an array
   void boolean(bool value);
   void number(StringView decimal); ///< REQUIRES: finite
   void string(std::string_view text);
   /// A whole value. REQUIRES: its bytes stay until finish().
   void value(const JsonbView& value);
   void beginArray();
   void endArray();
   void beginObject();
   /// The key of the member whose value follows. REQUIRES: in an object.
   void key(std::string_view text);
   void endObject();

   /// Containers that have begun and not ended.
   uint32_t depth() const { return static_cast<uint32_t>(open_.size()); }
   bool isEmpty() const { return nodes_.empty(); }
   /// REQUIRES: one whole value was described.
   std::string finish();
   /// The same in two steps: how many bytes there are, and the bytes at `target`, which has room for them.
   size_t finishedSize() const;
   void finishInto(char* target);
   /// Forgets what was described.
   void clear();

private:
   enum class NodeKind : uint8_t { Literal, Integer, Number, String, Key, Value, Array, Object };
   /// A value or key. Containers precede what they contain.
   struct Node {
      NodeKind kind;
      uint8_t payload = 0; ///< of a literal or integer; the width of a container's words
      uint32_t size = 0;   ///< bytes of a text, or of another value in the result
      uint32_t end = 0;    ///< index of the node behind this one and its content
      uint32_t count = 0;  ///< of a container: elements, or members that stay
      union {
         uint64_t content = 0; ///< of a text: its place in texts_; of an object: its members' place in members_
         const char* foreign;  ///< of a whole value: its bytes
      };
   };
   static_assert(sizeof(Node) == 24);
   /// A member of an object: the nodes of its key and value.
   struct Member {
      uint32_t key;
      uint32_t value;
   };

   /// Makes room for `more` items of a vector or string, charged.
   template <typename Items>
   void makeRoom(Items& items, size_t more);
   Node& add(NodeKind kind);
   void addText(NodeKind kind, std::string_view text);
   std::string_view textOf(const Node& node) const { return {texts_.data() + node.content, node.size}; }
   std::string_view keyOf(const Member& member) const { return textOf(nodes_[member.key]); }
   void beginContainer(NodeKind kind);
   void setSize(Node& container, uint64_t count, uint64_t keyBytes, uint64_t valueBytes);
   /// Sorts what was appended to members_ since `from` and drops all but the last of equal keys.
   void sortMembers(size_t from);
   /// The bytes of a value in the result.
   static uint64_t sizeOf(const Node& node);
   void write(const Node& node, char*& out) const;
   void writeContainer(const Node& node, char*& out) const;

   std::vector<Node> nodes_;
   std::vector<uint32_t> open_;  ///< the containers around, outermost first
   std::vector<Member> members_; ///< of the objects that ended
   std::string texts_;
   Reservation* reservation_ = nullptr;
   size_t charged_ = 0;
};

} // namespace ouzel::json
