#include <unordered_map>

#include "catalog/builtin/builtin.hpp"
#include "common/error/sql_error.hpp"
#include "common/json/jsonb_text.hpp"
#include "common/type/array.hpp"
#include "common/type/session_format.hpp"
#include "common/type/user_types.hpp"
#include "executor/function/json/json_items.hpp"
#include "executor/function/json/json_record.hpp"
#include "executor/function/table/table_function_rows.hpp"
#include "executor/function/value_text.hpp"

// Rows out of JSON: json_each, json_array_elements, json_object_keys, json_to_record and their kin, for json and jsonb.

namespace ouzel::executor {

namespace {

[[noreturn, gnu::cold]] void refuse(const char* message) {
   throw SqlError(sqlstate::invalidParameterValue, message);
}

using json::JsonbView;
using json::Kind;

enum class Shape : uint8_t { Keys, Each, Elements };

/// Adds the text of ->>.
void addPlain(RowWriter& out, const JsonbView& value) {
   switch (value.kind()) {
   case Kind::Null: return out.addNull();
   case Kind::String: return out.addText(value.string());
   default: break;
   }
   std::string text;
   json::appendText(text, value);
   const StringView copy = out.strings().copyString(text);
   out.add(PhysicalType::String, &copy);
}

template <Shape shape, bool asText>
class JsonbRows {
public:
   explicit JsonbRows(const RowCall& call) : value_(call.text(0)) {
      const bool isObject = value_.kind() == Kind::Object, isArray = value_.kind() == Kind::Array;
      if constexpr (shape == Shape::Keys) {
         if (!isObject)
            refuse(isArray ? "cannot call jsonb_object_keys on an array" : "cannot call jsonb_object_keys on a scalar");
      } else if constexpr (shape == Shape::Each) {
         if (!isObject)
            refuse(asText ? "cannot call jsonb_each_text on a non-object" : "cannot call jsonb_each on a non-object");
      } else if (!isArray) {
         refuse(isObject ? "cannot extract elements from an object" : "cannot extract elements from a scalar");
      }
   }
   bool next(RowWriter& out) {
      if (next_ == value_.size()) return false;
      if constexpr (shape != Shape::Elements) out.addText(value_.key(next_));
      if constexpr (shape != Shape::Keys) {
         const JsonbView element = value_.element(next_);
         if constexpr (asText)
            addPlain(out, element);
         else
            out.addText(element.bytes());
      }
      ++next_;
      return true;
   }

private:
   const JsonbView value_;
   uint32_t next_ = 0;
};

template <Shape shape, bool asText>
class JsonRows {
public:
   explicit JsonRows(const RowCall& call) : items_(call.text(0)) {
      const bool isObject = items_.isObject(), isArray = items_.isArray();
      if constexpr (shape == Shape::Keys) {
         if (!isObject)
            refuse(isArray ? "cannot call json_object_keys on an array" : "cannot call json_object_keys on a scalar");
      } else if constexpr (shape == Shape::Each) {
         if (!isObject) refuse(isArray ? "cannot deconstruct an array as an object" : "cannot deconstruct a scalar");
      } else if (!isArray) {
         constexpr const char* messages[2][2] = {
             {"cannot call json_array_elements on a scalar", "cannot call json_array_elements on a non-array"},
             {"cannot call json_array_elements_text on a scalar",
              "cannot call json_array_elements_text on a non-array"}};
         refuse(messages[asText][isObject]);
      }
   }
   bool next(RowWriter& out) {
      if (next_ == items_.items().size()) return false;
      const JsonItem& item = items_.items()[next_++];
      if constexpr (shape != Shape::Elements) out.addText(item.key);
      if constexpr (shape != Shape::Keys) {
         if constexpr (!asText)
            out.addText(item.raw);
         else if (item.isNull())
            out.addNull();
         else
            out.addText(item.plain());
      }
      return true;
   }

private:
   const JsonItems items_;
   size_t next_ = 0;
};

/// Functions that make a row of each object of an array, or of the one object that they are given.
class ObjectRows : public TableFunction {
public:
   /// `argument`: the number of the one that is JSON.
   ObjectRows(TableFunctionSignature signature, size_t argument, const FunctionContext& context, Reservation& memory)
      : name_(signature.function->name), isSet_(signature.function->returnsSet), argument_(argument),
        isJsonb_(signature.argTypes[argument].oid == oid::jsonb), types_(std::move(signature.resultTypes)),
        reprs_(signature.resultReprs), context_(context), out_(std::move(signature.resultReprs), memory) {}

   void begin(std::span<const Vector> args, uint32_t row) override {
      objects_.clear();
      next_ = 0;
      isNull_ = args[argument_].isNull(row);
      if (isNull_) {
         if (!isSet_) objects_.emplace_back();
         return;
      }
      const std::string_view value = args[argument_].value<StringView>(row).view();
      if (!isSet_)
         objects_.push_back(value);
      else if (isJsonb_)
         findObjects(JsonbView(value));
      else
         findObjects(value);
   }

   uint32_t next(uint32_t rowsMax, std::span<Vector> columns) override {
      checkInterrupted();
      out_.clear();
      while (out_.rowCount() < rowsMax && next_ < objects_.size())
         addRow(objects_[next_++]);
      out_.give(columns);
      return out_.rowCount();
   }

protected:
   virtual void addRow(std::string_view object) = 0;

