#include "executor/operator/scan/scan_stages.hpp"

#include "executor/operator/flow/project.hpp"

namespace ouzel::executor {

std::vector<sql::ColumnId> scanLayout(const sql::plan::Scan& scan) {
   std::vector<sql::ColumnId> layout;
   for (const sql::plan::ScanColumn& column : scan.columns)
      layout.push_back(column.column);
   for (const sql::plan::ScanPath& path : scan.paths)
      layout.push_back(path.column);
   return layout;
}

std::vector<Stage> stagesOfScan(PlanBuilder& builder, const sql::plan::Node& node, Source* source) {
   const auto& scan = node.as<sql::plan::Scan>();
   const std::vector<sql::ColumnId> layout = scanLayout(scan);
   Stage stage;
   stage.source = source;
   stage.sourceProfile = builder.profileOf(node);
   std::vector<Stage> stages;
   stages.push_back(std::move(stage));
   if (!scan.predicates.empty()) PlanBuilder::append(stages, makeFilter(builder, scan.predicates, layout), UINT32_MAX);
   if (node.output != layout) PlanBuilder::append(stages, makeColumnPick(builder, layout, node.output), UINT32_MAX);
   return stages;
}

} // namespace ouzel::executor
