#pragma once
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>

#include "common/json/jsonb.hpp"
#include "common/json/jsonb_writer.hpp"
#include "common/memory/arena.hpp"
#include "executor/function/date_time/formatting.hpp"

// What items of a jsonpath hand to each other.

namespace ouzel::executor {

/// A value of a document, in place, or one that the path made. Trivially copyable; owns nothing.
class PathItem {
public:
   enum class Kind : uint8_t { Null, Boolean, Number, String, DateTime, Array, Object };

   PathItem(const json::JsonbView& view) : view_(view), kind_(kindOf(view.kind())), isInPlace_(true) {}
   static PathItem null() { return PathItem(nullView(), Kind::Null); }
   static PathItem boolean(bool value) {
      PathItem item(nullView(), Kind::Boolean);
      item.boolean_ = value;
      return item;
   }
   /// A decimal, whose bytes outlive the item.
   static PathItem number(StringView value) {
      PathItem item(nullView(), Kind::Number);
      item.number_ = value;
      return item;
   }
   static PathItem string(std::string_view value) {
      PathItem item(nullView(), Kind::String);
      item.text_ = value;
      return item;
   }
   static PathItem dateTime(const DateTimeValue& value) {
      PathItem item(nullView(), Kind::DateTime);
      item.dateTime_ = value;
      return item;
   }

   Kind kind() const { return kind_; }
   bool isArray() const { return kind_ == Kind::Array; }
   bool isObject() const { return kind_ == Kind::Object; }
   bool isContainer() const { return kind_ >= Kind::Array; }
   bool isNumber() const { return kind_ == Kind::Number; }
   bool isString() const { return kind_ == Kind::String; }

   // REQUIRES: the item is of this kind.
   bool boolean() const { return isInPlace_ ? view_.boolean() : boolean_; }
   StringView number() const { return isInPlace_ ? view_.number() : number_; }
   std::string_view string() const { return isInPlace_ ? view_.string() : text_; }
   const DateTimeValue& dateTime() const { return dateTime_; }
   const json::JsonbView& view() const { return view_; } ///< of a container

   /// The bytes of the value where it lies in a document.
   std::optional<std::string_view> bytes() const { return isInPlace_ ? std::optional(view_.bytes()) : std::nullopt; }
   /// A point in time becomes its text.
   void write(json::JsonbWriter& writer) const;

private:
   PathItem(const json::JsonbView& view, Kind kind) : view_(view), kind_(kind) {}
   static const json::JsonbView& nullView();
   static Kind kindOf(json::Kind kind) {
      switch (kind) {
      case json::Kind::Null: return Kind::Null;
      case json::Kind::Boolean: return Kind::Boolean;
      case json::Kind::Number: return Kind::Number;
      case json::Kind::String: return Kind::String;
      case json::Kind::Array: return Kind::Array;
      case json::Kind::Object: return Kind::Object;
      }
      return Kind::Null;
   }

   json::JsonbView view_;
   Kind kind_;
   bool isInPlace_ = false;
   union {
      bool boolean_;
      StringView number_;
      std::string_view text_;
      DateTimeValue dateTime_;
   };
};
static_assert(std::is_trivially_copyable_v<PathItem>);

/// A sequence of items. The first two lie in the object, more in the arena.
class PathItems {
public:
   explicit PathItems(Arena& arena) : arena_(arena) {}
   PathItems(const PathItems&) = delete;

   void add(const PathItem& item) {
      if (size_ == capacity_) grow();
      std::memcpy(static_cast<void*>(items_ + size_), &item, sizeof item);
      ++size_;
   }
   uint32_t size() const { return size_; }
   const PathItem& operator[](uint32_t i) const { return items_[i]; }
   const PathItem* begin() const { return items_; }
   const PathItem* end() const { return items_ + size_; }
   void clear() { size_ = 0; }
   /// Takes the other sequence's items.
   void replaceBy(const PathItems& other);

private:
   static constexpr uint32_t inside = 2;
   void grow();

   Arena& arena_;
   uint32_t size_ = 0, capacity_ = inside;
   alignas(PathItem) std::byte inside_[inside * sizeof(PathItem)];
   PathItem* items_ = reinterpret_cast<PathItem*>(inside_);
};

} // namespace ouzel::executor
