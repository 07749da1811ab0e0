#include "executor/function/text/regex_stepper.hpp"

#include <algorithm>
#include <cstring>

#include "executor/function/text/utf8_text.hpp"

namespace ouzel::executor {

namespace {
constexpr uint32_t unlimited = UINT32_MAX;
constexpr size_t stepsMax = 64; ///< bounds the depth of recursion
} // namespace

// ---- compilation ----

class RegexStepper::Compiler {
public:
   explicit Compiler(RegexStepper& out) : out_(out) {}

   /// False: the children are not simple.
   bool add(const RegexNode& sequence, size_t from, size_t to) {
      for (size_t i = from; i < to; ++i)
         if (out_.steps_.size() >= stepsMax || !add(*sequence.children[i])) return false;
      return true;
   }

   /// Called after the last add(): notes what makes steps quicker.
   void prepare() {
      for (size_t i = 0; i < out_.steps_.size(); ++i) {
         Step& step = out_.steps_[i];
         if (step.kind == Step::Kind::Literal && step.literal.size() <= sizeof step.word) {
            std::memcpy(&step.word, step.literal.data(), step.literal.size());
            step.wordMask = ~uint64_t{0} >> (sizeof step.word - step.literal.size()) * 8;
         }
         if (step.kind != Step::Kind::Repeat) continue;
         const Class& set = out_.classes_[step.number];
         step.isPossessive = !step.isLazy && isEndedBy(set, i + 1);
         step.takesAll = std::all_of(set.begin(), set.end(), [](bool has) { return has; });
      }
   }

private:
   bool add(const RegexNode& node) {
      switch (node.kind) {
      case RegexNode::Kind::Text: return addText(node);
      case RegexNode::Kind::Sequence: return add(node, 0, node.children.size());
      case RegexNode::Kind::Group: return addGroup(node);
      case RegexNode::Kind::Repeat: return addRepeat(node);
      default: return false;
      }
   }

   bool addText(const RegexNode& node) {
      if (node.text == RegexNode::endOfText) {
         push(Step::Kind::EndOfText);
         return true;
      }
      if (!node.isExactFirst) return false;
      if (node.first.count() > 1 || node.first.test(128)) {
         push(Step::Kind::Character).number = classOf(node);
         return true;
      }
      if (!mayExtend_) push(Step::Kind::Literal);
      mayExtend_ = true;
      size_t character = 0;
      while (!node.first.test(character))
         if (++character == 128) return false; // an empty class
      out_.steps_.back().literal.push_back(static_cast<char>(character));
      return true;
   }

   bool addGroup(const RegexNode& node) {
      if (node.isCapture) push(Step::Kind::Begin).number = node.capture;
      if (!add(*node.children[0])) return false;
      if (node.isCapture) push(Step::Kind::End).number = node.capture;
      return true;
   }

   bool addRepeat(const RegexNode& node) {
      const RegexNode& operand = *node.children[0];
      if (operand.kind == RegexNode::Kind::Text) {
         if (!operand.isExactFirst || node.max == 0) return false;
         Step& step = push(Step::Kind::Repeat);
         step.number = classOf(operand);
         step.isLazy = node.isLazy;
         step.min = static_cast<uint32_t>(node.min);
         step.max = node.max < 0 ? unlimited : static_cast<uint32_t>(node.max);
         return true;
      }
      if (node.min != 0 || node.max != 1 || operand.width.min == 0) return false;
      const size_t option = out_.steps_.size();
      push(Step::Kind::Option).isLazy = node.isLazy;
      if (!add(operand)) return false;
      out_.steps_[option].next = static_cast<uint32_t>(out_.steps_.size());
      mayExtend_ = false; // a literal behind the group is a step of its own
      return true;
   }

   Step& push(Step::Kind kind) {
      mayExtend_ = false;
      Step& step = out_.steps_.emplace_back();
      step.kind = kind;
      return step;
   }

   uint32_t classOf(const RegexNode& character) {
      Class set;
      for (size_t byte = 0; byte < set.size(); ++byte)
         set[byte] = character.first.test(std::min<size_t>(byte, 128));
      out_.classes_.push_back(set);
      return static_cast<uint32_t>(out_.classes_.size() - 1);
   }

   /// Whether what matches from a step on begins with no character of the class.
   bool isEndedBy(const Class& set, size_t at) const {
      while (at < out_.steps_.size() &&
             (out_.steps_[at].kind == Step::Kind::Begin || out_.steps_[at].kind == Step::Kind::End))
         ++at;
      if (at == out_.steps_.size()) return true; // the longest is taken
      const Step& step = out_.steps_[at];
      if (step.kind == Step::Kind::EndOfText) return true;
      if (step.kind == Step::Kind::Literal) return !set[static_cast<unsigned char>(step.literal[0])];
      if (step.kind == Step::Kind::Option || (step.kind == Step::Kind::Repeat && step.min == 0)) return false;
      const Class& other = out_.classes_[step.number];
      for (size_t byte = 0; byte < set.size(); ++byte)
         if (set[byte] && other[byte]) return false;
      return true;
   }

