#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/value/batch.hpp"
#include "common/value/sql_type.hpp"

namespace ouzel::storage {

/// The key of an index that is more than columns of all rows: of one over expressions, or over a part of the rows.
/// Storage reads the columns; engine/ computes the key. Immutable, for any thread.
class ComputedKey {
public:
   /// Gets the key's columns, and the rows among those asked for that the index has.
   using Use = std::function<void(std::span<const Vector> key, const Selection& rows)>;

   ComputedKey(std::string text, std::vector<uint32_t> inputs, std::vector<SqlType> types)
      : text_(std::move(text)), inputs_(std::move(inputs)), types_(std::move(types)) {}
   virtual ~ComputedKey() = default;

   /// Keys with the same text and inputs are the same.
   const std::string& text() const { return text_; }
   const std::vector<uint32_t>& inputs() const { return inputs_; } ///< storage columns that it reads
   const std::vector<SqlType>& types() const { return types_; }    ///< of the key's columns
   /// Calls `use`, once or several times, with the keys of some of `rows`; the vectors are valid only in the call.
   /// `inputs` has rows [0, rowCount). Throws the error of an expression.
   virtual void compute(std::span<const Vector> inputs, uint32_t rowCount, const Selection& rows,
                        const Use& use) const = 0;
   /// The same, but a row whose key raises an error is not in the index: one that was deleted before the index was made
   /// may be such a row.
   void computeSound(std::span<const Vector> inputs, uint32_t rowCount, const Selection& rows, const Use& use) const;

private:
   const std::string text_;
   const std::vector<uint32_t> inputs_;
   const std::vector<SqlType> types_;
};

} // namespace ouzel::storage
