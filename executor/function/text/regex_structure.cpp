#include "executor/function/text/regex_structure.hpp"

#include "common/error/sql_error.hpp"
#include "common/thread/stack.hpp"

namespace ouzel::executor {

namespace {

using Kind = RegexDissection::Kind;
using Syntax = RegexNode::Kind;
using Preference = RegexPreference;
using NodePtr = std::unique_ptr<RegexDissection>;

/// What is known of a part before it becomes a node. The rules are those of Henry Spencer's compiler.
struct Traits {
   Preference preference = Preference::None;
   bool isMixed = false; ///< parts prefer different lengths
   bool hasCaptures = false;
   bool hasBackReference = false;

   bool isMessy() const { return isMixed || hasCaptures || hasBackReference; }
   /// This part followed by another one, or in another one with that preference: the first preference decides.
   Traits then(const Traits& other) const {
      const bool clash =
          preference != Preference::None && other.preference != Preference::None && preference != other.preference;
      return {preference != Preference::None ? preference : other.preference, isMixed || other.isMixed || clash,
              hasCaptures || other.hasCaptures, hasBackReference || other.hasBackReference};
   }
};

Traits traitsOf(const RegexDissection& node) {
   return {node.preference, node.hasMixedPreferences, node.hasCaptures, node.hasBackReference};
}
void setTraits(RegexDissection& node, const Traits& traits) {
   node.preference = traits.preference;
   node.hasMixedPreferences = traits.isMixed;
   node.hasCaptures = traits.hasCaptures;
   node.hasBackReference = traits.hasBackReference;
}

NodePtr make(Kind kind, const RegexPart& part, const RegexWidth& width, const Traits& traits) {
   auto node = std::make_unique<RegexDissection>();
   node->kind = kind;
   node->part = part;
   node->width = width;
   setTraits(*node, traits);
   return node;
}

NodePtr dissect(const RegexNode& syntax);

NodePtr choice(const RegexNode& syntax) {
   NodePtr node = make(Kind::Choice, {RegexPart::Kind::Node, &syntax}, syntax.width, {Preference::Longest});
   for (const auto& branch : syntax.children) {
      node->children.push_back(dissect(*branch));
      setTraits(*node, traitsOf(*node).then(traitsOf(*node->children.back())));
   }
   if (!traitsOf(*node).isMessy()) {
      node->kind = Kind::Leaf;
      node->children.clear();
   }
   return node;
}

Preference preferenceOfQuantifier(const RegexNode& syntax) {
   if (syntax.kind != Syntax::Repeat || syntax.isExact) return Preference::None;
   return syntax.isLazy ? Preference::Shortest : Preference::Longest;
}

/// An operand with its quantifier.
NodePtr quantified(NodePtr operand, const RegexNode& syntax) {
   const Traits quantifier = {preferenceOfQuantifier(syntax)}, inner = traitsOf(*operand);
   const Traits traits = quantifier.then(inner);
   const bool isVacuous =
       syntax.min == 1 && syntax.max == 1 &&
       (quantifier.preference == Preference::None || (inner.preference == Preference::None && !inner.isMixed) ||
        (inner.preference == quantifier.preference && !inner.isMixed));
   if (isVacuous) return operand;
   const RegexPart part = {RegexPart::Kind::Node, &syntax};
   if (operand->backReference != 0 && operand->captures.empty()) {
      operand->min = syntax.min;
      operand->max = syntax.max;
      operand->part = part;
      operand->width = syntax.width;
      setTraits(*operand, traits);
      return operand;
   }
   if (!inner.hasCaptures && !inner.hasBackReference) return make(Kind::Leaf, part, syntax.width, traits);
   if (syntax.min == 0 || inner.hasBackReference) {
      NodePtr node = make(Kind::Iterate, part, syntax.width, traits);
      node->min = syntax.min;
      node->max = syntax.max;
      node->children.push_back(std::move(operand));
      return node;
   }
   // x{m,n} matches as x{m-1,n-1} without captures, followed by x.
   NodePtr node = make(Kind::Concat, part, syntax.width, traits);
   const RegexWidth rounds = operand->width.repeated(syntax.min - 1, syntax.max < 0 ? -1 : syntax.max - 1);
   const RegexPart last = operand->part;
   node->rests = {part, last};
   node->restWidths = {syntax.width, operand->width};
   node->children.push_back(make(Kind::Leaf, {RegexPart::Kind::Rounds, &syntax}, rounds, {traits.preference}));
   node->children.push_back(std::move(operand));
   return node;
}

/// A sequence is cut where captures are or the preference changes. What lies between is one leaf each.
class SequenceCutter {
public:
   explicit SequenceCutter(const RegexNode& syntax) : syntax_(syntax) {}

