// Owns loops on a tape whose turns are alike: few of them are recorded, and the tape of all is
// written from that.
#ifndef VRAM_SMALL

#include "calc/trace/tape.h"

static bool turns_room(struct tape *t, size_t need)
{
    void *turns = t->turns;
    t->failed |= mem_grow(t->mem, &turns, &t->turns_cap, need, sizeof *t->turns) != VRAM_OK;
    t->turns = turns;
    return !t->failed;
}

void tape_turn(struct tape *t, uint32_t turn)
{
    size_t n = t->turn_count;
    if (t->failed || turn == t->turn || !turns_room(t, n + 2))
        return;
    if (n == 0)
        t->turns[n++] = (struct tape_turn){0};
    t->turns[n++] = (struct tape_turn){(uint32_t)t->code_count, (uint32_t)t->count, turn, 0, 0, 0};
    t->turn_count = n;
    t->turn = turn;
}

// Writing one tape from another. Its marks: the turns of a loop follow each other, up or down.
struct turns {
    struct tape *to;
    const struct tape *from;
    struct tape_turn *mark;
    size_t count;  // of marks; one more ends the last
    uint16_t *of;  // by storage: the mark within which it was made
    size_t of_cap;
    uint32_t more;  // turns that are not recorded
};

static bool turns_up(const struct tape_turn *mark)
{
    return mark->turn == 1;
}

// The mark of a turn, as recorded, in the loop that begins with mark `first`.
static uint32_t turns_mark(const struct turns *x, uint32_t first, uint32_t turn)
{
    return first + (turns_up(&x->mark[first]) ? turn - 1 : TAPE_TURNS - turn);
}

// Finds the loops: each has all its turns, one after the other.
static bool turns_find(struct turns *x)
{
    for (uint32_t i = 0; i < x->count; i++) {
        struct tape_turn *m = &x->mark[i];
        if (m->turn == 0)
            continue;
        if ((m->turn != 1 && m->turn != TAPE_TURNS) || i + TAPE_TURNS > x->count)
            return false;
        for (uint32_t k = 0; k < TAPE_TURNS; k++) {
            if (m[k].turn != (m->turn == 1 ? k + 1 : TAPE_TURNS - k))
                return false;
            m[k].first = i;
        }
        i += TAPE_TURNS - 1;
    }
    return true;
}

static bool turns_number(struct turns *x)
{
    void *of = NULL;
    if (x->count > UINT16_MAX ||
        mem_grow(x->from->mem, &of, &x->of_cap, x->from->count, sizeof *x->of) != VRAM_OK)
        return false;
    x->of = of;
    for (uint16_t i = 0; i < x->count; i++)
        for (uint32_t s = x->mark[i].storage; s < x->mark[i + 1].storage; s++)
            x->of[s] = i;
    return true;
}

// ---- are they alike? -------------------------------------------------------------------------

// Whether b is to its turn what a is to the turn before.
static bool turns_same_operand(const struct turns *x, uint32_t a, uint32_t b)
{
    const struct tape_turn *m = &x->mark[x->of[a]], *n = &x->mark[x->of[b]];
    if (!m->turn && !n->turn)
        return a == b;
    return m->first == n->first && n->turn == m->turn + 1 && a - m->storage == b - n->storage;
}

static bool turns_same_code(const struct turns *x, const struct tape_turn *a,
                            const struct tape_turn *b)
{
    uint32_t length = a[1].code - a->code;
    const uint32_t *p = x->from->code + a->code, *q = x->from->code + b->code;
    if (b[1].code - b->code != length)
        return false;
    for (uint32_t i = 0; i < length; i++) {
        bool workspace = (p[i] & 3) == TAPE_WORKSPACE;
        if ((p[i] & 3) != (q[i] & 3) ||
            !(workspace ? p[i] == q[i] : turns_same_operand(x, p[i] >> 2, q[i] >> 2)))
            return false;
    }
    return true;
}

