#include "common/xml/document.hpp"

#include <algorithm>
#include <cstring>
#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
#include <mutex>

#include "common/memory/ledger.hpp"
#include "common/thread/interruption.hpp"
#include "common/xml/declaration.hpp"
#include "common/xml/names.hpp"

namespace ouzel::xml {

namespace {

const xmlChar* chars(const std::string& text) {
   return reinterpret_cast<const xmlChar*>(text.c_str());
}

/// Gives an empty text for whatever lies outside.
xmlParserInputPtr emptyInput(const char*, const char*, xmlParserCtxtPtr parser) {
   return xmlNewStringInputStream(parser, reinterpret_cast<const xmlChar*>(""));
}
xmlParserInputPtr emptyEntity(void* parser, const xmlChar*, const xmlChar*) {
   return emptyInput(nullptr, nullptr, static_cast<xmlParserCtxtPtr>(parser));
}

/// An entity that would be read from elsewhere becomes an empty one. libxml2 looks whether there is such a file before
/// it asks for its text, so the name must not get there.
void declareEntity(void* parser, const xmlChar* name, int type, const xmlChar* publicId, const xmlChar* systemId,
                   xmlChar* content) {
   xmlChar empty[] = "";
   switch (type) {
   case XML_EXTERNAL_GENERAL_PARSED_ENTITY:
      return xmlSAX2EntityDecl(parser, name, XML_INTERNAL_GENERAL_ENTITY, nullptr, nullptr, empty);
   case XML_EXTERNAL_PARAMETER_ENTITY:
      return xmlSAX2EntityDecl(parser, name, XML_INTERNAL_PARAMETER_ENTITY, nullptr, nullptr, empty);
   default: return xmlSAX2EntityDecl(parser, name, type, publicId, systemId, content);
   }
}

/// The functions that a parser calls. Its errors go to the Errors that stand behind them; parsers that libxml2 makes
/// for the texts of entities use the same functions.
struct Handler {
   xmlSAXHandler functions{};
   Errors* errors;