   NodePtr cut() {
      cutFromLeft();
      for (size_t i = cuts_.size(); i-- > 0;)
         prepend(cuts_[i]);
      if (reversed_.empty()) return make(Kind::Leaf, neighbours(0, syntax_.children.size()), syntax_.width, tail_);
      if (reversed_.size() == 1) return std::move(reversed_[0]);
      NodePtr node = make(Kind::Concat, neighbours(0, syntax_.children.size()), syntax_.width, tail_);
      RegexWidth width;
      for (NodePtr& child : reversed_) {
         width = child->width + width;
         node->restWidths.push_back(width);
         node->children.push_back(std::move(child));
      }
      std::reverse(node->children.begin(), node->children.end());
      std::reverse(node->restWidths.begin(), node->restWidths.end());
      for (size_t i = 0; i < starts_.size(); ++i)
         node->rests.push_back(neighbours(starts_[starts_.size() - 1 - i], syntax_.children.size()));
      return node;
   }

private:
   /// Neighbours without captures and with one preference, and the messy atom behind them.
   struct Cut {
      size_t begin = 0, atom = 0;
      Traits before;
      NodePtr node;
      Preference quantifier = Preference::None;
   };

   RegexPart neighbours(size_t from, size_t to) const { return {RegexPart::Kind::Neighbours, &syntax_, from, to}; }
   RegexWidth widthOf(size_t from, size_t to) const {
      RegexWidth width;
      for (; from < to; ++from)
         width = width + syntax_.children[from]->width;
      return width;
   }

   void cutFromLeft() {
      Traits run;
      size_t begin = 0;
      for (size_t i = 0; i < syntax_.children.size(); ++i) {
         const RegexNode& syntax = *syntax_.children[i];
         const bool isRepeat = syntax.kind == Syntax::Repeat;
         if (isRepeat && syntax.max == 0) continue; // matches nothing, whatever its operand is
         NodePtr operand = dissect(isRepeat ? *syntax.children[0] : syntax);
         const Traits quantifier = {preferenceOfQuantifier(syntax)};
         const Traits extended = run.then(quantifier).then(traitsOf(*operand));
         if (!extended.isMessy()) {
            run = extended;
            continue;
         }
         cuts_.push_back({begin, i, run, isRepeat ? quantified(std::move(operand), syntax) : std::move(operand),
                          quantifier.preference});
         run = {};
         begin = i + 1;
      }
      tail_ = run;
      if (begin < syntax_.children.size() && begin > 0)
         push(
             make(Kind::Leaf, neighbours(begin, syntax_.children.size()), widthOf(begin, syntax_.children.size()), run),
             begin);
   }

   /// Put a cut before what stands behind it, whose traits are `tail_`.
   void prepend(Cut& cut) {
      const bool hasRest = cut.atom + 1 < syntax_.children.size(), hasBefore = cut.begin < cut.atom;
      const Traits atom = traitsOf(*cut.node);
      const bool isLeaf = cut.node->kind == Kind::Leaf && cut.node->captures.empty();
      if (hasRest) {
         const Traits rest = Traits{cut.quantifier}.then(atom).then(tail_);
         const bool canMerge = hasBefore && isLeaf && reversed_.size() == 1 && reversed_[0]->kind == Kind::Leaf &&
                               reversed_[0]->captures.empty() && !atom.then(tail_).isMessy();
         if (canMerge) {
            reversed_.clear();
            starts_.clear();
            push(make(Kind::Leaf, neighbours(cut.atom, syntax_.children.size()),
                      widthOf(cut.atom, syntax_.children.size()), atom.then(tail_)),
                 cut.atom);
         } else {
            push(std::move(cut.node), cut.atom);
         }
         tail_ = cut.before.then(rest);
      } else {
         push(std::move(cut.node), cut.atom);
         tail_ = cut.before.then(atom);
      }
      if (hasBefore)
         push(make(Kind::Leaf, neighbours(cut.begin, cut.atom), widthOf(cut.begin, cut.atom), cut.before), cut.begin);
   }

   void push(NodePtr node, size_t begin) {
      reversed_.push_back(std::move(node));
      starts_.push_back(begin);
   }

