// The longest common subsequence of two sequences of hashes, behind what they share at both ends.
#include "gen/site/translation/sequence.h"

#define CELLS_MAX ((size_t)16 << 20)  // of the table of lengths

// lengths[i][j]: longest common subsequence of a[i..] and b[j..]; walked from the front it gives
// the pairs.
static void align_middle(const uint64_t *a, size_t n, const uint64_t *b, size_t m, size_t *partner,
                         size_t shift, arena *scratch)
{
    uint32_t *lengths = arena_new(scratch, uint32_t, (n + 1) * (m + 1));
    size_t w = m + 1;
    for (size_t i = n; i-- > 0;)
        for (size_t j = m; j-- > 0;) {
            uint32_t down = lengths[(i + 1) * w + j], right = lengths[i * w + j + 1];
            lengths[i * w + j] = a[i] == b[j]   ? lengths[(i + 1) * w + j + 1] + 1
                                 : down > right ? down
                                                : right;
        }
    for (size_t i = 0, j = 0; i < n && j < m;) {
        if (a[i] == b[j])
            partner[i++] = shift + j++;
        else if (lengths[(i + 1) * w + j] >= lengths[i * w + j + 1])
            i++;
        else
            j++;
    }
}

// For sequences too long for a table: each item takes the next equal one.
static void align_greedily(const uint64_t *a, size_t n, const uint64_t *b, size_t m,
                           size_t *partner, size_t shift)
{
    size_t next = 0;
    for (size_t i = 0; i < n; i++) {
        size_t j = next;
        while (j < m && j < next + 256 && b[j] != a[i])
            j++;
        if (j < m && j < next + 256 && b[j] == a[i]) {
            partner[i] = shift + j;
            next = j + 1;
        }
    }
}

void sequence_align(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count,
                    size_t *partner, arena *scratch)
{
    size_t head = 0, tail = 0, least = a_count < b_count ? a_count : b_count;
    for (size_t i = 0; i < a_count; i++)
        partner[i] = SEQUENCE_NONE;
    for (; head < least && a[head] == b[head]; head++)
        partner[head] = head;
    for (; tail < least - head && a[a_count - 1 - tail] == b[b_count - 1 - tail]; tail++)
        partner[a_count - 1 - tail] = b_count - 1 - tail;
    size_t n = a_count - head - tail, m = b_count - head - tail;
    arena_mark mark = arena_save(scratch);
    if (n && m && (n + 1) * (m + 1) <= CELLS_MAX)
        align_middle(a + head, n, b + head, m, partner + head, head, scratch);
    else if (n && m)
        align_greedily(a + head, n, b + head, m, partner + head, head);
    arena_rewind(scratch, mark);
}
