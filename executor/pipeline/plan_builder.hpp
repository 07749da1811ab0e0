#pragma once
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/error/sql_error.hpp"
#include "executor/expression/program.hpp"
#include "executor/pipeline/operator.hpp"
#include "executor/pipeline/order_bound.hpp"

namespace ouzel::executor {

class BatchStore;
class RuntimeFilter;
class KeyLookup;

/// A part of a running query: a pipeline, or code that runs between pipelines; exactly one of both is set. Steps run
/// one after the other. The code of a recursion decides whether another round is needed, and inserts the steps of that
/// round.
struct Step {
   std::unique_ptr<Pipeline> pipeline;
   std::function<void()> action;
};

class PlanBuilder;
/// Makes the stages of one node; see operator/build.hpp.
using BuildOperators = std::vector<Stage>(PlanBuilder& builder, const sql::plan::Node& node);

/// Turns plan nodes into pipelines. One per running query; owns every operator it makes. Each kind of operator has a
/// build function in its own file, which calls produce() for its children.
///
/// Used by one thread at a time: before the query starts, and between pipelines.
class PlanBuilder {
public:
   PlanBuilder(QueryContext& context, BuildOperators* build) : context_(context), build_(build) {}
   ~PlanBuilder() { destroySince(0); }

   /// Stages that give `node`'s rows, columns in the order of node.output. Adds the pipelines that must run before
   /// those stages to the steps.
   std::vector<Stage> produce(const sql::plan::Node& node);
   /// Add a pipeline to the steps; it runs after all steps added so far.
   void addPipeline(std::vector<Stage> stages, Sink* sink, uint32_t sinkProfile);
   /// While it lives, pipelines that are added leave errors of the data to `error`; null: no change.
   class Deferring {
   public:
      Deferring(PlanBuilder& builder, DeferredError* error)
         : builder_(builder), outer_(std::exchange(builder.deferred_, error ? error : builder.deferred_)) {}
      ~Deferring() { builder_.deferred_ = outer_; }
      Deferring(const Deferring&) = delete;
      Deferring& operator=(const Deferring&) = delete;

   private:
      PlanBuilder& builder_;
      DeferredError* const outer_;
   };
   void addAction(std::function<void()> action);
   /// The steps collected since the last call.
   std::vector<Step> takeSteps();

   template <typename T, typename... Args>
   T* own(Args&&... args) {
      auto object = std::make_shared<T>(std::forward<Args>(args)...);
      T* raw = object.get();
      owned_.push_back(std::move(object));
      return raw;
   }
   /// How many objects the builder owns. A recursion destroys those of its last round before it makes new ones.
   size_t ownedCount() const { return owned_.size(); }
   /// Destroys the objects made since `count` were owned. REQUIRES: their pipelines have ended.
   void destroySince(size_t count);
   QueryContext& context() { return context_; }
   /// Number of the node's profile: preorder over the whole plan, CTE plans after the children.
   uint32_t profileOf(const sql::plan::Node& node) const;
   void numberNodes(const sql::plan::Node& root);
   uint32_t profileCount() const { return static_cast<uint32_t>(profiles_.size()); }

   /// The filter that a join publishes and scans use. Made at the first call, which may come from the join or a scan.
   RuntimeFilter& runtimeFilter(uint32_t id);
   KeyLookup& keyLookup(uint32_t id);
   /// The buffers in which CTEs are materialised, the columns in those buffers, and the working tables of recursions.
   std::unordered_map<uint32_t, BatchStore*> cteBuffers;
   std::unordered_map<uint32_t, std::vector<sql::ColumnId>> cteColumns;
   std::unordered_map<uint32_t, BatchStore*> workingTables;
   /// Rows after which a recursion may stop, and rows that are to be locked: a LIMIT above takes no more. The number is
   /// known when the node's pipelines run.
   std::unordered_map<const sql::plan::Node*, const uint64_t*> rowsWanted;
   /// Scans and aggregations below ORDER BY ... LIMIT whose rows are wanted in the order of a column.
   struct WantedOrder {
      OrderBound* bound;
      sql::ColumnId column;
   };
   std::unordered_map<const sql::plan::Node*, WantedOrder> wantedOrders;
   /// Of hash joins: whether no two rows of the build side are known to have the same key. Known when it is built.
   std::unordered_map<const sql::plan::Node*, std::function<bool()>> buildIsUnique;
   /// Adds `op` to every stage.
   static void append(std::vector<Stage>& stages, StreamingOperator* op, uint32_t profile);

private:
   void declare(std::vector<Stage>& stages, const sql::plan::Node& node) const;

   QueryContext& context_;
   BuildOperators* const build_;
   std::vector<std::shared_ptr<void>> owned_;
   std::vector<Step> steps_;
   DeferredError* deferred_ = nullptr; ///< of the pipelines that are being added
   std::unordered_map<const sql::plan::Node*, uint32_t> profiles_;
   /// A shared object by its id, and its place in owned_.
   template <typename T>
   struct Shared {
      T* object = nullptr;
      size_t place = 0;
   };
   template <typename T>
   T& shared(std::unordered_map<uint32_t, Shared<T>>& all, uint32_t id) {
      Shared<T>& found = all[id];
      if (!found.object) found = {own<T>(), owned_.size() - 1};
      return *found.object;
   }
   std::unordered_map<uint32_t, Shared<RuntimeFilter>> filters_;
   std::unordered_map<uint32_t, Shared<KeyLookup>> keyLookups_;
};

/// 0, 1, 2, ...: each column keeps its position.
std::vector<uint32_t> identitySlots(size_t count);
/// Positions in `layout` of each wanted column; a missing one is an internal error.
std::vector<uint32_t> slotsOf(const std::vector<sql::ColumnId>& wanted, const std::vector<sql::ColumnId>& layout);
std::vector<Representation> representationsOf(const std::vector<sql::ColumnId>& columns, const sql::ColumnTable& table);

} // namespace ouzel::executor
