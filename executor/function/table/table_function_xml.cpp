#include "catalog/builtin/builtin.hpp"
#include "common/number/decimal.hpp"
#include "common/type/array.hpp"
#include "common/type/session_format.hpp"
#include "common/type/user_types.hpp"
#include "common/xml/names.hpp"
#include "common/xml/path.hpp"
#include "executor/function/table/table_function_rows.hpp"
#include "executor/function/value_text.hpp"

// XMLTABLE: ouzel_xmltable(document, path of the rows, namespaces, letters, names, path, default, path, default, ...).
// Each column has a letter: o FOR ORDINALITY, v a value, n a value that must not be NULL. Those with v and n have a
// path and a default of the column's type.

namespace ouzel::executor {

namespace {

constexpr size_t documentArg = 0, rowPathArg = 1, namespacesArg = 2, lettersArg = 3, namesArg = 4, firstColumnArg = 5;

bool isNumeric(Oid type) {
   const catalog::TypeInfo* info = catalog::builtins().type(type);
   return info && info->category == 'N';
}

/// A document with the paths of one call.
class Table {
public:
   Table(std::string_view document, std::string_view rowPath, Reservation& memory, const xml::Errors& errors)
      : charge_(document, &memory), document_(parse(document)), context_(document_.get(), errors),
        rowPath_(compileRows(context_, rowPath, errors)) {}

   void bindNamespaces(std::string_view bytes) {
      const ArrayView array(bytes);
      for (ArrayView::Cursor element(array); element.next();) {
         if (element.isNull()) throwNotSupportedNamespace();
         const std::string prefix(element.as<StringView>().view());
         element.next();
         if (element.isNull()) throw SqlError(sqlstate::nullValueNotAllowed, "namespace URI must not be null");
         context_.bindNamespace(prefix, std::string(element.as<StringView>().view()));
      }
   }
   void addColumn(std::string_view path, const xml::Errors& errors) {
      if (path.empty()) throw SqlError(sqlstate::dataException, "column path filter must not be empty string");
      columns_.push_back(context_.compile(std::string(path), errors, sqlstate::dataException));
   }
   void findRows(xml::Errors& errors) { rows_ = context_.evaluate(rowPath_, errors); }

   std::span<_xmlNode* const> rows() const {
      return rows_->kind() == xml::PathResult::Kind::Nodes ? rows_->nodes() : std::span<_xmlNode* const>();
   }
   std::unique_ptr<xml::PathResult> value(size_t row, size_t column, xml::Errors& errors) const {
      return context_.evaluate(columns_[column], errors, rows()[row]);
   }

private:
   static xml::DocumentPtr parse(std::string_view text) {
      xml::Errors own(xml::Strictness::All); // a DETAIL of the document's alone
      return xml::parseDocument(text, own);
   }
   static xml::Path compileRows(const xml::PathContext& context, std::string_view path, const xml::Errors& errors) {
      if (path.empty()) throw SqlError(sqlstate::dataException, "row path filter must not be empty string");
      return context.compile(std::string(path), errors, sqlstate::syntaxError);
   }
   [[noreturn, gnu::cold]] static void throwNotSupportedNamespace() {
      throw SqlError(sqlstate::featureNotSupported, "DEFAULT namespace is not supported");
   }

   const xml::TreeCharge charge_;
   const xml::DocumentPtr document_;
   xml::PathContext context_;
   const xml::Path rowPath_;
   std::vector<xml::Path> columns_;
   std::unique_ptr<xml::PathResult> rows_;
};

class XmlTableRows final : public TableFunction {
public:
   XmlTableRows(TableFunctionSignature signature, const FunctionContext& context, Reservation& memory)
      : types_(std::move(signature.resultTypes)), reprs_(signature.resultReprs), context_(context), memory_(memory),
        out_(std::move(signature.resultReprs), memory) {}

   void begin(std::span<const Vector> args, uint32_t row) override {
      table_.reset();
      next_ = 0;
      args_ = args;
      row_ = row;
      if (args[documentArg].isNull(row)) return;
      if (args[rowPathArg].isNull(row))
         throw SqlError(sqlstate::nullValueNotAllowed, "row filter expression must not be null");
      letters_ = text(lettersArg);
      readNames();
      xml::Errors errors(xml::Strictness::All);
      table_ = std::make_unique<Table>(text(documentArg), text(rowPathArg), memory_, errors);
      table_->bindNamespaces(text(namespacesArg));
      addColumns(errors);
      table_->findRows(errors);
   }

