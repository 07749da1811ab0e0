#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/memory/arena.hpp"
#include "common/value/value.hpp"
#include "executor/function/context.hpp"

// json_to_record and its kin: the members of an object as values of columns.

namespace ouzel::executor {

/// A member of an object or an element of an array, in either form.
struct JsonField {
   bool isJsonb = false;
   std::string_view bytes; ///< of a jsonb value, or the text of a JSON value
   std::string key;        ///< of the member to which it belongs, for messages

   bool isNull() const;
   bool isString() const;
};

/// The fields of an object with these keys, by key; nothing where the object lacks one. Throws 22023 unless the value
/// is an object: `scalarError` and `arrayError`.
std::vector<std::optional<JsonField>> fieldsOf(std::string_view value, bool isJsonb,
                                               const std::vector<std::string>& keys, const char* scalarError,
                                               const char* arrayError);

/// Converts a field that is no JSON null to a column's type and writes it to `target`. Texts go to the arena. Throws
/// what the type's input does, and 22P02 for arrays.
void putField(void* target, const FunctionContext& context, const SqlType& type, Representation repr,
              const JsonField& field, Arena& arena);

/// 0A000, as in PostgreSQL: `function` does not know which columns its result has.
[[noreturn]] void refuseRecord(const std::string& function);

/// The bytes of a row (common/type/row.hpp) of a row type: each column has the member of its name, converted; a column
/// without one has the field of `base`, or NULL. With type record the columns are those of `base`. Throws 22023 unless
/// the value is an object. json_populate.cpp.
std::string populateRow(const FunctionContext& context, Oid type, std::optional<std::string_view> base,
                        const JsonField& object);

} // namespace ouzel::executor
