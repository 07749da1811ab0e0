#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/json/jsonb_writer.hpp"

namespace ouzel::executor {

/// Changes one place of a jsonb value: jsonb_set, jsonb_insert, #- and assignments to subscripts. The rest of the value
/// is copied in whole parts. Messages are PostgreSQL's.
class JsonbPathEdit {
public:
   /// What happens at the end of the path.
   enum class Change : uint8_t { Replace, ReplaceOrCreate, Delete, InsertBefore, InsertAfter };
   /// A key or the text of a subscript; nothing stands for NULL.
   using Path = std::vector<std::optional<std::string>>;

   /// `isAssignment`: the containers on the path are made where they are missing, and arrays are filled up with nulls;
   /// a scalar on the path and a subscript before an array's beginning are errors. `value`: null for Delete; stays
   /// until the writer's finish(). REQUIRES: `path` is not empty.
   JsonbPathEdit(json::JsonbWriter& writer, const Path& path, Change change, bool isAssignment,
                 const json::JsonbView* value)
      : writer_(writer), path_(path), change_(change), isAssignment_(isAssignment), value_(value) {}

   /// Describes the changed value to the writer.
   void apply(const json::JsonbView& target) { visit(target, 0); }

private:
   bool creates() const { return change_ != Change::Replace && change_ != Change::Delete; }
   bool isLast(size_t level) const { return level + 1 == path_.size(); }
   void visit(const json::JsonbView& target, size_t level);
   void visitArray(const json::JsonbView& array, size_t level);
   void visitObject(const json::JsonbView& object, size_t level);
   /// The index for a subscript: INT64_MIN for a place before the array, array.size() and more for places behind it.
   int64_t indexOf(const json::JsonbView& array, size_t level) const;
   void change(const json::JsonbView& element);
   /// The containers from `level` + 1 on, with the value in the innermost one.
   void makeRest(size_t level);
   void put() { writer_.value(*value_); }

   json::JsonbWriter& writer_;
   const Path& path_;
   const Change change_;
   const bool isAssignment_;
   const json::JsonbView* const value_;
};

} // namespace ouzel::executor