   uint32_t next(uint32_t rowsMax, std::span<Vector> columns) override {
      checkInterrupted();
      out_.clear();
      const size_t count = table_ ? table_->rows().size() : 0;
      xml::Errors errors(xml::Strictness::All); // of this thread, which need not be that of the batch before
      for (; next_ < count && out_.rowCount() < rowsMax; ++next_)
         addRow(errors);
      out_.give(columns);
      return out_.rowCount();
   }

private:
   std::string_view text(size_t arg) const { return args_[arg].value<StringView>(row_).view(); }

   void readNames() {
      names_.clear();
      const ArrayView names(text(namesArg));
      for (ArrayView::Cursor name(names); name.next();)
         names_.emplace_back(name.as<StringView>().view());
   }

   void addColumns(const xml::Errors& errors) {
      size_t arg = firstColumnArg;
      for (size_t i = 0; i < letters_.size(); ++i) {
         if (letters_[i] == 'o') continue;
         if (args_[arg].isNull(row_))
            throw SqlError(sqlstate::nullValueNotAllowed, "column filter expression must not be null")
                .detail("Filter for column \"" + names_[i] + "\" is null.");
         table_->addColumn(text(arg), errors);
         arg += 2;
      }
   }

   void addRow(xml::Errors& errors) {
      size_t path = 0;
      for (size_t i = 0; i < letters_.size(); ++i) {
         if (letters_[i] == 'o')
            out_.add(static_cast<int32_t>(next_ + 1));
         else
            addValue(i, path++, errors);
      }
   }

   void addValue(size_t i, size_t path, xml::Errors& errors) {
      const auto found = table_->value(next_, path, errors);
      if (const auto value = textOf(*found, types_[i].oid)) return parse(i, *value);
      const Vector& byDefault = args_[firstColumnArg + 2 * path + 1];
      if (!byDefault.isNull(row_)) {
         const auto* values = static_cast<const std::byte*>(byDefault.data);
         return out_.add(byDefault.type, values + size_t{byDefault.positionOf(row_)} * physicalSize(byDefault.type));
      }
      if (letters_[i] == 'n')
         throw SqlError(sqlstate::nullValueNotAllowed, "null is not allowed in column \"" + names_[i] + "\"");
      checkDomain(types_[i], Value::null(reprs_[i].physical), sessionFormat(context_).types);
      out_.addNull();
   }

   /// What the column's input reads; none: the path has found nothing.
   static std::optional<std::string> textOf(const xml::PathResult& found, Oid type) {
      const bool isXml = type == oid::xml;
      switch (found.kind()) {
      case xml::PathResult::Kind::Nodes: {
         if (found.nodes().empty()) return std::nullopt;
         if (!isXml && found.nodes().size() > 1)
            throw SqlError(sqlstate::cardinalityViolation, "more than one value returned by column XPath expression");
         if (!isXml) return found.text();
         std::string text;
         for (_xmlNode* node : found.nodes())
            xml::appendNode(text, node);
         return text;
      }
      case xml::PathResult::Kind::String: {
         if (!isXml) return std::string(found.string());
         std::string text;
         xml::appendEscaped(text, found.string());
         return text;
      }
      case xml::PathResult::Kind::Boolean:
         if (isNumeric(type)) return std::string(found.boolean() ? "1" : "0");
         return found.text();
      case xml::PathResult::Kind::Number: return found.text();
      case xml::PathResult::Kind::Other: break;
      }
      throw SqlError(sqlstate::internalError, "unexpected XPath object type");
   }

   void parse(size_t i, const std::string& text) {
      alignas(16) std::byte value[16] = {};
      if (types_[i].oid == oid::numeric && reprs_[i].physical == PhysicalType::Decimal) {
         const StringView number =
             decimal::applyTypmod(decimal::parse(text, out_.strings()), types_[i].typmod, out_.strings());
         std::memcpy(value, static_cast<const void*>(&number), sizeof number);
      } else {
         parseValueText(value, context_, types_[i], text, out_.strings());
      }
      if (types_[i].domain)
         checkDomain(types_[i], Value::fromVector(Vector::flat(reprs_[i].physical, value, nullptr), 0),
                     sessionFormat(context_).types);
      out_.add(reprs_[i].physical, value);
   }

   const std::vector<SqlType> types_;
   const std::vector<Representation> reprs_;
   const FunctionContext& context_;
   Reservation& memory_;
   RowWriter out_;
   std::span<const Vector> args_; ///< of the current call, with its row
   uint32_t row_ = 0;
   std::string_view letters_;
   std::vector<std::string> names_;
   std::unique_ptr<Table> table_;
   size_t next_ = 0;
};

} // namespace

std::unique_ptr<TableFunction> makeXmlTable(TableFunctionSignature& signature, FunctionContext& context,
                                            Reservation& memory) {
   if (signature.function->source != "ouzel_xmltable") return nullptr;
   return std::make_unique<XmlTableRows>(std::move(signature), context, memory);
}

} // namespace ouzel::executor
