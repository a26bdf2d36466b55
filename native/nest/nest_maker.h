#pragma once

#include <memory>
#include <span>

#include "nest/level.h"
#include "nest/reused.h"

namespace halidegym {

// A level that is being made; nobody else sees it until it becomes a LevelRef.
using Draft = std::shared_ptr<Level>;

// Makes the levels and regions of an edited nest.
class NestMaker {
public:
    virtual ~NestMaker() = default;

    // A level with an empty body, and without regions yet.
    virtual Draft level(const LevelShape &shape) = 0;
    virtual Draft copy(const Level &level) = 0;
    // Of a level of `stage`, whose own record is `own` with its loops replaced.
    virtual RegionsRef regions(const Problem &problem, const Stage &stage, const Bound &own,
                               std::span<const Span> loops) = 0;
};

// Of nests that last: whoever holds a level owns it, and all that it refers to.
class LastingNests final : public NestMaker {
public:
    Draft level(const LevelShape &shape) override {
        return std::allocate_shared<Level>(Recycling<Level>(), Level{shape, {}, {}, {}, {}});
    }
    Draft copy(const Level &level) override { return std::allocate_shared<Level>(Recycling<Level>(), level); }
    RegionsRef regions(const Problem &problem, const Stage &stage, const Bound &own,
                       std::span<const Span> loops) override {
        return std::allocate_shared<Regions>(Recycling<Regions>(), problem, stage, own, loops);
    }
};

// Of nests that are looked at once, say to rate a child of a state: its references own nothing, and everything it made
// since the last `clear` is gone with the next one. What is edited must live longer. It allocates nothing once it has
// grown to what the largest edit takes, of whatever problems.
class Workbench final : public NestMaker {
public:
    Workbench() = default;
    Workbench(const Workbench &) = delete;
    Workbench &operator=(const Workbench &) = delete;

    Draft level(const LevelShape &shape) override;
    Draft copy(const Level &level) override;
    RegionsRef regions(const Problem &problem, const Stage &stage, const Bound &own,
                       std::span<const Span> loops) override;
    void clear() {
        levels_.take_back_all();
        regions_.take_back_all();
        bounds_.take_back_all();
    }

private:
    Reused<Level> levels_;
    Reused<Regions> regions_;
    Reused<Bound> bounds_;  // that these derive
};

}  // namespace halidegym
