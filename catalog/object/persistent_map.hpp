#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "common/error/check.hpp"

namespace ouzel::catalog {

/// An ordered, immutable map: an AVL tree with path copying. A change makes a new map that shares all but O(log n)
/// nodes with the old map. A map is a pointer, so a copy is cheap. Nodes are immutable, so any thread may read any
/// version.
template <typename Key, typename Value, typename Less = std::less<>>
class PersistentMap {
public:
   /// Null if the key is not in the map. The pointer is valid as long as this map, or another map that shares the node.
   template <typename K>
   const Value* find(const K& key) const {
      const Node* node = root_.get();
      while (node != nullptr) {
         if (Less{}(key, node->key))
            node = node->left.get();
         else if (Less{}(node->key, key))
            node = node->right.get();
         else
            return &node->value;
      }
      return nullptr;
   }
   [[nodiscard]] PersistentMap with(Key key, Value value) const {
      return PersistentMap(insert(root_, std::move(key), std::move(value)));
   }
   template <typename K>
   [[nodiscard]] PersistentMap without(const K& key) const {
      return find(key) == nullptr ? *this : PersistentMap(erase(root_, key));
   }
   size_t size() const { return root_ ? root_->size : 0; }
   bool empty() const { return root_ == nullptr; }

   /// Visits the entries with key >= `from` in order until `visit(key, value)` returns false.
   template <typename K, typename Visit>
   void visitFrom(const K& from, Visit&& visit) const {
      walkFrom(root_.get(), from, visit);
   }
   template <typename Visit>
   void forEach(Visit&& visit) const {
      walk(root_.get(), visit);
   }

private:
   struct Node;
   using Link = std::shared_ptr<const Node>;
   struct Node {
      Link left, right;
      Key key;
      Value value;
      uint32_t height;
      size_t size;
   };

   explicit PersistentMap(Link root) : root_(std::move(root)) {}

   static uint32_t height(const Link& link) { return link ? link->height : 0; }
   static size_t sizeOf(const Link& link) { return link ? link->size : 0; }
   static Link make(Link left, Key key, Value value, Link right) {
      const uint32_t tall = std::max(height(left), height(right)) + 1;
      const size_t size = sizeOf(left) + sizeOf(right) + 1;
      DCHECK(height(left) <= height(right) + 1); // the invariant of an AVL tree
      DCHECK(height(right) <= height(left) + 1);
      DCHECK(!left || Less{}(left->key, key));
      DCHECK(!right || Less{}(key, right->key));
      return std::make_shared<const Node>(
          Node{std::move(left), std::move(right), std::move(key), std::move(value), tall, size});
   }
   /// Joins two trees whose heights differ by at most two.
   static Link balance(const Link& left, const Key& key, const Value& value, const Link& right) {
      DCHECK(height(left) <= height(right) + 2);
      DCHECK(height(right) <= height(left) + 2);
      if (height(left) > height(right) + 1) {
         if (height(left->left) >= height(left->right))
            return make(left->left, left->key, left->value, make(left->right, key, value, right));
         const Link& middle = left->right;
         return make(make(left->left, left->key, left->value, middle->left), middle->key, middle->value,
                     make(middle->right, key, value, right));
      }
      if (height(right) > height(left) + 1) {
         if (height(right->right) >= height(right->left))
            return make(make(left, key, value, right->left), right->key, right->value, right->right);
         const Link& middle = right->left;
         return make(make(left, key, value, middle->left), middle->key, middle->value,
                     make(middle->right, right->key, right->value, right->right));
      }
      return make(left, key, value, right);
   }
   static Link insert(const Link& node, Key key, Value value) {
      if (!node) return make(nullptr, std::move(key), std::move(value), nullptr);
      if (Less{}(key, node->key))
         return balance(insert(node->left, std::move(key), std::move(value)), node->key, node->value, node->right);
      if (Less{}(node->key, key))
         return balance(node->left, node->key, node->value, insert(node->right, std::move(key), std::move(value)));
      return make(node->left, std::move(key), std::move(value), node->right);
   }
   template <typename K>
   static Link erase(const Link& node, const K& key) {
      DCHECK(node != nullptr); // without() found the key
      if (Less{}(key, node->key)) return balance(erase(node->left, key), node->key, node->value, node->right);
      if (Less{}(node->key, key)) return balance(node->left, node->key, node->value, erase(node->right, key));
      if (!node->left) return node->right;
      if (!node->right) return node->left;
      const Node* next = node->right.get();
      while (next->left)
         next = next->left.get();
      return balance(node->left, next->key, next->value, erase(node->right, next->key));
   }
   template <typename Visit>
   static void walk(const Node* node, Visit& visit) {
      if (node == nullptr) return;
      walk(node->left.get(), visit);
      visit(node->key, node->value);
      walk(node->right.get(), visit);
   }
   template <typename K, typename Visit>
   static bool walkFrom(const Node* node, const K& from, Visit& visit) {
      if (node == nullptr) return true;
      if (Less{}(node->key, from)) return walkFrom(node->right.get(), from, visit);
      return walkFrom(node->left.get(), from, visit) && visit(node->key, node->value) &&
             walkFrom(node->right.get(), from, visit);
   }

   Link root_;

public:
   PersistentMap() = default;
};

} // namespace ouzel::catalog
