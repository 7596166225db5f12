/*
 * cut.c - cuts a stream of samples into packs: see cut.h.
 *
 * A cut is (item, token). In the forward stream 0 <= token < length: the cut
 * lies before that token. In the backward stream 0 < token <= length: the cut
 * lies behind the tokens from there on. (count, 0) is the end of both.
 */
#include "slice/cut.h"

#include <string.h>

#include "base/status.h"

typedef struct cut {
    int32_t item;
    int32_t token;
} cut;

/* One pass of a segment while it is cut. */
typedef struct stream {
    const sp__yardstick *yardstick;
    const sp__segment *segment;
    const int64_t *lengths;
    int pass;
    int64_t total;  /* cost */
    int64_t tokens; /* padded size of all items */
    cut *cuts; /* [packs]: cuts[j] starts pack j, cuts[0] the stream */
} stream;

static int64_t length_of(const stream *s, int32_t item)
{
    return s->lengths[s->segment->sample[item]];
}

static int64_t cost_of(const stream *s, int32_t item)
{
    return sp__slice_cost(s->yardstick, s->pass, 0, length_of(s, item), length_of(s, item));
}

/* The cut in a pass's own direction at the start of an item. */
static cut before_item(const stream *s, int32_t item)
{
    cut c = { item, 0 };

    if (s->pass == SP_BACKWARD && item < s->segment->count)
        c.token = (int32_t)length_of(s, item);
    return c;
}

/* The cut nearest to target within an item that costs cost. */
static cut within_item(const stream *s, int32_t item, int64_t cost, int64_t target)
{
    int64_t length = length_of(s, item);
    cut c = { item, 0 };

    if (!s->segment->sliceable || length <= s->yardstick->alignment)
        return before_item(s, 2 * target > cost ? item + 1 : item);
    c.token = (int32_t)(s->pass == SP_FORWARD
                            ? sp__cut_from_start(s->yardstick, length, target)
                            : sp__cut_from_end(s->yardstick, length, target));
    if (c.token == 0)
        return before_item(s, s->pass == SP_FORWARD ? item : item + 1);
    if (c.token == length)
        return before_item(s, s->pass == SP_FORWARD ? item + 1 : item);
    return c;
}

static int is_before(const stream *s, cut a, cut b)
{
    if (a.item != b.item)
        return a.item < b.item;
    return s->pass == SP_FORWARD ? a.token < b.token : a.token > b.token;
}

/* Cuts at the quantiles of the cumulative cost. Targets increase, so one walk
 * over the items finds them all. */
static void find_quantiles(stream *s, const int32_t *weight, int32_t packs)
{
    int64_t all_weight = 0, weight_before = 0, cost_before = 0;
    int32_t item = 0;
    int64_t cost = cost_of(s, 0);

    for (int32_t j = 0; j < packs; j++)
        all_weight += weight[j];
    s->cuts[0] = before_item(s, 0);
    for (int32_t j = 1; j < packs; j++) {
        int64_t target;

        weight_before += weight[j - 1];
        target = sp__mul_div_round(s->total, weight_before, all_weight);
        while (item + 1 < s->segment->count && cost_before + cost <= target) {
            cost_before += cost;
            cost = cost_of(s, ++item);
        }
        s->cuts[j] = within_item(s, item, cost, target - cost_before);
        if (is_before(s, s->cuts[j], s->cuts[j - 1]))
            s->cuts[j] = s->cuts[j - 1];
    }
}

/* Tokens of an item that lie behind a cut in the pass's direction. */
static int64_t rest_of(const stream *s, cut c)
{
    return s->pass == SP_FORWARD ? length_of(s, c.item) - c.token : c.token;
}

/* The cut most tokens (not negative) behind another in the same item, at the
 * alignment, or the item's end; the same cut when not even one step fits. */
static cut step_within(const stream *s, cut from, int64_t most)
{
    int64_t alignment = s->yardstick->alignment, token = from.token;

    if (s->pass == SP_FORWARD)
        token += most / alignment * alignment;
    else
        token = sp__min(token, sp__round_up(sp__max(token - most, 0), alignment));
    if (s->pass == SP_FORWARD ? token >= length_of(s, from.item) : token == 0)
        return before_item(s, from.item + 1);
    from.token = (int32_t)token;
    return from;
}