   explicit Handler(Errors& target, bool replacesEntities) : errors(&target) {
      xmlSAXVersion(&functions, 2);
      functions.serror = [](void* parser, xmlErrorPtr error) {
         const auto* sax = static_cast<xmlParserCtxtPtr>(parser)->sax;
         Errors::handle(reinterpret_cast<const Handler*>(sax)->errors, error);
      };
      functions.resolveEntity = emptyEntity;
      if (replacesEntities) functions.entityDecl = declareEntity;
   }
};
static_assert(offsetof(Handler, functions) == 0);

/// A parser that calls a handler.
class Parser {
public:
   explicit Parser(Handler& handler) : parser_(xmlNewParserCtxt()) {
      if (!parser_) handler.errors->raise(sqlstate::outOfMemory, "could not allocate parser context");
      own_ = parser_->sax;
      parser_->sax = &handler.functions;
   }
   ~Parser() {
      parser_->sax = own_;
      xmlFreeParserCtxt(parser_);
   }
   Parser(const Parser&) = delete;
   Parser& operator=(const Parser&) = delete;
   xmlParserCtxtPtr get() const { return parser_; }

private:
   xmlParserCtxtPtr parser_;
   xmlSAXHandler* own_;
};

bool skipUntil(std::string_view& text, std::string_view end) {
   const size_t at = text.find(end);
   if (at == std::string_view::npos) return false;
   text.remove_prefix(at + end.size());
   return true;
}

/// Whether only blanks, comments and processing instructions stand before a DOCTYPE.
bool hasDoctype(std::string_view text) {
   for (;;) {
      while (!text.empty() && isBlank(text.front()))
         text.remove_prefix(1);
      constexpr std::string_view doctype = "<!DOCTYPE";
      if (text.starts_with(doctype)) return text.size() > doctype.size() && isBlank(text[doctype.size()]);
      if (text.starts_with("<!--")) {
         text.remove_prefix(4);
         const size_t end = text.find("--");
         if (end == std::string_view::npos || !text.substr(end).starts_with("-->")) return false;
         text.remove_prefix(end + 3);
      } else if (!text.starts_with("<?") || !skipUntil(text, "?>")) {
         return false;
      }
   }
}

bool isDocument(const std::string& text, Errors& errors) {
   Handler handler(errors, true);
   const Parser parser(handler);
   const DocumentPtr document(
       xmlCtxtReadDoc(parser.get(), chars(text), nullptr, "UTF-8", XML_PARSE_NOENT | XML_PARSE_DTDATTR));
   return document && !errors.hasOccurred();
}

/// `text` begins behind the declaration.
bool isContent(const std::string& text, const Declaration& declaration, Errors& errors) {
   if (text.empty()) return true;
   const DocumentPtr document(xmlNewDoc(declaration.version ? chars(*declaration.version) : nullptr));
   if (!document) errors.raise(sqlstate::outOfMemory, "could not allocate XML document");
   document->encoding = xmlStrdup(reinterpret_cast<const xmlChar*>("UTF-8"));
   document->standalone = static_cast<int>(declaration.standalone);
   const xmlNodePtr root = xmlNewNode(nullptr, reinterpret_cast<const xmlChar*>("content-root"));
   if (!root) errors.raise(sqlstate::outOfMemory, "could not allocate XML node");
   xmlDocSetRootElement(document.get(), root);
   // The parser is libxml2's own. It declares no entities, for there is no DOCTYPE, and reports to the thread's
   // handler.
   xmlNodePtr nodes = nullptr;
   const int code = xmlParseInNodeContext(root, text.c_str(), static_cast<int>(text.size()),
                                          XML_PARSE_NOENT | XML_PARSE_DTDATTR, &nodes);
   xmlFreeNodeList(nodes);
   return code == XML_ERR_OK && !errors.hasOccurred();
}

/// Calls `fail(state, message, detail)` if the text is wrong; a null detail: the errors have it. False then.
template <typename Fail>
bool parse(std::string_view text, Option option, Errors& errors, Fail&& fail) {
   if (option == Option::Document) {
      if (isDocument(std::string(text), errors)) return true;
      fail(sqlstate::invalidXmlDocument, "invalid XML document", nullptr);
      return false;
   }
   Declaration declaration;
   if (const DeclarationError error = readDeclaration(text, declaration); error.detail) {
      fail(sqlstate::invalidXmlContent, "invalid XML content: invalid XML declaration", error.detail);
      return false;
   }
   const std::string_view content = text.substr(declaration.size);
   const bool isValid = hasDoctype(content) ? isDocument(std::string(text), errors)
                                            : isContent(std::string(content), declaration, errors);
   if (!isValid) fail(sqlstate::invalidXmlContent, "invalid XML content", nullptr);
   return isValid;
}

} // namespace

void prepareLibrary() {
   static std::once_flag once;
   std::call_once(once, [] {
      xmlInitParser();
      xmlSetExternalEntityLoader(emptyInput); // the process's; handlers do not let parsers get here
   });
}

void FreeDocument::operator()(_xmlDoc* document) const {
   xmlFreeDoc(document);
}

TreeCharge::TreeCharge(std::string_view text, Reservation* reservation) : reservation_(reservation) {
   if (!reservation) return;
   // Elements and texts are nodes of 120 bytes; an attribute is two.
   constexpr size_t bytesOfParser = 16 << 10, bytesOfNode = 128;
   const auto nodes =
       static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return c == '<' || c == '='; }));
   bytes_ = bytesOfParser + 2 * text.size() + nodes * 2 * bytesOfNode;
   reservation->grow(bytes_);
}

TreeCharge::~TreeCharge() {
   if (reservation_) reservation_->shrink(bytes_);
}

void check(std::string_view text, Option option, Reservation* reservation) {
   checkInterrupted(); // a batch may have thousands of large texts
   const TreeCharge charge(text, reservation);
   Errors errors(Strictness::WellFormed);
   parse(text, option, errors, [&](SqlState state, const char* message, const char* detail) {
      if (!detail) errors.raise(state, message);
      throw SqlError(state, message).detail(detail);
   });
}

bool isWellFormed(std::string_view text, Option option, Reservation* reservation) {
   checkInterrupted(); // a batch may have thousands of large texts
   const TreeCharge charge(text, reservation);
   Errors errors(Strictness::WellFormed);
   return parse(text, option, errors, [](SqlState, const char*, const char*) {});
}

DocumentPtr parseDocument(std::string_view text, Errors& errors) {
   checkInterrupted();
   Declaration declaration;
   if (!readDeclaration(text, declaration).detail) text.remove_prefix(declaration.size);
   Handler handler(errors, false);
   const Parser parser(handler);
   DocumentPtr document(
       xmlCtxtReadMemory(parser.get(), text.data(), static_cast<int>(text.size()), nullptr, nullptr, 0));
   if (!document || errors.hasOccurred()) errors.raise(sqlstate::invalidXmlDocument, "could not parse XML document");
   return document;
}

} // namespace ouzel::xml
