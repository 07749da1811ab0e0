#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/xml/document.hpp"

struct _xmlNode;
struct _xmlXPathCompExpr;
struct _xmlXPathContext;
struct _xmlXPathObject;

// Paths (XPath 1.0) over documents. One thread at a time uses a context, and each call gets the Errors of strictness
// All that lives in the calling thread.

namespace ouzel::xml {

class Path {
public:
   explicit Path(_xmlXPathCompExpr* compiled) : compiled_(compiled) {}
   ~Path();
   Path(Path&& other) noexcept;
   Path& operator=(Path&&) = delete;
   _xmlXPathCompExpr* get() const { return compiled_; }

private:
   _xmlXPathCompExpr* compiled_;
};

class PathResult {
public:
   enum class Kind { Nodes, Boolean, Number, String, Other };

   explicit PathResult(_xmlXPathObject* object) : object_(object) {}
   ~PathResult();
   PathResult(const PathResult&) = delete;
   PathResult& operator=(const PathResult&) = delete;

   Kind kind() const;
   std::span<_xmlNode* const> nodes() const; ///< of Nodes, perhaps none
   bool boolean() const;
   double number() const;
   std::string_view string() const; ///< valid as long as the result
   /// As XPath's string() gives it: of Nodes, that of the first one.
   std::string text() const;

private:
   _xmlXPathObject* object_;
};

/// Evaluates paths over one document.
class PathContext {
public:
   PathContext(_xmlDoc* document, const Errors& errors);
   ~PathContext();
   PathContext(const PathContext&) = delete;
   PathContext& operator=(const PathContext&) = delete;

   void bindNamespace(const std::string& prefix, const std::string& uri);
   /// Throws an error of `state`, invalid XPath expression.
   Path compile(const std::string& text, const Errors& errors, SqlState state) const;
   /// From `node`; null: from the document. Throws an internal error, could not create XPath object, and
   /// what checkInterrupted() throws.
   std::unique_ptr<PathResult> evaluate(const Path& path, Errors& errors, _xmlNode* node = nullptr) const;

private:
   _xmlDoc* document_;
   _xmlXPathContext* context_;
};

/// Appends a node as a value of xml: an element with the namespaces that it needs, the escaped text of an attribute, a
/// text node or the address of a namespace.
void appendNode(std::string& out, _xmlNode* node);

} // namespace ouzel::xml
