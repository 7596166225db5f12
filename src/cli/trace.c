/*
 * trace.c - a step as Chrome trace events: see trace.h.
 *
 * The text is written as the schedule is walked, one event a line. Times are exact:
 * microseconds with six digits, from integer picoseconds. A flow's id is the number of
 * its sender among all ops that could send, so that both ends find it without a table.
 * TP ranks do all alike; CP ranks differ in memory alone and have a counter each.
 */
#include "trace.h"

#include <inttypes.h>
#include <stdlib.h>

#include "json_put.h"
#include "message.h"

static const char *const pass_names[] = { "forward", "backward", "weight" };

static const char *const memory_names[SP_MEMORY_KINDS] = {
    "weights", "gradients", "optimizer", "activations", "kv", "dkv", "logits", "buffers"
};

typedef struct tracer {
    FILE *file;
    const cli_step *step;
    int64_t *bytes; /* [ops * SP_MEMORY_KINDS] */
    int32_t dp, pp, rank;
    int events; /* whether one was written */
} tracer;

static void begin_event(tracer *t, const char *phase)
{
    fprintf(t->file, "%s{\"ph\":\"%s\",\"pid\":%" PRId32 ",\"tid\":0",
            t->events ? ",\n" : "", phase, t->rank);
    t->events = 1;
}

static void put_ts(tracer *t, int64_t ps)
{
    fputs(",\"ts\":", t->file);
    cli_put_us(t->file, ps);
}

static void put_process(tracer *t)
{
    begin_event(t, "M");
    fprintf(t->file, ",\"name\":\"process_name\",\"args\":{\"name\":\"dp%" PRId32 " pp%" PRId32
            "\"}}", t->dp, t->pp);
    begin_event(t, "M");
    fprintf(t->file, ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":%" PRId32 "}}",
            t->dp * t->step->degrees.pp + t->pp);
    begin_event(t, "M");
    fputs(",\"name\":\"thread_name\",\"args\":{\"name\":\"ops\"}}", t->file);
}

static void put_op(tracer *t, const sp_op_view *op)
{
    sp_slice_view slices = SP_SLICE_VIEW_INIT;
    int64_t tokens = cli_step_tokens(t->step, t->dp, op->pass, op->pack);

    sp_schedule_pack_slices(t->step->schedule, t->dp, cli_step_pack_pass(op->pass), op->pack,
                            &slices);
    begin_event(t, "X");
    fprintf(t->file, ",\"name\":\"%c%" PRId32 "\",\"cat\":\"%s\"", "FBW"[op->pass], op->pack,
            pass_names[op->pass]);
    put_ts(t, op->start_ps);
    fputs(",\"dur\":", t->file);
    cli_put_us(t->file, op->end_ps - op->start_ps);
    fprintf(t->file, ",\"args\":{\"pack\":%" PRId32 ",\"chunk\":%" PRId32 ",\"tokens\":%" PRId64
            ",\"slices\":%" PRId32 ",\"merge\":%" PRId32 "}}",
            op->pack, op->chunk, tokens, slices.count, op->merge);
}

/* The hand-over of a pack from a virtual stage on. */
static int64_t flow_id(const tracer *t, const sp_op_view *op, int64_t virtual_stage)
{
    int64_t stages = (int64_t)t->step->degrees.pp * t->step->chunks;
    int64_t forward = sp_schedule_pack_count(t->step->schedule, SP_FORWARD);
    int64_t packs = forward + sp_schedule_pack_count(t->step->schedule, SP_BACKWARD);

    return (t->dp * stages + virtual_stage) * packs +
           (op->pass == SP_FORWARD ? 0 : forward) + op->pack;
}

static void put_flow(tracer *t, const sp_op_view *op, const char *phase, int64_t ps, int64_t id)
{
    begin_event(t, phase);
    fprintf(t->file, ",\"name\":\"%s\",\"cat\":\"hand-over\",\"id\":%" PRId64 ",\"bp\":\"e\"",
            op->pass == SP_FORWARD ? "activations" : "gradients", id);
    put_ts(t, ps);
    putc('}', t->file);
}

/* A flow binds to the slice around it once times are cut to nanoseconds: the send
 * stands two of them before the end, where the next op's slice cannot take it. */
