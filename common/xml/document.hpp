#pragma once
#include <memory>
#include <string_view>

#include "common/xml/errors.hpp"

struct _xmlDoc;

// Texts as trees of libxml2, and the checks of the type's input.
//
// Any number of threads may parse at the same time. Nothing outside of the text is read: an entity that says that it is
// in a file or elsewhere is empty, as in PostgreSQL, and so is a DTD. libxml2 bounds what entities may grow to.

namespace ouzel {
class Reservation;
}

namespace ouzel::xml {

/// DOCUMENT: one root element. CONTENT: what may stand inside of an element. A text with a DOCTYPE is a document
/// always.
enum class Option { Content, Document };

/// To be called before anything else of libxml2; the constructor of Errors does.
void prepareLibrary();

struct FreeDocument {
   void operator()(_xmlDoc* document) const;
};
using DocumentPtr = std::unique_ptr<_xmlDoc, FreeDocument>;

/// The size of a text's tree, charged to a reservation before it is made. Throws 53200.
class TreeCharge {
public:
   TreeCharge(std::string_view text, Reservation* reservation);
   ~TreeCharge();
   TreeCharge(const TreeCharge&) = delete;
   TreeCharge& operator=(const TreeCharge&) = delete;

private:
   Reservation* reservation_;
   size_t bytes_ = 0;
};

/// Throws 2200M or 2200N, invalid XML document or content, with what libxml2 says as its DETAIL.
/// `reservation`: that the tree is charged to while it lives; may be null.
void check(std::string_view text, Option option, Reservation* reservation);
/// Whether check() does not throw.
bool isWellFormed(std::string_view text, Option option, Reservation* reservation);

/// A document that paths are asked of, without its declaration. Throws 2200M.
DocumentPtr parseDocument(std::string_view text, Errors& errors);

} // namespace ouzel::xml
