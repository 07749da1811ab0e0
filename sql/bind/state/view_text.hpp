#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/object/objects.hpp"
#include "common/value/value.hpp"

namespace ouzel::sql {

/// The text by which a literal of the catalog's texts is replaced; empty: it stays.
using LiteralText = std::function<std::string(const SqlType& type, const Value& value)>;

/// Collects, while a view's query is bound, replacements in the view's text and the relations and columns that the
/// query reads. With the replacements the text keeps its meaning when search_path or the columns of a table change.
/// After `rename` it collects the replacements for a new name instead. After `standalone` the text is an expression
/// that belongs to a table: a default, a CHECK constraint, a generated column. One per binding, on one thread.
class ViewTextRecorder {
public:
   /// Replaces `length` bytes of the source at `location`.
   void replace(uint32_t location, uint32_t length, std::string text);
   void readColumn(Oid relation, int16_t attribute);
   void readRelation(Oid relation);

   /// A new name for a relation (attribute 0) or for one of its columns.
   struct Rename {
      Oid relation = invalidOid;
      int16_t attribute = 0;
      std::string name;
   };
   /// From here on, collects replacements for the new name; `source` is the text that is bound.
   void rename(Rename rename, std::string_view source) {
      rename_ = std::move(rename);
      source_ = source;
   }
   /// From here on, collects replacements for relations that go to another schema; `source` is the text that is bound.
   void move(std::set<Oid> relations, std::string schema, std::string_view source) {
      moved_ = std::move(relations);
      schema_ = std::move(schema);
      source_ = source;
   }
   /// The text is an expression over the columns of one table, which may get another name or lend the expression to a
   /// copy: references lose the table's name. `source` is the text that is bound.
   void standalone(std::string_view source) {
      isStandalone_ = true;
      source_ = source;
   }
   /// The text belongs to a table, whose schema it does not name: references to it lose the schema. `source` is the
   /// text that is bound.
   void setOwner(Oid table, std::string_view source) {
      owner_ = table;
      source_ = source;
   }
   /// Collects nothing but replacements of literals from here on; `source` is the text that is bound.
   void relabel(const LiteralText& textFor, std::string_view source) {
      relabel_ = textFor;
      source_ = source;
   }
   /// The literal at `position` has this value.
   void isLiteral(uint32_t position, const SqlType& type, const Value& value);
   /// The reference that was entered last is a column of a relation (invalidOid: of something else).
   void isColumn(Oid relation);
   /// The reference that was entered last is a whole row of a relation (invalidOid: of something else).
   void isRow(Oid relation);
   bool readsRow() const { return readsRow_; }
   /// A string literal is bound. `position`: of expressions that stand for it; 0 records nothing.
   void enterLiteral(int32_t location, uint32_t position);
   /// The literal at `position` has a value that depends on the session's settings. It is replaced by `text`, which
   /// has the same value in every session.
   void fixLiteral(uint32_t position, std::string_view text, std::string_view source);
   /// The literal at `position` names a relation. It is replaced by '<OID>'::regclass, which goes on to mean the same
   /// relation; catalog::withRelationNames() shows its name again.
   void nameByOid(uint32_t position, Oid relation, std::string_view source);
   /// The call at `location`, whose name has `parts` parts, is one of a user's function: it gets its stored name.
   void nameFunction(int32_t location, uint32_t parts, Oid function, std::string_view source);
   /// From here on, relations that literals name are replaced by OIDs. Whoever asks for it keeps dependencies().
   void nameRelationsByOid() { namesByOid_ = true; }
   bool namesByOid() const { return namesByOid_; }
   /// Sets the reference that is bound next: its location (negative: none) and the number of its dotted parts.
   void enterReference(int32_t location, uint32_t parts) {
      location_ = location;
      parts_ = parts;
      isRenamed_ = isRow_ = false;
   }
   /// True if the last reference names the renamed column.
   bool isRenamed() const { return isRenamed_; }
   /// The output at `location` is a renamed reference without an alias: adds its old name as alias.
   void keepOutputName(int32_t location, std::string_view name);
   void renameTable(Oid relation, int32_t location, uint32_t parts, std::string_view alias);
   bool renamesColumn(Oid relation, int16_t attribute) const {
      return rename_.relation && rename_.relation == relation && rename_.attribute == attribute && attribute;
   }

   /// The text source[offset, offset + length) with all replacements inside it made.
   std::string apply(std::string_view source, uint32_t offset, uint32_t length) const;
   std::vector<catalog::Dependency> dependencies() const;

private:
   void replaceLiteral(uint32_t position, std::string_view source,
                       const std::function<std::string(std::string_view rest)>& textFor);
   struct Edit {
      uint32_t location, length;
      std::string text;
   };
   /// The relation's name, of `parts` parts at `location`, gets another schema if it moves.
   void moveName(Oid relation, int32_t location, uint32_t parts);

   std::vector<Edit> edits_;
   Rename rename_;
   LiteralText relabel_;
   std::set<Oid> moved_; ///< relations that go to schema_
   std::string schema_;
   Oid owner_ = invalidOid;
   std::string_view source_;
   int32_t location_ = -1;
   uint32_t parts_ = 1;
   bool isRenamed_ = false, isRow_ = false;
   bool isStandalone_ = false, readsRow_ = false, namesByOid_ = false;
   std::map<uint32_t, uint32_t> literals_; ///< byte offsets, by position
   std::vector<catalog::Dependency> reads_;
};

} // namespace ouzel::sql
