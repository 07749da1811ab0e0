#pragma once
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/hash/hyper_log_log.hpp"
#include "common/json/jsonb.hpp"
#include "common/number/decimal.hpp"
#include "storage/json/shape.hpp"

// What a set of documents has at each of their paths: how many values of which kind, and the bounds of numbers. Durner
// ("Efficient Query Processing on Modern Hardware", JSON Tiles) keeps counters of the frequent paths of a table for the
// optimizer, and sketches of 64 of them. The counters here are exact: plans rely on the types and bounds.

namespace ouzel::storage {

/// How many of some values differ.
struct PathSketch {
   HyperLogLog distinct;
   uint64_t count = 0; ///< of the values
};

/// The values at one path.
struct PathSummary {
   uint64_t counts[nodeKindCount] = {}; ///< by NodeKind
   /// Whether all numbers have one scale and fit into 64 bits at it.
   bool areAlike = true;
   uint8_t scale = 0;
   int64_t smallest = INT64_MAX, largest = INT64_MIN; ///< of numbers that are alike, at their scale
   bool areDates = true; ///< whether all texts are ISO dates, of which these are the bounds, as days since 2000-01-01
   int32_t earliest = INT32_MAX, latest = INT32_MIN;
   bool isExact = true; ///< false: documents with further values were left out
   /// Of those values that columns hold; null: of none.
   std::shared_ptr<const PathSketch> sketch;

   uint64_t count(NodeKind kind) const { return counts[static_cast<size_t>(kind)]; }
   uint64_t total() const { return std::accumulate(std::begin(counts), std::end(counts), uint64_t{0}); }
   void addNumber(const StringView& number);
   void addText(std::string_view text);
   void addSketch(const PathSketch& added);
   void merge(const PathSummary& other);
};

/// The paths of a set of documents. The number of paths is bounded: what is beyond the bound is left out, and the
/// summary says so.
class DocumentSummary {
public:
   static constexpr uint32_t pathsMax = 1024;   ///< that a block keeps
   static constexpr uint32_t sketchesMax = 128; ///< that a block keeps: each takes 1 KB of memory

   explicit DocumentSummary(uint32_t limit = pathsMax) : limit_(limit), nodes_(1) {}

   uint64_t documentCount() const { return documents_; }
   /// False: paths beyond the bound were left out.
   bool isComplete() const { return isComplete_; }

   /// Counts all values of a document.
   void add(const json::JsonbView& document);
   void merge(const DocumentSummary& other);
   /// As if each document were there so many times.
   void multiply(uint64_t times);
   /// What the documents have at a path. The result is not exact where the path may have been left out.
   PathSummary find(std::span<const std::string> keys) const;
   /// The most frequent paths, `limit` at most.
   DocumentSummary frequent(uint32_t limit) const;
   /// Adds the values of a column to the sketch of its path. Nothing happens if the path was left out.
   void addSketch(std::span<const std::string> keys, const PathSketch& sketch);
   /// Drops all sketches but those of the most frequent paths, `limit` at most.
   void limitSketches(uint32_t limit);

   void serialize(std::string& out) const;
   /// Throws XX001.
   static DocumentSummary deserialize(ByteReader& in);

   // Paths by number: parents before children, 0 the document.
   static constexpr uint32_t none = UINT32_MAX;
   uint32_t size() const { return static_cast<uint32_t>(nodes_.size()); }
   const JsonPath& path(uint32_t path) const { return nodes_[path].path; }
   const PathSummary& values(uint32_t path) const { return nodes_[path].values; }
   /// The path of a key below `parent`; none if it is not there.
   uint32_t search(uint32_t parent, std::string_view key) const;
   /// The same, made if it is new; none when there are too many. `position`: the member's number, since most documents
   /// have the keys of those before them.
   uint32_t child(uint32_t parent, std::string_view key, uint32_t position);

private:
   struct Node {
      JsonPath path;
      PathSummary values;
      std::vector<uint32_t> recent; ///< the paths of the members of the last object here, by position
   };
   void add(const json::JsonbView& value, uint32_t path);
   uint32_t make(uint32_t parent, std::string_view key);

   uint32_t limit_;
   uint64_t documents_ = 0;
   bool isComplete_ = true;
   std::vector<Node> nodes_;
   std::unordered_multimap<uint64_t, uint32_t> byHash_;
};

NodeKind nodeKindOf(const json::JsonbView& value);

} // namespace ouzel::storage
