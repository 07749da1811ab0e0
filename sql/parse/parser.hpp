#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct Node; // PostgreSQL's raw parse node, see pg_nodes.hpp

namespace ouzel::sql {

/// SQL text, which converts libpg_query's byte offsets to the positions that clients see.
class SourceText {
public:
   explicit SourceText(std::string_view text);

   const std::string& text() const { return text_; }
   /// Position in characters from 1 of a node's byte offset; 0 for an unknown (negative) offset.
   uint32_t position(int32_t location) const;

private:
   std::string text_;
   bool isAscii_;
};

/// One statement of a script.
struct ParsedStatement {
   const ::Node* node;    ///< SelectStmt, InsertStmt, CreateStmt, ...
   std::string_view text; ///< its part of the script, without the semicolon
   uint32_t offset;       ///< of `text` in the script, in bytes
};

/// The statements of an SQL text. Owns the parse tree and the text. It outlives the thread that has parsed it, and any
/// thread may destroy it. Many scripts may live at a time: views are parsed while a query is bound.
class ParsedScript {
public:
   /// Throws 22021 (invalid UTF-8), 42601 and relatives with the position of the error, 54001 for text nested too deep.
   static ParsedScript parse(std::string_view sql);
   /// Parses the text of one scalar expression, as the catalog keeps it; its tree is expression().
   static ParsedScript parseExpression(std::string_view expression);

   ParsedScript(ParsedScript&& other) noexcept;
   ParsedScript& operator=(ParsedScript&&) = delete;
   ~ParsedScript();

   const std::vector<ParsedStatement>& statements() const { return statements_; }
   /// REQUIRES: made by parseExpression.
   const ::Node* expression() const;
   const SourceText& source() const { return *source_; }

private:
   ParsedScript() = default;
   void* context_ = nullptr; ///< PostgreSQL's MemoryContext
   std::unique_ptr<SourceText> source_;
   std::vector<ParsedStatement> statements_;
};

} // namespace ouzel::sql
