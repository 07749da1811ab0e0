#include "common/xml/path.hpp"

#include <libxml/tree.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>
#include <utility>

#include "common/thread/interruption.hpp"
#include "common/xml/names.hpp"

namespace ouzel::xml {

namespace {

const xmlChar* chars(const std::string& text) {
   return reinterpret_cast<const xmlChar*>(text.c_str());
}

struct FreeChars {
   void operator()(xmlChar* text) const { xmlFree(text); }
};
using CharsPtr = std::unique_ptr<xmlChar, FreeChars>;

std::string_view viewOf(const xmlChar* text) {
   return text ? std::string_view(reinterpret_cast<const char*>(text)) : std::string_view();
}

[[noreturn, gnu::cold]] void throwOutOfMemory() {
   throw SqlError(sqlstate::outOfMemory, "out of memory").detail("libxml2 could not allocate memory.");
}

/// The copy has the namespaces that are declared around the node.
struct NodeCopy {
   explicit NodeCopy(xmlNodePtr node) : copy(xmlCopyNode(node, 1)) {
      if (!copy) throwOutOfMemory();
   }
   ~NodeCopy() {
      if (copy->type == XML_DOCUMENT_NODE)
         xmlFreeDoc(reinterpret_cast<xmlDocPtr>(copy));
      else
         xmlFreeNode(copy);
   }
   NodeCopy(const NodeCopy&) = delete;
   NodeCopy& operator=(const NodeCopy&) = delete;
   xmlNodePtr copy;
};

struct FreeBuffer {
   void operator()(xmlBufferPtr buffer) const { xmlBufferFree(buffer); }
};

} // namespace

Path::~Path() {
   xmlXPathFreeCompExpr(compiled_);
}

Path::Path(Path&& other) noexcept : compiled_(std::exchange(other.compiled_, nullptr)) {}

PathResult::~PathResult() {
   xmlXPathFreeObject(object_);
}

PathResult::Kind PathResult::kind() const {
   switch (object_->type) {
   case XPATH_NODESET: return Kind::Nodes;
   case XPATH_BOOLEAN: return Kind::Boolean;
   case XPATH_NUMBER: return Kind::Number;
   case XPATH_STRING: return Kind::String;
   default: return Kind::Other;
   }
}

std::span<_xmlNode* const> PathResult::nodes() const {
   const xmlNodeSet* set = object_->nodesetval;
   if (!set || set->nodeNr == 0) return {};
   return {set->nodeTab, static_cast<size_t>(set->nodeNr)};
}

bool PathResult::boolean() const {
   return object_->boolval != 0;
}
double PathResult::number() const {
   return object_->floatval;
}
std::string_view PathResult::string() const {
   return viewOf(object_->stringval);
}

std::string PathResult::text() const {
   const CharsPtr text(xmlXPathCastToString(object_));
   return std::string(viewOf(text.get()));
}

PathContext::PathContext(_xmlDoc* document, const Errors& errors)
   : document_(document), context_(xmlXPathNewContext(document)) {
   if (!context_) errors.raise(sqlstate::outOfMemory, "could not allocate XPath context");
}

PathContext::~PathContext() {
   xmlXPathFreeContext(context_);
}

void PathContext::bindNamespace(const std::string& prefix, const std::string& uri) {
   if (xmlXPathRegisterNs(context_, chars(prefix), chars(uri)) != 0)
      throw SqlError(sqlstate::internalError,
                     "could not register XML namespace with name \"" + prefix + "\" and URI \"" + uri + "\"");
}

Path PathContext::compile(const std::string& text, const Errors& errors, SqlState state) const {
   Path path(xmlXPathCtxtCompile(context_, chars(text))); // bounds the nesting, as xmlXPathCompile() does not
   if (!path.get() || errors.hasOccurred()) errors.raise(state, "invalid XPath expression");
   return path;
}

std::unique_ptr<PathResult> PathContext::evaluate(const Path& path, Errors& errors, _xmlNode* node) const {
   xmlXPathObjectPtr object = nullptr;
   // libxml2 calls nobody while it evaluates. What takes long begins anew with more steps, when the statement may go
   // on.
   constexpr unsigned long stepsFirst = 100'000'000, growth = 8; // two seconds
   for (unsigned long steps = stepsFirst; !object; steps *= growth) {
      context_->node = node ? node : reinterpret_cast<xmlNodePtr>(document_);
      context_->opLimit = steps;
      context_->opCount = 0;
      context_->depth = 0;
      object = xmlXPathCompiledEval(path.get(), context_);
      if (object) break;
      if (!errors.takePause()) errors.raise(sqlstate::internalError, "could not create XPath object");
      xmlResetError(&context_->lastError);
      checkInterrupted();
   }
   context_->opLimit = 0; // for paths that are compiled
   auto result = std::make_unique<PathResult>(object);
   if (errors.hasOccurred()) errors.raise(sqlstate::internalError, "could not create XPath object");
   return result;
}

void appendNode(std::string& out, _xmlNode* node) {
   if (node->type == XML_ATTRIBUTE_NODE || node->type == XML_TEXT_NODE || node->type == XML_NAMESPACE_DECL) {
      const CharsPtr text(xmlXPathCastNodeToString(node));
      return appendEscaped(out, viewOf(text.get()));
   }
   const NodeCopy copied(node);
   const std::unique_ptr<xmlBuffer, FreeBuffer> buffer(xmlBufferCreate());
   if (!buffer || xmlNodeDump(buffer.get(), nullptr, copied.copy, 0, 0) < 0) throwOutOfMemory();
   out.append(reinterpret_cast<const char*>(xmlBufferContent(buffer.get())),
              static_cast<size_t>(xmlBufferLength(buffer.get())));
}

} // namespace ouzel::xml
