#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace halidegym {

// Objects that are looked at together and go together: handed out one after the other, and all of them again. It
// allocates nothing once there are as many as are asked for at a time.
template <typename T>
class Reused {
public:
    // One that nobody has, with what it had before; made of the arguments if there is none.
    template <typename... Arguments>
    T &next(const Arguments &...arguments) {
        if (used_ == all_.size()) {
            all_.push_back(std::make_unique<T>(arguments...));
        }
        return *all_[used_++];
    }
    void take_back_all() { used_ = 0; }

private:
    std::vector<std::unique_ptr<T>> all_;
    size_t used_ = 0;
};

}  // namespace halidegym
