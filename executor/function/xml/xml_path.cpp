#include "executor/function/xml/xml_path.hpp"

#include "common/text/number_text.hpp"
#include "common/type/array.hpp"
#include "common/type/session_format.hpp"
#include "common/xml/names.hpp"
#include "common/xml/path.hpp"
#include "executor/function/array_builder.hpp"
#include "executor/function/families.hpp"
#include "executor/function/kernel_helpers.hpp"
#include "executor/function/value_text.hpp"

// xpath, xpath_exists, xmlexists.

namespace ouzel::executor {

namespace {

/// What a path gives of a document.
class Found {
public:
   Found(std::string_view path, std::string_view text, std::string_view namespaces, Reservation* reservation)
      : charge_(text, reservation), errors_(xml::Strictness::All) {
      const std::vector<XmlNamespace> bound = xmlNamespaces(namespaces);
      if (path.empty()) throw SqlError(sqlstate::dataException, "empty XPath expression");
      document_ = xml::parseDocument(text, errors_);
      context_ = std::make_unique<xml::PathContext>(document_.get(), errors_);
      for (const XmlNamespace& one : bound)
         context_->bindNamespace(one.prefix, one.uri);
      const xml::Path compiled = context_->compile(std::string(path), errors_, sqlstate::internalError);
      result_ = context_->evaluate(compiled, errors_);
   }

   bool exists() const { return result_->kind() != xml::PathResult::Kind::Nodes || !result_->nodes().empty(); }
   StringView values(KernelEnv& env) const {
      ArrayBuilder array(env.strings, oid::xml);
      std::string text;
      switch (result_->kind()) {
      case xml::PathResult::Kind::Nodes:
         for (_xmlNode* node : result_->nodes()) {
            text.clear();
            xml::appendNode(text, node);
            array.addText(text);
         }
         break;
      case xml::PathResult::Kind::Boolean: array.addText(result_->boolean() ? "true" : "false"); break;
      case xml::PathResult::Kind::Number:
         appendDouble(text, result_->number(), sessionFormat(env.context).extraFloatDigits);
         array.addText(text);
         break;
      case xml::PathResult::Kind::String:
         xml::appendEscaped(text, result_->string());
         array.addText(text);
         break;
      default: throw SqlError(sqlstate::internalError, "xpath expression result type is unsupported");
      }
      return array.finish();
   }

private:
   // The later ones refer to the earlier ones.
   const xml::TreeCharge charge_;
   xml::Errors errors_;
   xml::DocumentPtr document_;
   std::unique_ptr<xml::PathContext> context_;
   std::unique_ptr<xml::PathResult> result_;
};

StringView valuesOf(StringView path, StringView value, StringView namespaces, KernelEnv& env) {
   return Found(path.view(), value.view(), namespaces.view(), env.strings.reservation()).values(env);
}
StringView valuesWithoutNames(StringView path, StringView value, KernelEnv& env) {
   return Found(path.view(), value.view(), {}, env.strings.reservation()).values(env);
}
bool exists(StringView path, StringView value, StringView namespaces, KernelEnv& env) {
   return Found(path.view(), value.view(), namespaces.view(), env.strings.reservation()).exists();
}
bool existsWithoutNames(StringView path, StringView value, KernelEnv& env) {
   return Found(path.view(), value.view(), {}, env.strings.reservation()).exists();
}

} // namespace

std::vector<XmlNamespace> xmlNamespaces(std::string_view bytes) {
   std::vector<XmlNamespace> result;
   if (bytes.empty()) return result;
   const ArrayView array(bytes);
   const uint32_t dimensions = array.dimensionCount();
   if (dimensions != 0 && (dimensions != 2 || array.dimension(1).length != 2))
      throw SqlError(sqlstate::dataException, "invalid array for XML namespace mapping")
          .detail("The array must be two-dimensional with length of the second axis equal to 2.");
   for (ArrayView::Cursor element(array); element.next();) {
      const bool isNull = element.isNull();
      std::string prefix = isNull ? std::string() : std::string(element.as<StringView>().view());
      element.next();
      if (isNull || element.isNull())
         throw SqlError(sqlstate::nullValueNotAllowed, "neither namespace name nor URI may be null");
      result.push_back({std::move(prefix), std::string(element.as<StringView>().view())});
   }
   return result;
}

void registerXmlPath() {
   addKernel<valuesOf>("xpath");
   addKernel<valuesWithoutNames>("sql:xpath");
   addKernel<exists>("xpath_exists");
   addKernel<existsWithoutNames>("sql:xpath_exists");
   addKernel<existsWithoutNames>("xmlexists");
}

} // namespace ouzel::executor
