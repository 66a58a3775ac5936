// The public headers as C++: a handle, an estimate, and every table that the header declares.

#include <cstdio>
#include <memory>
#include <string>

#include "vram.h"
#include "vram_lua.h"

namespace
{

struct closer {
    void operator()(vram *v) const
    {
        vram_free(v);
    }
};

}  // namespace

int main()
{
    const vram_mem heap = vram_mem_malloc();
    std::unique_ptr<vram, closer> v(vram_new(&heap));
    const std::string config = "n_layer = 2\nn_embd = 128\nn_head = 2\nbatch_size = 4\n";
    if (vram_parse(v.get(), VRAM_KIND_FLAT, config.data(), config.size(), "config", nullptr,
                   nullptr) != VRAM_OK)
        return 1;
    if (vram_run(v.get()) != VRAM_OK) {
        std::printf("%s\n", vram_error(v.get())->text);
        return 1;
    }
    const struct vram_result *r = vram_result(v.get());
    std::size_t fields = 0;
    while (vram_field_at(fields) != nullptr)
        fields++;
    std::printf("%llu parameters, %llu bytes, %zu fields\n",
                static_cast<unsigned long long>(r->params),
                static_cast<unsigned long long>(r->peak_reserved.bytes), fields);
    return r->params > 0 && r->peak_reserved.bytes > 0 && fields > 10 ? 0 : 1;
}
