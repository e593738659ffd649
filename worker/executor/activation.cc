#include "worker/executor/activation.h"

#include <algorithm>
#include <utility>

#include "common/base/status.h"
#include "worker/executor/arena.h"
#include "worker/executor/control.h"
#include "worker/executor/view_op.h"

namespace weir {

Layout Layout::RowMajor(DType dtype, absl::Span<const int64_t> extents) {
  return {dtype, Extents(extents.begin(), extents.end()), RowMajorStrides(extents)};
}

Layout Layout::Of(const Tensor& tensor) {
  return {tensor.dtype(), tensor.extents(), tensor.strides()};
}

int64_t Layout::bytes() const {
  int64_t elements = NumElements(extents);
  if (elements == 0) return 0;
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    elements = std::max(elements, extents[axis] * strides[axis]);
  }
  return elements * SizeOf(dtype);
}

bool Layout::is_row_major() const {
  const Extents wanted = RowMajorStrides(extents);
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    if (extents[axis] == 0) return true;
    if (extents[axis] != 1 && strides[axis] != wanted[axis]) return false;
  }
  return true;
}

Activation::Activation(const RegionPlan& plan, const SymbolBindings& symbols,
                       std::vector<Layout> externals)
    : plan_(plan),
      symbols_(symbols),
      externals_(std::move(externals)),
      places_(plan.values().size()),
      scratch_buffers_(plan.steps().size(), -1),
      steps_(plan.steps().size()),
      freed_after_(plan.steps().size()) {}

absl::StatusOr<std::unique_ptr<Activation>> Activation::Create(const RegionPlan& plan,
                                                               const SymbolBindings& symbols,
                                                               std::vector<Layout> externals) {
  auto activation =
      std::unique_ptr<Activation>(new Activation(plan, symbols, std::move(externals)));
  WEIR_RETURN_IF_ERROR(activation->PlaceExternals());
  activation->FindLastUses();
  for (size_t s = 0; s < plan.steps().size(); ++s) {
    WEIR_RETURN_IF_ERROR(Annotate(activation->PlaceStep(static_cast<int>(s)),
                                  plan.graph().Describe(plan.steps()[s].node)));
  }
  for (size_t r = 0; r < plan.results().size(); ++r) {
    const int value = plan.results()[r];
    const Place& place = activation->places_[value];
    activation->result_layouts_.push_back(
        Layout::RowMajor(place.layout.dtype, place.layout.extents));
    const bool in_place = place.base == Base::kResult && place.index == static_cast<int>(r) &&
                          place.offset == 0 && place.layout.is_row_major();
    if (!in_place) activation->copied_results_.push_back({static_cast<int>(r), value});
  }
  activation->PlaceBuffersInArena();
  activation->FillViews();
  return activation;
}

absl::StatusOr<Extents> Activation::ExtentsOf(int value) const {
  WEIR_ASSIGN_OR_RETURN(Extents extents, plan_.type(value).shape.Evaluate(symbols_));
  WEIR_RETURN_IF_ERROR(CheckedNumElements(extents, plan_.type(value).dtype).status());
  return extents;
}

absl::Status Activation::PlaceExternals() {
  for (size_t v = 0; v < places_.size(); ++v) {
    const RegionPlan::ValueInfo& info = plan_.values()[v];
    Place& place = places_[v];
    if (info.origin == RegionPlan::Origin::kExternal) {
      place.layout = externals_[info.external];
      place.base = Base::kExternal;
      place.index = info.external;
      place.known = true;
    } else if (info.origin == RegionPlan::Origin::kConstant) {
      place.layout = Layout::Of(*info.constant);
      place.base = Base::kConstant;
      place.constant = info.constant->num_elements() == 0 ? nullptr : info.constant->raw_data();
      place.known = true;
    }
  }
  return absl::OkStatus();
}

// A value lives until the last step that uses it or a view of it.
void Activation::FindLastUses() {
  const int end = static_cast<int>(plan_.steps().size());
  last_use_.assign(places_.size(), -1);
  for (int result : plan_.results()) last_use_[result] = end;
  for (int s = end - 1; s >= 0; --s) {
    const RegionPlan::Step& step = plan_.steps()[s];
    auto use = [&](int value) { last_use_[value] = std::max(last_use_[value], s); };
    for (int operand : step.operands) use(operand);
    for (const std::vector<int>& captured : step.captures) {
      for (int value : captured) use(value);
    }
    if (step.kind == RegionPlan::Step::Kind::kView) {
      int& root = last_use_[step.operands[0]];
      root = std::max(root, last_use_[step.results[0]]);
    }
  }
}

absl::Status Activation::PlaceStep(int index) {
  switch (plan_.steps()[index].kind) {
    case RegionPlan::Step::Kind::kKernel:
      return PlaceKernel(index);
    case RegionPlan::Step::Kind::kView:
      return PlaceView(index);
    case RegionPlan::Step::Kind::kControl:
      return PlaceControl(index);
  }
  return absl::OkStatus();
}

