#include "common/type/array.hpp"
#include "common/type/session_format.hpp"
#include "common/xml/concatenation.hpp"
#include "common/xml/document.hpp"
#include "common/xml/names.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/value_text.hpp"
#include "executor/function/xml/xml_value.hpp"

// XML out of values and texts: XMLELEMENT, XMLFOREST, XMLCONCAT, XMLPARSE, XMLPI, XMLROOT, XMLCOMMENT, XMLSERIALIZE;
// the tests IS DOCUMENT and xml_is_well_formed.

namespace ouzel::executor {

namespace {

// ---- XMLELEMENT, XMLFOREST ----

/// Calls name(i, text) for the names of an array, which are not NULL.
template <typename Take>
uint32_t eachName(std::string_view bytes, Take&& take) {
   const ArrayView names(bytes);
   for (ArrayView::Cursor name(names); name.next();)
      take(name.as<StringView>().view());
   return names.size();
}

void appendArgument(std::string& out, const KernelCall& call, size_t arg, uint32_t row, bool isEscaped) {
   appendXmlValue(out, call.context, call.argTypes[arg], call.argReprs[arg], call.args[arg], row, isEscaped);
}

/// Arguments: the element's name, the names of its attributes, their values, what is in it.
void element(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   std::string text, value;
   forEachRow(call.rows, [&](uint32_t row) {
      const std::string_view name = call.args[0].value<StringView>(row).view();
      text.assign("<").append(name);
      size_t next = 2;
      eachName(call.args[1].value<StringView>(row).view(), [&](std::string_view attribute) {
         const size_t arg = next++;
         if (call.args[arg].isNull(row)) return;
         value.clear();
         appendArgument(value, call, arg, row, false);
         text.append(" ").append(attribute).append("=");
         xml::appendAttributeValue(text, value);
      });
      bool hasContent = false;
      for (; next < call.args.size(); ++next) {
         if (call.args[next].isNull(row)) continue;
         if (!std::exchange(hasContent, true)) text += '>';
         appendArgument(text, call, next, row, true);
      }
      if (hasContent)
         text.append("</").append(name).append(">");
      else
         text += "/>";
      out[row] = result.strings().copyString(text);
   });
}

/// Arguments: the names of the elements, their values.
void forest(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   std::string text;
   forEachRow(call.rows, [&](uint32_t row) {
      text.clear();
      size_t next = 1;
      eachName(call.args[0].value<StringView>(row).view(), [&](std::string_view name) {
         const size_t arg = next++;
         if (call.args[arg].isNull(row)) return;
         text.append("<").append(name).append(">");
         appendArgument(text, call, arg, row, true);
         text.append("</").append(name).append(">");
      });
      if (text.empty()) return result.setNull(row);
      out[row] = result.strings().copyString(text);
   });
}

// ---- XMLCONCAT, XMLROOT ----

void concat(const KernelCall& call, ResultVector& result) {
   StringView* out = result.values<StringView>();
   forEachRow(call.rows, [&](uint32_t row) {
      xml::JoinedDeclaration declaration;
      std::string content, text;
      bool hasValue = false;
      for (const Vector& arg : call.args) {
         if (arg.isNull(row)) continue;
         const std::string_view value = arg.value<StringView>(row).view();
         content.append(value.substr(declaration.add(value)));
         hasValue = true;
      }
      if (!hasValue) return result.setNull(row);
      declaration.append(text);
      out[row] = result.strings().copyString(text + content);
   });
}

std::optional<StringView> concatTwo(std::optional<StringView> a, std::optional<StringView> b, KernelEnv& env) {
   if (!a || !b) return a ? a : b;
   xml::JoinedDeclaration declaration;
   std::string content(a->view().substr(declaration.add(a->view())));
   content.append(b->view().substr(declaration.add(b->view())));
   std::string text;
   declaration.append(text);
   return env.copy(text + content);
}

/// `standalone`: as the grammar numbers YES, NO, NO VALUE, and leaving it out.
std::optional<StringView> root(std::optional<StringView> value, std::optional<StringView> version,
                               std::optional<int32_t> standalone, KernelEnv& env) {
   if (!value) return std::nullopt;
   xml::Declaration declaration;
   xml::readDeclaration(value->view(), declaration);
   xml::Standalone said = declaration.standalone;
   switch (standalone.value_or(3)) {
   case 0: said = xml::Standalone::Yes; break;
   case 1: said = xml::Standalone::No; break;
   case 2: said = xml::Standalone::Unsaid; break;
   default: break;
   }
   std::string text;
   xml::appendDeclaration(text, version ? std::optional<std::string>(version->view()) : std::nullopt, {}, said);
   text.append(value->view().substr(declaration.size));
   return env.copy(text);
}

// ---- XMLPI, XMLCOMMENT ----

[[noreturn, gnu::cold]] void throwInvalidInstruction(SqlState state, const std::string& detail) {
   throw SqlError(state, "invalid XML processing instruction").detail(detail);
}

bool isXml(std::string_view name) {
   return name.size() == 3 && (name[0] | 0x20) == 'x' && (name[1] | 0x20) == 'm' && (name[2] | 0x20) == 'l';
}

std::optional<StringView> instruction(std::optional<StringView> target, std::optional<bool> hasContent,
                                      std::optional<StringView> content, KernelEnv& env) {
   const std::string name(target->view());
   if (isXml(name))
      throwInvalidInstruction(sqlstate::syntaxError,
                              "XML processing instruction target name cannot be \"" + name + "\".");
   if (!content) return std::nullopt;
   std::string text = "<?" + name;
   if (*hasContent) {
      const std::string_view given = content->view();
      if (given.find("?>") != std::string_view::npos)
         throwInvalidInstruction(sqlstate::invalidXmlProcessingInstruction,
                                 "XML processing instruction cannot contain \"?>\".");
      text.append(" ").append(given.substr(std::min(given.find_first_not_of(' '), given.size())));
   }
   return env.copy(text + "?>");
}

StringView comment(StringView content, KernelEnv& env) {
   const std::string_view text = content.view();
   if (text.find("--") != std::string_view::npos || text.ends_with('-'))
      throw SqlError(sqlstate::invalidXmlComment, "invalid XML comment");
   return env.copy("<!--" + std::string(text) + "-->");
}

// ---- XMLPARSE, XMLSERIALIZE, tests ----

xml::Option optionOf(bool isDocument) {
   return isDocument ? xml::Option::Document : xml::Option::Content;
}
xml::Option optionOf(const KernelEnv& env) {
   return optionOf(sessionFormat(env.context).readsXmlDocuments);
}

StringView parse(StringView text, bool isDocument, KernelEnv& env) {
   xml::check(text.view(), optionOf(isDocument), env.strings.reservation());
   return text;
}
StringView parseAsSet(StringView text, KernelEnv& env) {
   xml::check(text.view(), optionOf(env), env.strings.reservation());
   return text;
}

template <xml::Option option>
bool isWellFormed(StringView text, KernelEnv& env) {
   return xml::isWellFormed(text.view(), option, env.strings.reservation());
}
bool isWellFormedAsSet(StringView text, KernelEnv& env) {
   return xml::isWellFormed(text.view(), optionOf(env), env.strings.reservation());
}

StringView serialize(StringView value, bool isDocument, KernelEnv& env) {
   if (isDocument && !isWellFormed<xml::Option::Document>(value, env))
      throw SqlError(sqlstate::notAnXmlDocument, "not an XML document");
   return value;
}
StringView asText(StringView value) {
   return value;
}

bool validate(StringView, StringView) {
   throw SqlError(sqlstate::featureNotSupported, "xmlvalidate is not implemented");
}

} // namespace

void registerXmlBuild() {
   registerKernel("ouzel_xmlelement", anyArguments, {element, false, false});
   registerKernel("ouzel_xmlforest", anyArguments, {forest, false, false});
   registerKernel("ouzel_xmlconcat", anyArguments, {concat, false, false});
   addKernel<concatTwo>("xmlconcat2");
   addKernel<root>("ouzel_xmlroot");
   addKernel<instruction>("ouzel_xmlpi");
   addKernel<comment>("xmlcomment");
   addKernel<parse>("ouzel_xmlparse");
   addKernel<parseAsSet>("texttoxml");
   addKernel<asText>("xmltotext", totalKernel);
   addKernel<serialize>("ouzel_xmlserialize");
   addKernels<isWellFormed<xml::Option::Document>>({"ouzel_xml_is_document", "xml_is_well_formed_document"});
   addKernel<isWellFormed<xml::Option::Content>>("xml_is_well_formed_content");
   addKernel<isWellFormedAsSet>("xml_is_well_formed");
   addKernel<validate>("xmlvalidate");
}

} // namespace ouzel::executor