static bool turns_same_storages(const struct turns *x, const struct tape_turn *a,
                                const struct tape_turn *b)
{
    uint32_t length = a[1].storage - a->storage;
    const struct storage *p = x->from->storages + a->storage, *q = x->from->storages + b->storage;
    if (b[1].storage - b->storage != length)
        return false;
    for (uint32_t i = 0; i < length; i++)
        if (p[i].name != q[i].name || p[i].op != q[i].op || p[i].category != q[i].category ||
            p[i].dtype != q[i].dtype || p[i].shape != q[i].shape || p[i].home != q[i].home ||
            p[i].unit != q[i].unit || p[i].sub != q[i].sub || p[i].stream != q[i].stream ||
            p[i].sent != q[i].sent || p[i].taken != q[i].taken || p[i].home == HOME_PERSIST)
            return false;
    return true;
}

// A turn has to do with itself and its neighbours; what is outside of the loop, with its ends.
static bool turns_near(const struct turns *x, const struct tape_turn *m)
{
    const uint32_t *code = x->from->code;
    for (uint32_t i = m->code; i < m[1].code; i++) {
        uint32_t turn = (code[i] & 3) == TAPE_WORKSPACE ? 0 : x->mark[x->of[code[i] >> 2]].turn;
        if (turn && (m->turn ? turn > m->turn + 1 || turn + 1 < m->turn : turn == TAPE_MIDDLE))
            return false;
    }
    return true;
}

static bool turns_alike(const struct turns *x)
{
    for (uint32_t i = 0; i < x->count; i++) {
        const struct tape_turn *m = &x->mark[i];
        if (!turns_near(x, m))
            return false;
        if (m->turn != TAPE_MIDDLE)
            continue;
        const struct tape_turn *before = &x->mark[turns_mark(x, m->first, TAPE_MIDDLE - 1)];
        if (!turns_same_code(x, before, m) || !turns_same_storages(x, before, m))
            return false;
    }
    return true;
}

// ---- writing ---------------------------------------------------------------------------------

// By how much what is recorded moves.
static void turns_shift(struct turns *x)
{
    uint32_t code = 0, storage = 0;
    for (uint32_t i = 0; i <= x->count; i++) {
        struct tape_turn *m = &x->mark[i];
        m->by_code = code;
        m->by_storage = storage;
        if (!m->turn)
            continue;
        const struct tape_turn *middle = &x->mark[turns_mark(x, m->first, TAPE_MIDDLE)];
        bool last = m->turn == (turns_up(&x->mark[m->first]) ? TAPE_MIDDLE : TAPE_MIDDLE + 1);
        code += last ? x->more * (middle[1].code - middle->code) : 0;
        storage += last ? x->more * (middle[1].storage - middle->storage) : 0;
    }
}

static bool turns_make_room(const struct turns *x)
{
    struct tape *t = x->to;
    const struct tape_turn *end = &x->mark[x->count];
    size_t units = x->from->stack.units + 2;
    void *storages = t->storages, *code = t->code, *segments = t->segments, *left = t->left,
         *slots = t->unit_slots;
    t->count = end->storage + end->by_storage;
    t->code_count = end->code + end->by_code;
    int rc = mem_renew(t->mem, &storages, &t->cap, t->count, sizeof *t->storages);
    t->storages = storages;
    if (rc == VRAM_OK)
        rc = mem_renew(t->mem, &code, &t->code_cap, t->code_count, sizeof *t->code);
    t->code = code;
    if (rc == VRAM_OK)
        rc = mem_renew(t->mem, &segments, &t->segment_cap, x->from->segment_count,
                       sizeof *t->segments);
    t->segments = segments;
    if (rc == VRAM_OK)
        rc = mem_renew(t->mem, &left, &t->left_cap, x->from->left_count, sizeof *t->left);
    t->left = left;
    if (rc == VRAM_OK)
        rc = mem_renew(t->mem, &slots, &t->unit_slots_cap, units, sizeof *t->unit_slots);
    t->unit_slots = slots;
    t->failed = rc != VRAM_OK || t->count > TAPE_STORAGES;
    if (!t->failed)
        mem_copy(t->unit_slots, x->from->unit_slots, units * sizeof *t->unit_slots);
    return !t->failed;
}

