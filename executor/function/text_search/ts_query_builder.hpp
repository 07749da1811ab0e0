#pragma once
#include <deque>
#include <string>
#include <string_view>

#include "common/base_type/ts_query_parser.hpp"
#include "executor/function/text_search/ts_analyzer.hpp"

namespace ouzel::executor {

/// Makes queries of texts, whose words it normalizes by the analyzer's configuration.
class TsQueryBuilder {
public:
   explicit TsQueryBuilder(TsAnalyzer& analyzer) : analyzer_(analyzer) {}

   /// to_tsquery() and websearch_to_tsquery(). Words stay valid until the next call.
   TsQuery build(std::string_view text, TsQueryParser::Syntax syntax);
   /// plainto_tsquery() and phraseto_tsquery(): the whole text is one operand, whose words `glue` joins.
   TsQuery build(std::string_view text, TsQueryNode::Kind glue);

private:
   int32_t treeOf(TsQuery& query, const TsQueryParser::Operand& operand, TsQueryNode::Kind glue);

   TsAnalyzer& analyzer_;
   std::deque<std::string> words_;
};

} // namespace ouzel::executor