/* The farthest cut up to until that one pack starting at from can reach within
 * tokens. A pack that holds nothing yet takes an item that cannot be cut, however
 * large. */
static cut reach(const stream *s, cut from, cut until, int64_t tokens)
{
    const sp__limit *limit = &s->segment->limit;
    int64_t room = tokens;
    cut at = from;

    for (int32_t samples = 0; is_before(s, at, until) && samples < limit->samples; samples++) {
        int64_t rest = at.item == until.item ? rest_of(s, at) - rest_of(s, until) : rest_of(s, at);
        int64_t size = sp__padded_size(limit, rest);
        int can_cut = s->segment->sliceable && length_of(s, at.item) > s->yardstick->alignment;

        if (size > room && can_cut) {
            cut within = step_within(s, at, sp__longest_within(limit, room));

            /* An alignment above the cap leaves nothing to cut by. */
            return samples == 0 && !is_before(s, at, within)
                       ? step_within(s, at, s->yardstick->alignment) : within;
        }
        if (size > room && samples > 0)
            return at;
        room = sp__max(room - size, 0);
        at = at.item == until.item ? until : before_item(s, at.item + 1);
    }
    return at;
}

static int is_end(const stream *s, cut c)
{
    return c.item == s->segment->count;
}

/* Packs when each is filled within tokens, up to a most; their cuts are kept. */
static int32_t fill(const stream *s, int64_t tokens, int32_t most, cut *cuts)
{
    cut end = before_item(s, s->segment->count), at = before_item(s, 0);
    int32_t packs = 0;

    for (; packs < most && !is_end(s, at); packs++) {
        if (cuts != NULL)
            cuts[packs] = at;
        at = reach(s, at, end, tokens);
    }
    for (int32_t j = packs; cuts != NULL && j < most; j++)
        cuts[j] = end;
    return is_end(s, at) ? packs : INT32_MAX;
}

/* Quantiles, moved back where a pack would pass the limit; whether all fits. */
static int clamp_quantiles(stream *s, int32_t packs)
{
    cut end = before_item(s, s->segment->count);

    for (int32_t j = 1; j < packs; j++)
        s->cuts[j] = reach(s, s->cuts[j - 1], s->cuts[j], s->segment->limit.tokens);
    return is_end(s, reach(s, s->cuts[packs - 1], end, s->segment->limit.tokens));
}

/* Where quantiles leave too much for the last packs: fills all packs alike, within
 * the fewest tokens that do. */
static void fill_evenly(stream *s, int32_t packs)
{
    int64_t low = 0, high = sp__min(s->segment->limit.tokens, s->tokens);

    while (low + 1 < high) {
        int64_t middle = low + (high - low) / 2;

        if (fill(s, middle, packs, NULL) <= packs)
            high = middle;
        else
            low = middle;
    }
    fill(s, high, packs, s->cuts);
}

static void open_stream(stream *s, const sp__yardstick *y, const sp__segment *segment,
                        const int64_t *lengths, int pass)
{
    *s = (stream){ .yardstick = y, .segment = segment, .lengths = lengths, .pass = pass };
    for (int32_t i = 0; i < segment->count; i++) {
        s->total += cost_of(s, i);
        s->tokens += sp__padded_size(&segment->limit, length_of(s, i));
    }
}

static sp_status start_stream(stream *s, const sp__yardstick *y, const sp__segment *segment,
                              const int64_t *lengths, int pass, const sp__shares *shares,
                              sp__arena *scratch)
{
    open_stream(s, y, segment, lengths, pass);
    SP_TAKE(scratch, s->cuts, shares->packs[pass]);
    find_quantiles(s, shares->weight[pass], shares->packs[pass]);
    if (sp__is_limited(&segment->limit) && !clamp_quantiles(s, shares->packs[pass]))
        fill_evenly(s, shares->packs[pass]);
    return SP_OK;
}

int32_t sp__cut_fewest(const sp__yardstick *y, const sp__segment *segment, const int64_t *lengths,
                       int pass)
{
    stream s = { .yardstick = y, .segment = segment, .lengths = lengths, .pass = pass };

    if (segment->count == 0 || !sp__is_limited(&segment->limit))
        return segment->count > 0;
    return fill(&s, segment->limit.tokens, INT32_MAX, NULL);
}

