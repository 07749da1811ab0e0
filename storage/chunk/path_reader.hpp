#pragma once
#include <memory>
#include <vector>

#include "common/json/path_access.hpp"
#include "storage/block/value_range.hpp"
#include "storage/chunk/document_reader.hpp"

namespace ouzel::storage {

/// Reads what an access gives of the documents of a column. Where a chunk has parts, it reads only the columns of the
/// path; the documents themselves are read only for the rows whose value at the path is an object. Owned by one worker.
///
/// Each shape says where a value comes from: from nowhere, from a leaf, from a residue, or from the whole document.
/// Strings lie in pinned pages, in the documents given, or in the reader's memory, until the next call.
class PathReader {
public:
   /// `access` outlives the reader.
   explicit PathReader(const json::PathAccess& access);
   ~PathReader();

   const json::PathAccess& access() const { return access_; }

   /// A chunk that has parts. `shapes` is open, and stays so until close().
   void open(DocumentShapes& shapes);
   void close();
   bool isOpen() const { return shapes_ != nullptr; }

   /// As ChunkReader's.
   Vector read(uint32_t first, uint32_t count, const Selection& rows);
   /// False when no value in the aligned vector of rows from `first` on can lie in the range, which bounds integers of
   /// form Value. Values of other types and forms lie in any range.
   bool mayMatch(uint32_t first, ZoneKey lower, ZoneKey upper);
   /// The column of a leaf that has exactly what read() gives; null: there is none.
   ChunkReader* direct();
   /// Whether filterRange() works on the column of a leaf; else read() gives the values to compare.
   bool filtersLeaf();
   /// Writes the selected rows whose value the range contains to `out`, and returns their number. REQUIRES:
   /// filtersLeaf().
   uint32_t filterRange(uint32_t first, uint32_t count, const ValueRange& range, const Selection& rows, RowIndex* out);
   /// The same of documents that lie elsewhere. `documents` has the rows of the selection.
   Vector give(const Vector& documents, uint32_t count, const Selection& rows);

private:
   /// Where the value of a document comes from; fromLeaves + i: from columns_[i].
   enum Source : uint8_t {
      fromNowhere,
      fromNull,
      fromEmptyArray,
      fromResidue,
      fromResidueMember, ///< what the residue may add to an object; else false
      fromDocument,
      fromPresence,
      fromAbsence,
      fromWrongType,
      fromKinds, ///< plus a NodeKind: its name
      fromLeaves = fromKinds + nodeKindCount
   };

   /// A leaf at the path.
   struct PathLeaf {
      PathLeaf(const Leaf& definition, PhysicalType type) : leaf(definition), column(type) {}
      const Leaf& leaf;
      DenseColumn column;
      bool isDirect = false;      ///< the column has what the access gives
      uint32_t set = 0;           ///< the shapes that have the leaf
      std::vector<RowIndex> rows; ///< of the wanted values
   };

   void load();
   uint8_t sourceOf(const Shape& shape, uint32_t path, bool mayBeResidue);
   uint8_t sourceOf(const ShapeNode& node);
   uint8_t keySource(const Shape& shape, const ShapeNode& around, uint32_t path);
   uint32_t setOf(uint8_t source);
   uint8_t otherType() const;
   uint8_t leafSource(const ShapeNode& node);
   bool givesNothing(const Leaf& leaf, uint32_t number) const;
   PhysicalType typeToRead(const Leaf& leaf) const;
   bool isDirect(const PathLeaf& leaf) const;
   void findSources(uint32_t first, uint32_t count, uint8_t* sources) const;
   static void collect(PathLeaf& leaf, const MemberRows& members, uint32_t count, const Selection& rows);
   Vector readLeaf(uint32_t first, uint32_t count, const Selection& rows);
   Vector readPresence(uint32_t first, uint32_t count);
   Vector readMixed(uint32_t first, uint32_t count, const Selection& rows);
   void collectOthers(uint32_t first, const uint8_t* sources, uint32_t count, const Selection& rows);
   void giveLeaf(PathLeaf& leaf);
   bool giveOne(const Leaf& leaf, const void* value, void* out);
   Vector giveCodes(uint32_t count);
   void giveOthers(uint32_t first, uint32_t count);
   void giveResidues();
   void giveDocuments(uint32_t first, uint32_t count);
   void giveConstant(std::string_view json, const std::vector<RowIndex>& rows);
   void* slot(uint32_t row) { return out_.data() + size_t{row} * physicalSize(access_.resultType()); }
   void setValid(uint32_t row) { setValidBit(validity_.data(), row, true); }
   void begin(uint32_t count);
   Vector result(uint32_t count) const;
   Vector allNull();

   const json::PathAccess& access_;
   DocumentShapes* shapes_ = nullptr;
   // Of a chunk with parts, once it is loaded:
   bool isLoaded_ = false;
   bool isAllNull_ = false;
   bool isOneLeaf_ = false;       ///< all values are those of one leaf
   bool isDirect_ = false;        ///< and each row has one
   bool isPresence_ = false;      ///< only shapes are asked for
   bool areCodes_ = false;        ///< all values are of one leaf, which has a dictionary
   bool hasOthers_ = false;       ///< some values come from elsewhere than leaves
   std::vector<uint8_t> sources_; ///< by shape plus one; the first is that of NULL documents
   std::vector<PathLeaf> leaves_; ///< at most one a kind
   std::unique_ptr<DenseColumn> residues_;
   std::unique_ptr<DocumentReader> documents_;
   uint32_t residueSet_ = 0, presenceSet_ = 0;
   // Of the rows that are being read:
   std::vector<RowIndex> residueRows_, documentRows_, nullRows_, emptyArrayRows_;
   std::vector<uint16_t> codes_, denseCodes_;
   std::vector<StringView> entries_; ///< of the dictionary, and one for NULL; empty: not made yet
   std::vector<ValidityWord> entryValidity_;
   std::vector<char> out_;
   std::vector<ValidityWord> validity_;
   Arena arena_;
};

} // namespace ouzel::storage
