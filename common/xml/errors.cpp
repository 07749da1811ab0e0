#include "common/xml/errors.hpp"

#include <cstdarg>
#include <cstdio>
#include <libxml/globals.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <libxml/xmlerror.h>
#include <libxml/xpath.h>

#include "common/xml/document.hpp"

namespace ouzel::xml {

namespace {

void removeLineFeeds(std::string& text) {
   while (!text.empty() && text.back() == '\n')
      text.pop_back();
}

void startLine(std::string& text) {
   removeLineFeeds(text);
   if (!text.empty()) text.push_back('\n');
}

[[gnu::format(printf, 2, 3)]] void appendPrinted(void* text, const char* format, ...) {
   va_list args;
   va_start(args, format);
   char line[512]; // a line of the input, which libxml2 cuts at 80 characters
   const int size = std::vsnprintf(line, sizeof line, format, args);
   va_end(args);
   if (size > 0)
      static_cast<std::string*>(text)->append(line, std::min<size_t>(static_cast<size_t>(size), sizeof line - 1));
}

[[gnu::format(printf, 2, 3)]] void ignore(void*, const char*, ...) {}

/// The line of the input where the parser is, and a line that points to the place.
void appendContext(std::string& text, xmlParserInputPtr input) {
   const xmlGenericErrorFunc outer = xmlGenericError;
   void* const outerTarget = xmlGenericErrorContext;
   xmlSetGenericErrorFunc(&text, appendPrinted);
   startLine(text);
   xmlParserPrintFileContext(input);
   xmlSetGenericErrorFunc(outerTarget, outer);
}

/// Some errors have to do with namespaces, though libxml2 reports them among those of the parser, or as warnings.
bool isAboutNamespaces(int code) {
   switch (code) {
   case XML_WAR_NS_URI:
   case XML_ERR_NS_DECL_ERROR:
   case XML_WAR_NS_URI_RELATIVE:
   case XML_WAR_NS_COLUMN:
   case XML_NS_ERR_XML_NAMESPACE:
   case XML_NS_ERR_UNDEFINED_NAMESPACE:
   case XML_NS_ERR_QNAME:
   case XML_NS_ERR_ATTRIBUTE_REDEFINED:
   case XML_NS_ERR_EMPTY: return true;
   default: return false;
   }
}

bool isAboutGrammar(const xmlError& error) {
   if (isAboutNamespaces(error.code)) return false;
   return error.domain == XML_FROM_PARSER || error.domain == XML_FROM_NONE || error.domain == XML_FROM_MEMORY ||
          error.domain == XML_FROM_IO;
}

std::string describe(const xmlError& error) {
   std::string text;
   if (error.line > 0) text = "line " + std::to_string(error.line) + ": ";
   const auto* node = static_cast<const xmlNode*>(error.node);
   if (node && node->type == XML_ELEMENT_NODE && node->name)
      text.append("element ").append(reinterpret_cast<const char*>(node->name)).append(": ");
   text.append(error.message ? error.message : "(no message provided)");
   const bool isOfParser = error.domain != XML_FROM_XPATH && error.domain != XML_FROM_TREE;
   const auto* parser = isOfParser ? static_cast<const xmlParserCtxt*>(error.ctxt) : nullptr;
   if (parser && parser->input) appendContext(text, parser->input);
   removeLineFeeds(text);
   return text;
}

} // namespace

Errors::Errors(Strictness strictness) : strictness_(strictness) {
   prepareLibrary();
   outerTarget_ = xmlStructuredErrorContext;
   outerHandler_ = xmlStructuredError;
   xmlSetStructuredErrorFunc(this, handle);
   outerPrinter_ = xmlGenericError;
   outerStream_ = xmlGenericErrorContext;
   xmlSetGenericErrorFunc(nullptr, ignore); // the evaluation of paths prints some errors twice
}

Errors::~Errors() {
   xmlSetStructuredErrorFunc(outerTarget_, outerHandler_);
   xmlSetGenericErrorFunc(outerStream_, outerPrinter_);
}

void Errors::raise(SqlState state, const std::string& message) const {
   SqlError error(state, message);
   if (text_.empty()) throw error;
   throw std::move(error).detail(text_);
}

void Errors::handle(void* errors, _xmlError* error) {
   try {
      static_cast<Errors*>(errors)->note(*error);
   } catch (...) { // no memory for a text; libxml2 cannot pass exceptions on
      static_cast<Errors*>(errors)->hasOccurred_ = true;
   }
}

void Errors::note(const _xmlError& error) {
   if (error.domain == XML_FROM_XPATH && error.code == int{XML_XPATH_EXPRESSION_OK} + int{XPATH_OP_LIMIT_EXCEEDED}) {
      isPaused_ = true;
      return;
   }
   // DTDs are not loaded, so that entities are unknown which they declare.
   if (error.code == XML_WAR_UNDECLARED_ENTITY && error.domain == XML_FROM_PARSER) return;
   // Says once more that something is open or closed, at the end of the text.
   if (error.code == XML_ERR_NOT_WELL_BALANCED && hasOccurred_) return;
   if (strictness_ == Strictness::WellFormed && !isAboutGrammar(error)) return;
   const int level = error.code == XML_WAR_NS_URI ? XML_ERR_ERROR : error.level;
   if (level < XML_ERR_ERROR) return;
   startLine(text_);
   text_ += describe(error);
   hasOccurred_ = true;
}

} // namespace ouzel::xml