// The number of what was made k-th in a turn, of all turns.
static uint32_t turns_storage(const struct turns *x, uint32_t first, uint32_t turn, uint32_t k)
{
    bool copied = turn > TAPE_MIDDLE && turn <= TAPE_MIDDLE + x->more;
    uint32_t recorded = copied ? TAPE_MIDDLE : turn > TAPE_MIDDLE ? turn - x->more : turn;
    const struct tape_turn *m = &x->mark[turns_mark(x, first, recorded)];
    uint32_t number = m->storage + m->by_storage + k;
    uint32_t off = copied ? (turn - TAPE_MIDDLE) * (m[1].storage - m->storage) : 0;
    return turns_up(&x->mark[first]) ? number + off : number - off;
}

// An instruction of a mark, as one of a turn of all turns.
static uint32_t turns_word(const struct turns *x, const struct tape_turn *m, uint32_t turn,
                           uint32_t code)
{
    uint32_t kind = code & 3, operand = code >> 2;
    if (kind == TAPE_WORKSPACE)
        return code;
    const struct tape_turn *of = &x->mark[x->of[operand]];
    operand = m->turn && of->turn
                  ? turns_storage(x, of->first, turn + of->turn - m->turn, operand - of->storage)
                  : operand + of->by_storage;
    return operand << 2 | kind;
}

static uint32_t *turns_write(const struct turns *x, const struct tape_turn *m, uint32_t turn,
                             uint32_t *out)
{
    for (uint32_t i = m->code; i < m[1].code; i++)
        *out++ = turns_word(x, m, turn, x->from->code[i]);
    return out;
}

// An instruction of the middle turn, in each of its copies and in itself: evenly apart, but for a
// neighbour's that is no copy.
static void turns_write_one(const struct turns *x, const struct tape_turn *m, uint32_t code,
                            uint32_t *out, uint32_t length)
{
    bool up = turns_up(&x->mark[m->first]);
    uint32_t most = x->more, last = TAPE_MIDDLE + most;
    uint32_t first = turns_word(x, m, TAPE_MIDDLE, code),
             second = turns_word(x, m, TAPE_MIDDLE + 1, code), word = first;
    for (uint32_t k = 0; k < most; k++, word += second - first)
        out[(up ? k : most - k) * length] = word;
    out[(up ? most : 0) * length] = turns_word(x, m, last, code);
}

static uint32_t *turns_write_middle(const struct turns *x, const struct tape_turn *m, uint32_t *out)
{
    uint32_t length = m[1].code - m->code;
    for (uint32_t i = 0; i < length; i++)
        turns_write_one(x, m, x->from->code[m->code + i], out + i, length);
    return out + (x->more + 1) * length;
}

static void turns_write_code(const struct turns *x)
{
    uint32_t *out = x->to->code;
    for (uint32_t i = 0; i < x->count; i++) {
        const struct tape_turn *m = &x->mark[i];
        uint32_t turn = m->turn > TAPE_MIDDLE ? m->turn + x->more : m->turn;
        out = m->turn == TAPE_MIDDLE ? turns_write_middle(x, m, out) : turns_write(x, m, turn, out);
    }
}

// Copies of a turn's storages, each with a slot of its own.
static void turns_copy(const struct turns *x, const struct tape_turn *m, struct storage *out)
{
    struct tape *t = x->to;
    for (uint32_t s = m->storage; s < m[1].storage; s++, out++) {
        *out = x->from->storages[s];
        uint32_t unit = out->unit < 0 ? t->stack.units + 1 : (uint32_t)out->unit;
        if (out->home == HOME_TAPE)
            out->slot = t->unit_slots[unit]++;
    }
}