   RegexStepper& out_;
   bool mayExtend_ = false; ///< the last step is a literal to which the next character belongs
};

std::optional<RegexStepper> RegexStepper::compile(const RegexNode& sequence, size_t count) {
   if (sequence.kind != RegexNode::Kind::Sequence || count < 2) return std::nullopt;
   const RegexNode& start = *sequence.children[0];
   if (start.kind != RegexNode::Kind::Text || start.text != RegexNode::startOfText) return std::nullopt;
   std::optional<RegexStepper> stepper(std::in_place);
   Compiler compiler(*stepper);
   if (!compiler.add(sequence, 1, count)) return std::nullopt;
   compiler.prepare();
   return stepper;
}

// ---- matching ----

inline bool RegexStepper::Step::isAt(std::string_view text, size_t at) const {
   if (wordMask == 0 || text.size() - at < sizeof word) return text.substr(at).starts_with(literal);
   uint64_t here;
   std::memcpy(&here, text.data() + at, sizeof here);
   return ((here ^ word) & wordMask) == 0;
}

class RegexStepper::Run {
public:
   Run(const RegexStepper& stepper, std::string_view text, std::span<RegexSpan> spans)
      : stepper_(stepper), text_(text), spans_(spans), triesLeft_(16 + 4 * text.size()) {}

   /// Match steps from `number` on at byte `at`.
   bool match(size_t number, size_t at) {
      for (; number < stepper_.steps_.size(); ++number) {
         const Step& step = stepper_.steps_[number];
         switch (step.kind) {
         case Step::Kind::Literal:
            if (!step.isAt(text_, at)) return false;
            at += step.literal.size();
            break;
         case Step::Kind::Character:
            if (at == text_.size() || !stepper_.classes_[step.number][byte(at)]) return false;
            at += characterBytes(text_[at]);
            break;
         case Step::Kind::Repeat:
            if (!step.isPossessive) return repeat(step, number + 1, at);
            if (!longest(step, at)) return false;
            break;
         case Step::Kind::Option: return option(step, number, at);
         case Step::Kind::Begin:
         case Step::Kind::End:
            if (step.number < spans_.size()) return capture(step, number, at);
            break;
         case Step::Kind::EndOfText:
            if (at != text_.size()) return false;
            break;
         }
      }
      spans_[0] = {0, at};
      return true;
   }

   bool hasGivenUp() const { return triesLeft_ == 0; }

private:
   unsigned char byte(size_t at) const { return static_cast<unsigned char>(text_[at]); }

   bool mayTry() {
      if (triesLeft_ > 0) --triesLeft_;
      return triesLeft_ > 0;
   }

   /// Move `at` behind the longest repetition. False: it is shorter than the shortest.
   bool longest(const Step& step, size_t& at) const {
      const Class& set = stepper_.classes_[step.number];
      if (step.max == unlimited && step.min <= 1) {
         const size_t begin = at;
         if (step.takesAll) at = text_.size();
         while (at < text_.size() && set[byte(at)])
            ++at; // the bytes of a character behind the first are in each class that it is in
         return at - begin >= step.min;
      }
      uint32_t count = 0;
      for (; count < step.max && at < text_.size() && set[byte(at)]; ++count)
         at += characterBytes(text_[at]);
      return count >= step.min;
   }

   /// Each length of a repetition, in the order of its preference.
   bool repeat(const Step& step, size_t next, size_t at) {
      const Class& set = stepper_.classes_[step.number];
      for (uint32_t i = 0; i < step.min; ++i) {
         if (at >= text_.size() || !set[byte(at)]) return false;
         at += characterBytes(text_[at]);
      }
      if (step.isLazy) {
         for (uint32_t count = step.min; mayTry(); ++count) {
            if (match(next, at)) return true;
            if (count == step.max || at >= text_.size() || !set[byte(at)]) return false;
            at += characterBytes(text_[at]);
         }
         return false;
      }
      const size_t shortest = at;
      for (uint32_t count = step.min; count < step.max && at < text_.size() && set[byte(at)]; ++count)
         at += characterBytes(text_[at]);
      while (mayTry()) {
         if (match(next, at)) return true;
         if (at == shortest) return false;
         at = previousCharacter(text_, at);
      }
      return false;
   }

   bool option(const Step& step, size_t number, size_t at) {
      if (!mayTry()) return false;
      const size_t first = step.isLazy ? step.next : number + 1, second = step.isLazy ? number + 1 : step.next;
      return match(first, at) || (!hasGivenUp() && match(second, at));
   }

   bool capture(const Step& step, size_t number, size_t at) {
      RegexSpan& span = spans_[step.number];
      const RegexSpan before = span;
      if (step.kind == Step::Kind::Begin) {
         span = {at, at};
      } else {
         span.end = at;
      }
      if (match(number + 1, at)) return true;
      spans_[step.number] = before;
      return false;
   }

   const RegexStepper& stepper_;
   const std::string_view text_;
   const std::span<RegexSpan> spans_;
   size_t triesLeft_;
};

RegexStepper::Outcome RegexStepper::match(std::string_view text, std::span<RegexSpan> spans) const {
   Run run(*this, text, spans);
   if (run.match(0, 0)) return Outcome::Match;
   return run.hasGivenUp() ? Outcome::TooManyTries : Outcome::NoMatch;
}

} // namespace ouzel::executor
