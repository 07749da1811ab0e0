#pragma once
#include <string_view>

#include "sql/parse/pg_nodes.hpp"

// Typed access to raw parse nodes: tests of the tag, casts, and lists as ranges.

namespace ouzel::sql {

inline bool isNode(const ::Node* node, NodeTag tag) {
   return node && node->type == tag;
}

/// The node as T. REQUIRES: the caller has checked the tag.
template <typename T>
const T* as(const void* node) {
   return static_cast<const T*>(node);
}

/// A List of node pointers as a range of const T*.
template <typename T = ::Node>
class ListOf {
public:
   explicit ListOf(const ::List* list) : list_(list) {}

   class Iterator {
   public:
      explicit Iterator(const ListCell* cell) : cell_(cell) {}
      const T* operator*() const { return static_cast<const T*>(cell_->ptr_value); }
      Iterator& operator++() {
         ++cell_;
         return *this;
      }
      bool operator==(const Iterator&) const = default;

   private:
      const ListCell* cell_;
   };

   Iterator begin() const { return Iterator(list_ ? list_->elements : nullptr); }
   Iterator end() const { return Iterator(list_ ? list_->elements + list_->length : nullptr); }
   uint32_t size() const { return list_ ? static_cast<uint32_t>(list_->length) : 0; }
   bool empty() const { return size() == 0; }
   const T* operator[](uint32_t i) const { return static_cast<const T*>(list_->elements[i].ptr_value); }
   const T* front() const { return (*this)[0]; }
   const T* back() const { return (*this)[size() - 1]; }

private:
   const ::List* list_;
};

/// Text of a String node.
inline std::string_view stringOf(const void* node) {
   return static_cast<const ::String*>(node)->sval;
}
/// "a.b.*" from a list of String and A_Star nodes.
std::string joinNames(ListOf<> names);
/// A C string that may be null.
inline std::string_view textOf(const char* text) {
   return text ? std::string_view(text) : std::string_view();
}

/// Byte offset at which an expression begins in the text, for error positions; -1: unknown.
int32_t startLocation(const ::Node* node);

} // namespace ouzel::sql
