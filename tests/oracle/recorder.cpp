// Writes every allocation and free of PyTorch's CUDA allocator, in order, with the operation that asked
// for it, the module it was called in, the phase and the bytes; Python marks what each is for afterwards.
//
// The operation is the outermost aten operator (or autograd node) that RecordFunction has open on the
// thread; a backward node is given the module of the forward operator with its sequence number.
#include <ATen/record_function.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace alloc = c10::cuda::CUDACachingAllocator;

namespace {
struct Event {
    char kind;          // 'a' allocation, 'f' free
    unsigned id;        // of the block
    size_t bytes;       // as asked for
    unsigned op, phase, module;
    std::string category;
};
struct Frame { unsigned op; bool node; int64_t sequence; };

std::mutex lock;
std::vector<Event> events;
std::unordered_map<uintptr_t, size_t> live;  // address -> index of its allocation in events
std::unordered_map<std::string, unsigned> name_ids;
std::vector<std::string> names;
std::unordered_map<int64_t, unsigned> module_of;  // forward sequence number -> module
std::vector<unsigned> modules;                    // the modules that are open now, innermost last
unsigned phase, next_id;
bool recording;
size_t live_bytes, peak_bytes, peak_at;
thread_local std::vector<Frame> frames;

unsigned name_id(const std::string &name) {
    auto found = name_ids.find(name);
    if (found != name_ids.end()) return found->second;
    names.push_back(name);
    return name_ids[name] = (unsigned)names.size() - 1;
}

std::string clean(const char *name) {
    std::string s(name);
    const char *front = "autograd::engine::evaluate_function: ";
    if (s.compare(0, strlen(front), front) == 0) s = s.substr(strlen(front));
    for (char &c : s)
        if (c == ' ' || c == '\t') c = '_';
    return s.empty() ? "-" : s;
}

// A Triton launch or a foreign kernel opens no frame; its allocations belong to what is open, or to none.
std::unique_ptr<at::ObserverContext> enter(const at::RecordFunction &f) {
    std::lock_guard<std::mutex> hold(lock);
    bool node = f.scope() == at::RecordScope::BACKWARD_FUNCTION;
    frames.push_back({name_id(clean(f.name())), node, f.seqNr()});
    if (!node && f.seqNr() >= 0 && !modules.empty()) module_of[f.seqNr()] = modules.back();
    return nullptr;
}
void leave(const at::RecordFunction &, at::ObserverContext *) {
    if (!frames.empty()) frames.pop_back();
}

bool only_allocates(const std::string &n) {
    return n.find("::empty") != std::string::npos || n.find("::new_empty") != std::string::npos ||
           n.find("::resize_") != std::string::npos || n.find("::detach") != std::string::npos;
}

// The autograd node if one is open, the outermost operator, the innermost one that does more than allocate:
// MmBackward0>mm, addmm>_to_copy (autocast's cast of an operand).
unsigned open_op() {
    size_t first = 0;
    std::string path;
    for (size_t i = 0; i < frames.size(); i++)
        if (frames[i].node) first = i + 1, path = names[frames[i].op];
    std::string outer, inner;
    for (size_t i = first; i < frames.size(); i++) {
        const std::string &n = names[frames[i].op];
        size_t colons = n.rfind("::");
        if (colons == std::string::npos) {  // an autograd node's own apply
            if (path.empty() && outer.empty()) outer = n;
            continue;
        }
        if (outer.empty()) outer = n.substr(colons + 2);
        if (!only_allocates(n)) inner = n.substr(colons + 2);
    }
    if (!outer.empty()) path += (path.empty() ? "" : ">") + outer;
    if (!inner.empty() && inner != outer) path += ">" + inner;
    return name_id(path.empty() ? "-" : path);
}

// A module that is open while a node runs is being recomputed by a checkpoint.
unsigned open_module() {
    if (!modules.empty()) return modules.back();
    for (size_t i = frames.size(); i-- > 0;)
        if (frames[i].node) {
            auto found = module_of.find(frames[i].sequence);
            if (found != module_of.end()) return found->second;
            break;
        }
    return name_id("-");
}

void on_trace(const alloc::TraceEntry &e) {
    if (!recording) return;
    std::lock_guard<std::mutex> hold(lock);
    if (e.action_ == alloc::TraceEntry::ALLOC) {
        events.push_back({'a', ++next_id, e.size_, open_op(), phase, open_module(), "-"});
        live[(uintptr_t)e.addr_] = events.size() - 1;
        live_bytes += e.size_;
        if (live_bytes > peak_bytes) peak_bytes = live_bytes, peak_at = events.size() - 1;
    } else if (e.action_ == alloc::TraceEntry::FREE_COMPLETED) {
        auto found = live.find((uintptr_t)e.addr_);
        if (found == live.end()) return;  // from before recording
        live_bytes -= events[found->second].bytes;
        events.push_back({'f', events[found->second].id, events[found->second].bytes, 0, phase, 0, ""});
        live.erase(found);
    }
}
}  // namespace

extern "C" {
void recorder_start() {
    recording = true;
    static bool attached;
    if (attached) return;
    attached = true;
    alloc::get()->attachAllocatorTraceTracker(on_trace);
    at::addGlobalCallback(at::RecordFunctionCallback(enter, leave)
                              .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
}
void recorder_stop() { recording = false; }
void recorder_clear() {
    std::lock_guard<std::mutex> hold(lock);
    events.clear(), live.clear(), module_of.clear(), modules.clear();
    next_id = 0, live_bytes = peak_bytes = peak_at = 0;
}
void recorder_phase(const char *name) {
    std::lock_guard<std::mutex> hold(lock);
    phase = name_id(name);
}
void recorder_enter(const char *module) {
    std::lock_guard<std::mutex> hold(lock);
    modules.push_back(name_id(module));
}
void recorder_leave() {
    std::lock_guard<std::mutex> hold(lock);
    if (!modules.empty()) modules.pop_back();
}
// Gives the live block that holds ADDRESS a category where it has none, else leaves it. 1 where it was found.
int recorder_mark(uintptr_t address, const char *category) {
    std::lock_guard<std::mutex> hold(lock);
    auto found = live.find(address);
    if (found == live.end()) return 0;
    Event &e = events[found->second];
    if (e.category == "-") e.category = category;
    return 1;
}
size_t recorder_live() { return live_bytes; }
size_t recorder_peak() { return peak_bytes; }
size_t recorder_count() { return events.size(); }
// Writes the trace; the block id of the peak's allocation is returned.
unsigned recorder_write(const char *path) {
    std::lock_guard<std::mutex> hold(lock);
    FILE *out = fopen(path, "w");
    if (!out) return 0;
    for (const Event &e : events)
        if (e.kind == 'a')
            fprintf(out, "a %u %zu %s %s %s %s\n", e.id, e.bytes, names[e.op].c_str(), names[e.phase].c_str(),
                    e.category.c_str(), names[e.module].c_str());
        else
            fprintf(out, "f %u\n", e.id);
    fclose(out);
    return events.empty() ? 0 : events[peak_at].id;
}
}
