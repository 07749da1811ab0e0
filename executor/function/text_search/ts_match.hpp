#pragma once
#include <cstdint>
#include <vector>

#include "common/base_type/ts_query.hpp"

namespace ouzel::executor {

/// Whether something holds; Maybe: nobody knows, as there are no positions.
enum class Ternary : uint8_t { No, Yes, Maybe };

/// Where an operand of a phrase is found: where its last word stands.
struct TsPlaces {
   std::vector<int32_t> positions; ///< sorted
   bool isNegated = false;         ///< everywhere but there
   int32_t width = 0;              ///< from the first word of a phrase to the last one
};

/// What a query is put to: where a word of it stands.
class TsWords {
public:
   virtual ~TsWords() = default;
   /// Null places: only whether it stands anywhere is asked. Maybe is an answer only where places are asked for.
   virtual Ternary find(const TsQuery& query, int32_t word, TsPlaces* places) const = 0;
};

/// The words of a vector.
class TsVectorWords final : public TsWords {
public:
   explicit TsVectorWords(const TsVectorView& vector) : vector_(vector) {}
   Ternary find(const TsQuery& query, int32_t word, TsPlaces* places) const override;

private:
   const TsVectorView& vector_;
};

struct TsMatchOptions {
   bool ignoresNot = false;     ///< what is negated counts as found
   bool allowsNoPlaces = false; ///< a phrase whose words have no positions is found
};
/// REQUIRES: the query has a node.
bool tsMatches(const TsQuery& query, int32_t node, const TsWords& words, TsMatchOptions options = {});
/// Whether a vector matches; none matches a query without words.
bool tsMatches(const TsQuery& query, const TsVectorView& vector);

} // namespace ouzel::executor