   const std::string name_;
   const bool isSet_;
   const size_t argument_;
   const bool isJsonb_;
   const std::vector<SqlType> types_;
   const std::vector<Representation> reprs_;
   const FunctionContext& context_;
   RowWriter out_;
   bool isNull_ = false;

private:
   void findObjects(const JsonbView& array) {
      if (array.kind() != Kind::Array) refuse(("cannot call " + name_ + " on a non-array").c_str());
      for (uint32_t i = 0; i < array.size(); ++i) {
         const JsonbView element = array.element(i);
         if (element.kind() != Kind::Object) refuse(("argument of " + name_ + " must be an array of objects").c_str());
         objects_.push_back(element.bytes());
      }
   }
   void findObjects(std::string_view text) {
      const JsonItems array(text);
      if (!array.isArray())
         refuse(("cannot call " + name_ + (array.isObject() ? " on an object" : " on a scalar")).c_str());
      for (const JsonItem& item : array.items()) {
         if (item.token != json::Token::ObjectStart)
            refuse(("argument of " + name_ + " must be an array of objects").c_str());
         objects_.push_back(item.raw);
      }
   }

   std::vector<std::string_view> objects_; ///< the rows
   size_t next_ = 0;
};

/// json_to_record(json, names) and json_to_recordset(json, names): the binder adds the names of the columns.
class RecordRows final : public ObjectRows {
public:
   RecordRows(TableFunctionSignature signature, const FunctionContext& context, Reservation& memory)
      : ObjectRows(std::move(signature), 0, context, memory) {}

   void begin(std::span<const Vector> args, uint32_t row) override {
      names_.clear();
      const ArrayView names(args[1].value<StringView>(row).view());
      for (ArrayView::Cursor name(names); name.next();)
         names_.emplace_back(name.as<StringView>().view());
      ObjectRows::begin(args, row);
   }

private:
   void addRow(std::string_view object) override {
      if (isNull_) {
         for (size_t i = 0; i < types_.size(); ++i)
            out_.addNull();
         return;
      }
      const auto fields = fieldsOf(object, isJsonb_, names_, "cannot call populate_composite on a scalar",
                                   "cannot call populate_composite on an array");
      for (size_t i = 0; i < types_.size(); ++i) {
         if (!fields[i] || fields[i]->isNull()) {
            checkDomain(types_[i], Value::null(reprs_[i].physical), sessionFormat(context_).types);
            out_.addNull();
            continue;
         }
         alignas(16) std::byte value[16] = {};
         putField(value, context_, types_[i], reprs_[i], *fields[i], out_.strings());
         if (types_[i].domain)
            checkDomain(types_[i], Value::fromVector(Vector::flat(reprs_[i].physical, value, nullptr), 0),
                        sessionFormat(context_).types);
         out_.add(reprs_[i].physical, value);
      }
   }

   std::vector<std::string> names_;
};

/// json_populate_recordset(base, json): rows of the type of `base`.
class PopulatedRows final : public ObjectRows {
public:
   PopulatedRows(TableFunctionSignature signature, const FunctionContext& context, Reservation& memory)
      : ObjectRows(std::move(signature), 1, context, memory) {}

   void begin(std::span<const Vector> args, uint32_t row) override {
      base_.reset();
      if (!args[0].isNull(row)) base_ = args[0].value<StringView>(row).view();
      ObjectRows::begin(args, row);
      if (!base_ && types_[0].oid == oid::record) refuseRecord(name_);
   }

private:
   void addRow(std::string_view object) override {
      const StringView row =
          out_.strings().copyString(populateRow(context_, types_[0].oid, base_, {isJsonb_, object, {}}));
      out_.add(PhysicalType::String, &row);
   }

   std::optional<std::string_view> base_;
};

template <typename Rows>
std::unique_ptr<TableFunction> make(TableFunctionSignature& signature, FunctionContext&, Reservation& memory) {
   return std::make_unique<RowFunction<Rows>>(signature.resultReprs, memory);
}

template <typename Rows>
std::unique_ptr<TableFunction> makeObjects(TableFunctionSignature& signature, FunctionContext& context,
                                           Reservation& memory) {
   return std::make_unique<Rows>(std::move(signature), context, memory);
}

} // namespace

std::unique_ptr<TableFunction> makeJsonRows(TableFunctionSignature& signature, FunctionContext& context,
                                            Reservation& memory) {
   using Make = std::unique_ptr<TableFunction> (*)(TableFunctionSignature&, FunctionContext&, Reservation&);
   static const std::unordered_map<std::string_view, Make> all{
       {"json_each", make<JsonRows<Shape::Each, false>>},
       {"json_each_text", make<JsonRows<Shape::Each, true>>},
       {"json_object_keys", make<JsonRows<Shape::Keys, false>>},
       {"json_array_elements", make<JsonRows<Shape::Elements, false>>},
       {"json_array_elements_text", make<JsonRows<Shape::Elements, true>>},
       {"jsonb_each", make<JsonbRows<Shape::Each, false>>},
       {"jsonb_each_text", make<JsonbRows<Shape::Each, true>>},
       {"jsonb_object_keys", make<JsonbRows<Shape::Keys, false>>},
       {"jsonb_array_elements", make<JsonbRows<Shape::Elements, false>>},
       {"jsonb_array_elements_text", make<JsonbRows<Shape::Elements, true>>},
       {"json_to_record", makeObjects<RecordRows>},
       {"json_to_recordset", makeObjects<RecordRows>},
       {"jsonb_to_record", makeObjects<RecordRows>},
       {"jsonb_to_recordset", makeObjects<RecordRows>},
       {"json_populate_recordset", makeObjects<PopulatedRows>},
       {"jsonb_populate_recordset", makeObjects<PopulatedRows>},
   };
   const auto it = all.find(signature.function->source);
   return it == all.end() ? nullptr : it->second(signature, context, memory);
}

} // namespace ouzel::executor