namespace {

cpu::View ViewOf(const Layout& layout) {
  return {nullptr, layout.dtype, layout.extents, layout.strides};
}

}  // namespace

// Strides in `order`. Where an axis other than the last is innermost (the rows of a batch), its
// lines begin at multiples of a cache line, so that no vector straddles two; long lines at odd
// multiples, so that a column spreads over all sets of a cache.
Extents StridesWithWholeLines(DType dtype, Extents extents, const cpu::AxisOrder& order) {
  constexpr int64_t kLineBytes = 64;
  const int64_t line = kLineBytes / SizeOf(dtype);
  if (!order.empty() && order.back() != static_cast<int>(extents.size()) - 1) {
    int64_t& rows = extents[order.back()];
    int64_t lines = (rows + line - 1) / line;
    if (lines > 32) lines |= 1;
    if (lines > 4) rows = lines * line;
  }
  return cpu::StridesInOrder(extents, order);
}

absl::Status Activation::PlaceKernel(int index) {
  const RegionPlan::Step& step = plan_.steps()[index];
  std::vector<cpu::View> operands;
  for (int operand : step.operands) operands.push_back(ViewOf(places_[operand].layout));
  std::vector<Layout> layouts;
  for (int result : step.results) {
    WEIR_ASSIGN_OR_RETURN(const Extents extents, ExtentsOf(result));
    layouts.push_back(Layout::RowMajor(plan_.type(result).dtype, extents));
  }
  std::vector<cpu::View> results;
  for (const Layout& layout : layouts) results.push_back(ViewOf(layout));
  for (size_t r = 0; r < step.results.size(); ++r) {
    const bool bound = plan_.values()[step.results[r]].result >= 0;
    Extents strides = layouts[r].strides;
    if (!bound) {
      const cpu::AxisOrder order = step.kernel->ResultOrder(operands, results, static_cast<int>(r));
      strides = StridesWithWholeLines(layouts[r].dtype, layouts[r].extents, order);
    }
    WEIR_RETURN_IF_ERROR(PlaceResult(index, step.results[r], std::move(strides)));
  }
  results.clear();
  for (int result : step.results) results.push_back(ViewOf(places_[result].layout));
  AddScratch(index, static_cast<int64_t>(step.kernel->ScratchBytes(operands, results)));
  return absl::OkStatus();
}

absl::Status Activation::PlaceResult(int step, int value, Extents strides) {
  Place& place = places_[value];
  WEIR_ASSIGN_OR_RETURN(Extents extents, ExtentsOf(value));
  place.layout = {plan_.type(value).dtype, std::move(extents), std::move(strides)};
  place.known = true;
  const int bound = plan_.values()[value].result;
  if (bound >= 0) {
    place.base = Base::kResult;
    place.index = bound;
    return absl::OkStatus();
  }
  if (plan_.steps()[step].in_place && TakeOverOperand(step, value)) return absl::OkStatus();
  place.base = Base::kArena;
  place.buffer = static_cast<int>(buffers_.size());
  buffers_.push_back({place.layout.bytes(), step, std::max(step, last_use_[value])});
  return absl::OkStatus();
}

// Lets an element-wise result lie where an operand of equal layout lies that nobody uses any more.
bool Activation::TakeOverOperand(int step, int value) {
  Place& place = places_[value];
  for (int operand : plan_.steps()[step].operands) {
    const Place& from = places_[operand];
    if (from.base != Base::kArena || from.buffer < 0 || from.offset != 0) continue;
    if (buffers_[from.buffer].last != step || buffers_[from.buffer].first == step) continue;
    const bool read_elsewhere = std::any_of(
        plan_.steps()[step].operands.begin(), plan_.steps()[step].operands.end(), [&](int other) {
          const Place& p = places_[other];
          return p.base == Base::kArena && p.buffer == from.buffer &&
                 (p.offset != 0 || p.layout.strides != from.layout.strides ||
                  p.layout.extents != from.layout.extents);
        });
    if (read_elsewhere) continue;
    if (SizeOf(from.layout.dtype) != SizeOf(place.layout.dtype) ||
        from.layout.extents != place.layout.extents ||
        from.layout.strides != place.layout.strides) {
      continue;
    }
    place.base = Base::kArena;
    place.buffer = from.buffer;
    buffers_[from.buffer].last = std::max(step + 1, last_use_[value]);
    return true;
  }
  return false;
}