   const RegexNode& syntax_;
   std::vector<Cut> cuts_;
   std::vector<NodePtr> reversed_; ///< the nodes, last first
   std::vector<size_t> starts_;    ///< by node of reversed_, the child of the sequence where it begins
   Traits tail_;
};

NodePtr dissect(const RegexNode& syntax) {
   checkStack();
   switch (syntax.kind) {
   case Syntax::Look:
   case Syntax::WordStart:
   case Syntax::WordEnd:
   case Syntax::Text: return make(Kind::Leaf, {RegexPart::Kind::Node, &syntax}, syntax.width, {});
   case Syntax::Sequence: return SequenceCutter(syntax).cut();
   case Syntax::Choice: return choice(syntax);
   case Syntax::BackReference: {
      NodePtr node = make(Kind::Leaf, {RegexPart::Kind::Node, &syntax}, syntax.width, {});
      node->hasBackReference = true;
      node->backReference = syntax.capture;
      node->min = node->max = 1;
      return node;
   }
   case Syntax::Group: {
      NodePtr node = dissect(*syntax.children[0]);
      if (syntax.isCapture) {
         node->captures.push_back(syntax.capture);
         node->hasCaptures = true;
      }
      return node;
   }
   case Syntax::Repeat: break;
   }
   throwInternal("a quantifier outside a sequence");
}

/// Whether the next node decides where a repetition ends: it begins with none of the characters that a round does.
bool isEndedBy(const RegexNode& repeat, const RegexNode& next) {
   return next.width.min > 0 && (repeat.children[0]->first & next.first).none();
}

/// isOrdered for children of a sequence. All have a fixed width or one possible end, but for one.
bool areOrdered(const RegexNode& sequence, size_t from, size_t to, Preference preference) {
   bool hasFreeEnd = false;
   for (size_t i = from; i < to; ++i) {
      const RegexNode& child = *sequence.children[i];
      if (child.width.isFixed()) continue;
      const bool isRepeat = child.kind == Syntax::Repeat;
      if (isRepeat && (!child.children[0]->width.isFixed() || child.children[0]->width.min == 0)) return false;
      if (isRepeat && i + 1 < to && isEndedBy(child, *sequence.children[i + 1])) {
         // Rounds of several characters may end earlier when they begin later.
         if (!hasFreeEnd || child.children[0]->width.min == 1) continue;
      }
      if (hasFreeEnd) return false;
      hasFreeEnd = true;
      if (isRepeat ? child.isLazy != (preference == Preference::Shortest)
                   : !isOrdered({RegexPart::Kind::Node, &child}, preference))
         return false;
   }
   return true;
}

} // namespace

std::unique_ptr<RegexDissection> dissectionOf(const RegexNode& root) {
   return dissect(root);
}

bool isOrdered(const RegexPart& part, RegexPreference preference) {
   const RegexNode& node = *part.node;
   if (part.kind == RegexPart::Kind::Neighbours) return areOrdered(node, part.from, part.to, preference);
   if (part.kind == RegexPart::Kind::Node && node.width.isFixed()) return true;
   switch (node.kind) {
   case Syntax::Look:
   case Syntax::WordStart:
   case Syntax::WordEnd:
   case Syntax::BackReference:
   case Syntax::Text: return true;
   case Syntax::Group: return isOrdered({RegexPart::Kind::Node, node.children[0].get()}, preference);
   case Syntax::Sequence: return areOrdered(node, 0, node.children.size(), preference);
   case Syntax::Choice: return false;
   case Syntax::Repeat:
      return node.children[0]->width.isFixed() && node.children[0]->width.min > 0 &&
             node.isLazy == (preference == Preference::Shortest);
   }
   return false;
}

bool isLeftmostFirst(const RegexDissection& node) {
   switch (node.kind) {
   case Kind::Leaf: return true;
   case Kind::Choice: break;
   case Kind::Concat:
      for (size_t i = 0; i + 1 < node.children.size(); ++i) {
         const RegexDissection& child = *node.children[i];
         if (!child.width.isFixed() && !node.restWidths[i + 1].isFixed() && !isOrdered(child.part, child.preference))
            return false;
         // Leftmost-first search keeps captures of earlier rounds.
         if (child.part.kind == RegexPart::Kind::Rounds && child.width.max > 0 &&
             (node.children[1]->kind != Kind::Leaf || !node.children[1]->width.isFixed() ||
              node.children[1]->width.min == 0))
            return false;
      }
      break;
   case Kind::Iterate: {
      const RegexDissection& round = *node.children[0];
      if (round.width.min == 0) return false;
      if (node.max != 1 && (round.kind != Kind::Leaf || !round.width.isFixed())) return false;
      break;
   }
   }
   for (const auto& child : node.children)
      if (!isLeftmostFirst(*child)) return false;
   return true;
}

} // namespace ouzel::executor
