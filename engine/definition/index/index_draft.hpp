#pragma once
#include <string>
#include <string_view>

#include "engine/definition/definition.hpp"

struct IndexElem;

namespace ouzel::engine {

/// The texts of an index's elements and predicate in a statement.
struct IndexTexts {
   std::vector<std::string_view> elements; ///< keys, each with what follows it: COLLATE, operator class, WITH
   size_t end = 0;                         ///< offset behind the parenthesis that closes the list
};
/// `from`: an offset before the list, with no other parenthesis between.
IndexTexts indexTexts(std::string_view text, size_t from);

/// The expression at the begin of a text: one in parentheses, which are left out, or a call.
std::string_view expressionAt(std::string_view text);
/// Whether PostgreSQL prints the expression without parentheses around it: a call.
bool isPrintedBare(const ::Node* expression);
/// The columns of INCLUDE in a key's constraint. Throws 42703 at `position`.
std::vector<int16_t> includedColumns(const catalog::Relation& table, const ::Constraint& key, uint32_t position);
/// Gives the columns of the table's indexes the types that they have after a column's type has changed. Throws what
/// binding an expression over the new type throws.
void followType(SessionCore& core, const catalog::Relation& table, int16_t attribute, const SqlType& before);

/// The relation of a new index, column by column. Throws PostgreSQL's errors for what an index cannot have.
class IndexDraft {
public:
   /// Throws 42704 for a method that there is not.
   IndexDraft(CommandContext& context, const catalog::Relation& table, std::string method);

   /// Binds what the index computes, which is looked at before all else. REQUIRES: called once for each element.
   void bindExpression(const ::IndexElem& element);
   void addKey(const ::IndexElem& given, std::string_view text);
   void addIncluded(const ::IndexElem& element);
   void addIncluded(const catalog::Column& column);
   /// From now on gist takes what the extension btree_gist brings classes for.
   void allowPlainGist() { plainGist_ = true; }
   /// `text`: the predicate, in the statement's source.
   void setPredicate(const ::Node& predicate, std::string_view text);
   /// 0A000 if the method cannot have so many columns.
   void requireColumns(size_t keys, size_t included) const;

   catalog::IndexDefinition& index() { return *draft.index; }
   catalog::Relation draft;

private:
   void requireImmutable(const sql::BoundExpression& bound, const char* what);
   catalog::Column columnOf(const catalog::Column& column);
   catalog::Column expressionColumn(const ::IndexElem& element, std::string_view text);
   void setCollation(const ::IndexElem& element, catalog::Column& column) const;
   void setClass(const ::IndexElem& element, const SqlType& type);
   void setClass(Oid named);
   void setOrder(const ::IndexElem& element);
   void addColumn(catalog::Column column);
   bool isOrdered() const { return draft.index->method == "btree"; }

   CommandContext& context_;
   const catalog::Relation& table_;
   bool plainGist_ = false;
};

} // namespace ouzel::engine