static int64_t send_ps(const sp_op_view *op)
{
    int64_t half = (op->end_ps - op->start_ps) / 2;

    return op->end_ps - (half < 2000 ? half : 2000);
}

static void put_flows(tracer *t, const sp_op_view *op)
{
    int64_t here = (int64_t)op->chunk * t->step->degrees.pp + t->pp;
    int64_t before = op->pass == SP_FORWARD ? here - 1 : here + 1;

    if (op->recv_rank >= 0)
        put_flow(t, op, "f", op->start_ps, flow_id(t, op, before));
    if (op->send_rank >= 0)
        put_flow(t, op, "s", send_ps(op), flow_id(t, op, here));
}

static void put_ops(tracer *t)
{
    for (int32_t i = 0; i < t->step->ops && !ferror(t->file); i++) {
        sp_op_view op = cli_step_op(t->step, t->rank, i);

        put_op(t, &op);
        put_flows(t, &op);
    }
}

static int same_bytes(const int64_t *a, const int64_t *b)
{
    for (int kind = 0; kind < SP_MEMORY_KINDS; kind++)
        if (a[kind] != b[kind])
            return 0;
    return 1;
}

static void put_counter(tracer *t, int32_t cp, int64_t ps, const int64_t *bytes)
{
    begin_event(t, "C");
    fputs(",\"name\":\"memory", t->file);
    if (t->step->degrees.cp > 1)
        fprintf(t->file, " cp%" PRId32, cp);
    fputs(" (bytes)\"", t->file);
    put_ts(t, ps);
    fputs(",\"args\":{", t->file);
    for (int kind = 0; kind < SP_MEMORY_KINDS; kind++)
        fprintf(t->file, "%s\"%s\":%" PRId64, kind > 0 ? "," : "", memory_names[kind], bytes[kind]);
    fputs("}}", t->file);
}

/* What is held while an op runs, where that differs from the op before. */
static void put_memory(tracer *t, int32_t cp)
{
    int32_t rank = cli_step_rank(t->step, t->dp, t->pp, cp);
    const int64_t *before = NULL;

    sp_simulation_memory(t->step->simulation, rank, t->bytes);
    for (int32_t i = 0; i < t->step->ops && !ferror(t->file); i++) {
        const int64_t *now = t->bytes + (int64_t)i * SP_MEMORY_KINDS;

        if (before == NULL || !same_bytes(before, now))
            put_counter(t, cp, cli_step_op(t->step, t->rank, i).start_ps, now);
        before = now;
    }
}

static void put_stage(tracer *t, int32_t dp, int32_t pp)
{
    t->dp = dp;
    t->pp = pp;
    t->rank = cli_step_rank(t->step, dp, pp, 0);
    put_process(t);
    put_ops(t);
    for (int32_t cp = 0; t->step->simulation != NULL && cp < t->step->degrees.cp; cp++)
        put_memory(t, cp);
}

static void put_head(tracer *t)
{
    const cli_step *s = t->step;

    fputs("{\"displayTimeUnit\":\"ms\",\n\"otherData\":{\"program\":\"slimpack\",\"policy\":",
          t->file);
    cli_put_text(t->file, s->policy);
    fputs(",\"model\":", t->file);
    cli_put_text(t->file, s->model);
    fputs(",\"device\":", t->file);
    cli_put_text(t->file, s->device);
    fprintf(t->file, ",\"topology\":\"dp=%" PRId32 " tp=%" PRId32 " pp=%" PRId32 " cp=%" PRId32
            "\"},\n\"traceEvents\":[\n", s->degrees.dp, s->degrees.tp, s->degrees.pp,
            s->degrees.cp);
}

int cli_trace_write(FILE *file, const cli_step *step)
{
    tracer t = { file, step, NULL, 0, 0, 0, 0 };

    t.bytes = malloc((size_t)step->ops * SP_MEMORY_KINDS * sizeof *t.bytes);
    if (t.bytes == NULL)
        return cli_fail_memory();
    put_head(&t);
    for (int32_t dp = 0; dp < step->degrees.dp; dp++)
        for (int32_t pp = 0; pp < step->degrees.pp && !ferror(file); pp++)
            put_stage(&t, dp, pp);
    fputs("]}\n", file);
    free(t.bytes);
    return CLI_OK;
}
