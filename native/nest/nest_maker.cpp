#include "nest/nest_maker.h"

#include <ranges>

namespace halidegym {

namespace {

template <typename T>
std::shared_ptr<T> borrowed(T *value) {
    return {std::shared_ptr<void>(), value};
}

}  // namespace

Draft Workbench::level(const LevelShape &shape) {
    Level &level = levels_.next();
    static_cast<LevelShape &>(level) = shape;
    level.children.clear();
    level.inlined.clear();
    level.store_at.clear();
    return borrowed(&level);
}

// Over what the level was before, without clearing that first.
Draft Workbench::copy(const Level &copied) {
    Level &level = levels_.next();
    static_cast<LevelShape &>(level) = copied;
    const auto children =
        std::views::transform(copied.children, [](const auto &child) { return borrowed(child.get()); });
    level.children.assign(children.begin(), children.end());
    level.inlined = copied.inlined;
    level.store_at = copied.store_at;
    level.regions = borrowed(copied.regions.get());
    return borrowed(&level);
}

RegionsRef Workbench::regions(const Problem &problem, const Stage &stage, const Bound &own,
                              std::span<const Span> loops) {
    Regions &regions = regions_.next(problem, stage, own, loops);
    regions.reuse(problem, stage, own, loops, bounds_);
    return borrowed<const Regions>(&regions);
}

}  // namespace halidegym
