#include "nest/nest_maker.h"

namespace halidegym {

namespace {

template <typename T>
std::shared_ptr<T> borrowed(T *value) {
    return {std::shared_ptr<void>(), value};
}

}  // namespace

Draft Workbench::level(const LevelShape &shape) {
    if (used_levels_ == levels_.size()) {
        levels_.emplace_back();
    }
    Level &level = levels_[used_levels_++];
    static_cast<LevelShape &>(level) = shape;
    level.children.clear();
    level.inlined.clear();
    level.store_at.clear();
    return borrowed(&level);
}

Draft Workbench::copy(const Level &copied) {
    const Draft level = this->level(copied);
    for (const LevelRef &child : copied.children) {
        level->children.push_back(borrowed(child.get()));
    }
    level->inlined = copied.inlined;
    level->store_at = copied.store_at;
    level->regions = borrowed(copied.regions.get());
    return level;
}

RegionsRef Workbench::regions(const Problem &problem, const Stage &stage, const Bound &own,
                              std::span<const Span> loops) {
    if (used_regions_ == regions_.size()) {
        regions_.emplace_back(problem, stage, own, loops);
    }
    regions_[used_regions_].reuse(problem, stage, own, loops);
    return borrowed<const Regions>(&regions_[used_regions_++]);
}

}  // namespace halidegym
