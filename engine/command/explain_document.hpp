#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// What EXPLAIN tells, as a document, and the document as text, JSON, YAML or XML, laid out as PostgreSQL does.

namespace ouzel::engine {

enum class ExplainFormat : uint8_t { Text, Json, Yaml, Xml };

/// One property of a plan node or of the whole query.
struct ExplainProperty {
   enum class Kind : uint8_t { Text, Number, List, Pairs };
   std::string name;
   Kind kind = Kind::Text;
   std::vector<std::string> values; ///< one, unless it is a list. Of pairs: name, value, name, ...
   std::string separator = ", ";    ///< of a list, in text
};

/// One operator with its inputs.
struct ExplainNode {
   std::string title;                       ///< its first line in text: "Table Scan on t  (cost=0 rows=1)"
   std::string subplan;                     ///< "CTE x", where the node is the root of a query in WITH
   std::vector<ExplainProperty> properties; ///< in text: all but the first `titled`
   size_t titled = 0;                       ///< properties that stand in the title
   std::vector<ExplainNode> plans;
};

struct ExplainDocument {
   ExplainNode plan;
   std::vector<ExplainProperty> properties; ///< of the query: "Planning Time"
};

/// The rows of the result: the lines of a text, else one.
std::vector<std::string> writeExplain(const ExplainDocument& document, ExplainFormat format);

} // namespace ouzel::engine