/* The ends of an item's slices: its forward cuts and its backward cuts in one
 * increasing list. from[] point behind the cuts of earlier items and move on. */
static int32_t slice_ends(const stream s[2], const sp__shares *shares, int32_t item,
                          int32_t from[2], int32_t *ends)
{
    int32_t f = from[SP_FORWARD], b, last, count = 0;
    int32_t length = (int32_t)length_of(&s[0], item);

    for (last = from[SP_BACKWARD]; last < shares->packs[SP_BACKWARD] &&
                                   s[SP_BACKWARD].cuts[last].item == item; last++)
        ;
    b = last - 1;
    for (int32_t end = 0; end < length;) {
        int32_t next = length;

        while (f < shares->packs[SP_FORWARD] && s[SP_FORWARD].cuts[f].item == item &&
               s[SP_FORWARD].cuts[f].token <= end)
            f++;
        while (b >= from[SP_BACKWARD] && s[SP_BACKWARD].cuts[b].token <= end)
            b--;
        if (f < shares->packs[SP_FORWARD] && s[SP_FORWARD].cuts[f].item == item)
            next = s[SP_FORWARD].cuts[f].token;
        if (b >= from[SP_BACKWARD] && s[SP_BACKWARD].cuts[b].token < next)
            next = s[SP_BACKWARD].cuts[b].token;
        ends[count++] = end = next;
    }
    while (f < shares->packs[SP_FORWARD] && s[SP_FORWARD].cuts[f].item == item)
        f++;
    from[SP_FORWARD] = f;
    from[SP_BACKWARD] = last;
    return count;
}

/* Appends an item's slices to one pass; opens the packs whose cuts it meets. */
static void emit_item(const stream *s, int32_t packs, int32_t item, const int32_t *ends,
                      int32_t slices, sp__slice *out, int32_t *first, int32_t *count,
                      int32_t *pack)
{
    for (int32_t i = 0; i < slices; i++) {
        int32_t j = s->pass == SP_FORWARD ? i : slices - 1 - i;
        int32_t start = j > 0 ? ends[j - 1] : 0;
        int32_t edge = s->pass == SP_FORWARD ? start : ends[j];

        while (*pack < packs && s->cuts[*pack].item == item && s->cuts[*pack].token == edge)
            first[(*pack)++] = *count;
        out[(*count)++] = (sp__slice){ s->segment->sample[item], start, ends[j] - start,
                                       SP__SPLIT };
    }
}

sp_status sp__cut_segment(const sp__yardstick *y, const sp__segment *segment,
                          const sp__shares *shares, const int64_t *lengths, sp__arena *scratch,
                          sp__slice *slices[2], int32_t *first[2], int32_t *count)
{
    sp__arena_mark mark = sp__arena_here(scratch);
    int32_t from[2] = { 0, 0 }, pack[2] = { 0, 0 }, done[2] = { 0, 0 };
    stream s[2];
    int32_t *ends;

    if (segment->count == 0) {
        for (int pass = 0; pass < 2; pass++)
            memset(first[pass], 0, (size_t)shares->packs[pass] * sizeof *first[pass]);
        *count = 0;
        return SP_OK;
    }
    SP_TAKE(scratch, ends, (int64_t)shares->packs[0] + shares->packs[1] + 1);
    for (int pass = 0; pass < 2; pass++)
        SP_TRY(start_stream(&s[pass], y, segment, lengths, pass, shares, scratch));
    for (int32_t item = 0; item < segment->count; item++) {
        int32_t found = slice_ends(s, shares, item, from, ends);

        for (int pass = 0; pass < 2; pass++)
            emit_item(&s[pass], shares->packs[pass], item, ends, found, slices[pass], first[pass],
                      &done[pass], &pack[pass]);
    }
    for (int pass = 0; pass < 2; pass++)
        while (pack[pass] < shares->packs[pass])
            first[pass][pack[pass]++] = done[pass];
    *count = done[0];
    sp__arena_rewind(scratch, mark);
    return SP_OK;
}
