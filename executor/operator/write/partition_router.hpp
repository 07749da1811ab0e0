#pragma once
#include <span>
#include <vector>

#include "common/error/sql_error.hpp"
#include "common/type/session_format.hpp"
#include "executor/expression/program.hpp"
#include "sql/algebra/table_parts.hpp"

namespace ouzel::executor {

/// Where a row to write has a column.
struct WrittenColumn {
   int16_t attribute; ///< or the number of an expression in a partition key
   uint32_t slot;
   SqlType type;
   Representation representation;
};

/// A row's values of the columns of a partition key.
class PartitionKeyReader {
public:
   /// `columns`: of the row that is written; `key`: attributes of it; `shown`: those that stand for them in errors.
   PartitionKeyReader(std::span<const int16_t> key, std::span<const WrittenColumn> columns,
                      std::span<const int16_t> shown);

   void read(const Batch& batch, uint32_t row, std::vector<Value>& values) const;
   /// "(a, b) = (1, x)", by the key's columns in `named`.
   std::string text(const Batch& batch, uint32_t row, const catalog::Relation& named,
                    const SessionFormat& format) const;

private:
   std::vector<WrittenColumn> columns_, shown_;
};

/// Finds the partition of a row below a partitioned table. Immutable, for all workers.
class PartitionRouter {
public:
   static constexpr uint32_t none = UINT32_MAX;

   PartitionRouter(std::shared_ptr<const sql::TableParts> parts, std::span<const WrittenColumn> columns);

   /// The part that a row belongs to; none: there is none for it. `values` is scratch.
   uint32_t find(const Batch& batch, uint32_t row, std::vector<Value>& values) const;
   /// The error of a row without a partition.
   SqlError missing(const Batch& batch, uint32_t row, const SessionFormat& format,
                    const catalog::Snapshot* catalog) const;

private:
   const std::shared_ptr<const sql::TableParts> parts_;
   std::vector<PartitionKeyReader> readers_; ///< by node
};

/// Whether rows that are written to a partition by its own name belong there.
class TargetBounds {
public:
   TargetBounds(std::shared_ptr<const sql::BoundsAbove> bounds, std::span<const WrittenColumn> columns);
   bool hold(const Batch& batch, uint32_t row, std::vector<Value>& values) const;

private:
   const std::shared_ptr<const sql::BoundsAbove> bounds_;
   std::vector<PartitionKeyReader> readers_; ///< by level
};

} // namespace ouzel::executor