static void turns_write_storages(const struct turns *x)
{
    struct storage *to = x->to->storages;
    for (uint32_t i = 0; i < x->count; i++) {
        const struct tape_turn *m = &x->mark[i];
        uint32_t length = m[1].storage - m->storage;
        mem_copy(to + m->storage + m->by_storage, x->from->storages + m->storage,
                 length * sizeof *to);
        for (uint32_t k = 1; k <= x->more && m->turn == TAPE_MIDDLE; k++)
            turns_copy(x, m, to + turns_storage(x, m->first, TAPE_MIDDLE + k, 0));
    }
}

// Where an instruction outside of loops, or the first of one, has gone. False: it is within one.
static bool turns_place(const struct turns *x, uint32_t *at, size_t *mark)
{
    while (*mark + 1 < x->count && x->mark[*mark + 1].code <= *at)
        ++*mark;
    const struct tape_turn *m = &x->mark[*mark];
    bool begins = *at == m->code && m->first == *mark;
    *at += *at == x->mark[x->count].code ? x->mark[x->count].by_code : m->by_code;
    return !m->turn || begins || *at == x->to->code_count;
}

static bool turns_write_segments(const struct turns *x)
{
    size_t mark = 0;
    bool ok = true;
    x->to->segment_count = x->from->segment_count;
    for (size_t i = 0; i < x->from->segment_count; i++) {
        struct tape_segment *s = &x->to->segments[i];
        *s = x->from->segments[i];
        ok = turns_place(x, &s->begin, &mark) && ok;
        ok = turns_place(x, &s->end, &mark) && ok;
    }
    return ok;
}

static bool turns_write_left(const struct turns *x)
{
    size_t mark = 0;
    bool ok = true;
    x->to->left_count = x->from->left_count;
    for (size_t i = 0; i < x->from->left_count; i++) {
        struct tape_left *l = &x->to->left[i];
        *l = x->from->left[i];
        const struct tape_turn *of = &x->mark[x->of[l->storage]];
        ok = turns_place(x, &l->at, &mark) && !of->turn && ok;
        l->storage += of->by_storage;
    }
    return ok;
}

static bool turns_write_all(struct turns *x)
{
    struct tape *t = x->to;
    t->stack = x->from->stack;
    t->repeats = x->from->repeats;
    t->left_alone = x->from->left_alone;
    t->allocations = x->from->allocations;
    t->turn_count = t->turn = 0;
    turns_shift(x);
    if (!turns_make_room(x) || !turns_write_segments(x) || !turns_write_left(x))
        return false;
    turns_write_storages(x);
    turns_write_code(x);
    tape_count_slots(t);
    return true;
}

// False: its loops are not as they should be, or there is no memory (from->failed).
static bool turns_open(struct turns *x, struct tape *from)
{
    *x = (struct turns){.from = from, .count = from->turn_count};
    if (from->failed || !turns_room(from, x->count + 1))
        return false;
    x->mark = from->turns;
    x->mark[x->count] =
        (struct tape_turn){(uint32_t)from->code_count, (uint32_t)from->count, 0, 0, 0, 0};
    if (!turns_find(x))
        return false;
    from->failed = !turns_number(x);
    return !from->failed;
}

static void turns_close(struct turns *x)
{
    mem_free(x->from->mem, x->of, x->of_cap * sizeof *x->of);
}

bool tape_has_turns(struct tape *t)
{
    struct turns x;
    bool alike = turns_open(&x, t) && turns_alike(&x);
    turns_close(&x);
    return alike;
}

bool tape_unroll(struct tape *to, struct tape *from, uint32_t more)
{
    struct turns x;
    bool open = turns_open(&x, from);
    x.to = to;
    x.more = more;
    bool written = open && turns_write_all(&x);
    turns_close(&x);
    return written;
}

uint32_t tape_unrolled(const struct tape *from, uint32_t at)
{
    size_t mark = 0;
    while (mark + 1 < from->turn_count && from->turns[mark + 1].code <= at)
        mark++;
    return at + from->turns[mark].by_code;
}
#endif