absl::Status Activation::PlaceView(int index) {
  const RegionPlan::Step& step = plan_.steps()[index];
  const Place& from = places_[step.operands[0]];
  Place& place = places_[step.results[0]];
  WEIR_ASSIGN_OR_RETURN(
      std::optional<ViewedLayout> viewed,
      ApplyViewOp(plan_.graph(), plan_.graph().node(step.node), from.layout, symbols_));
  if (viewed.has_value()) {
    place = from;
    place.layout = std::move(viewed->layout);
    place.offset += viewed->offset * SizeOf(from.layout.dtype);
    place.known = true;
    return absl::OkStatus();
  }
  steps_[index].copies = true;
  WEIR_ASSIGN_OR_RETURN(Extents extents, ExtentsOf(step.results[0]));
  return PlaceResult(index, step.results[0], RowMajorStrides(extents));
}

absl::Status Activation::PlaceControl(int index) {
  const RegionPlan::Step& step = plan_.steps()[index];
  for (int result : step.results) {
    WEIR_ASSIGN_OR_RETURN(Extents extents, ExtentsOf(result));
    WEIR_RETURN_IF_ERROR(PlaceResult(index, result, RowMajorStrides(extents)));
  }
  std::vector<Layout> operands;
  for (int operand : step.operands) operands.push_back(places_[operand].layout);
  std::vector<std::vector<Layout>> captures;
  for (const std::vector<int>& captured : step.captures) {
    captures.emplace_back();
    for (int value : captured) captures.back().push_back(places_[value].layout);
  }
  WEIR_ASSIGN_OR_RETURN(
      const int64_t scratch,
      PrepareControl(step, plan_.graph(), symbols_, operands, std::move(captures), &steps_[index]));
  AddScratch(index, scratch);
  return absl::OkStatus();
}

void Activation::AddScratch(int step, int64_t bytes) {
  steps_[step].scratch_bytes = bytes;
  if (bytes == 0) return;
  scratch_buffers_[step] = static_cast<int>(buffers_.size());
  buffers_.push_back({bytes, step, step});
}

void Activation::PlaceBuffersInArena() {
  std::vector<ArenaBuffer> wanted;
  for (const BufferUse& use : buffers_) wanted.push_back({use.bytes, use.first, use.last});
  const ArenaPlan plan = PlaceBuffers(wanted);
  arena_bytes_ = plan.bytes;
  for (Place& place : places_) {
    if (place.base == Base::kArena && place.buffer >= 0) place.offset += plan.offsets[place.buffer];
  }
  for (size_t s = 0; s < steps_.size(); ++s) {
    if (scratch_buffers_[s] >= 0) steps_[s].scratch_offset = plan.offsets[scratch_buffers_[s]];
  }
  for (size_t b = 0; b < buffers_.size(); ++b) {
    const int last = buffers_[b].last;
    if (last < static_cast<int>(steps_.size())) {
      freed_after_[last].push_back({plan.offsets[b], buffers_[b].bytes});
    }
  }
}

void Activation::FillViews() {
  for (size_t s = 0; s < steps_.size(); ++s) {
    const RegionPlan::Step& step = plan_.steps()[s];
    for (int operand : step.operands) {
      steps_[s].operands.push_back(ViewOf(places_[operand].layout));
    }
    for (int result : step.results) steps_[s].results.push_back(ViewOf(places_[result].layout));
  }
}

std::byte* Activation::AddressOf(int value, const Memory& memory) const {
  const Place& place = places_[value];
  switch (place.base) {
    case Base::kArena:
      return memory.arena + place.offset;
    case Base::kExternal:
      return memory.externals[place.index] + place.offset;
    case Base::kResult:
      return memory.results[place.index] + place.offset;
    case Base::kConstant:
      return const_cast<std::byte*>(place.constant) + place.offset;
  }
  return nullptr;
}

absl::StatusOr<const ActivationCounts*> Activation::Counts() {
  if (!counts_.has_value()) {
    WEIR_ASSIGN_OR_RETURN(counts_, ActivationCounts::Of(*this));
  }
  return &*counts_;
}

std::string Activation::Describe() const {
  std::string out = StrCat("arena ", arena_bytes_, " bytes\n");
  for (size_t s = 0; s < steps_.size(); ++s) {
    const RegionPlan::Step& step = plan_.steps()[s];
    if (step.kind == RegionPlan::Step::Kind::kView && !steps_[s].copies) continue;
    StrAppend(&out, s, ": ", plan_.graph().Describe(step.node));
    if (step.kernel != nullptr) StrAppend(&out, " [", step.kernel->name(), "]");
    for (int result : step.results) {
      const Place& place = places_[result];
      StrAppend(&out, " ", DTypeName(place.layout.dtype), ExtentsToString(place.layout.extents));
      if (place.base == Base::kArena) StrAppend(&out, "@", place.offset);
    }
    out += "\n";
    for (const std::unique_ptr<Activation>& region : steps_[s].regions) {
      if (region != nullptr) out += region->Describe();
    }
  }
  return out;
}

}  // namespace weir
