/*
 * json_write.c - plans and comparisons as JSON: see json.h.
 *
 * The text is written as the schedule is walked, one pack or stage a line, so
 * that a plan of any size costs no memory. All numbers are integers and exact;
 * the only strings are names, and jansson escapes them.
 */
#include "json.h"

#include "message.h"

#ifdef SP_HAVE_JANSSON

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"

int cli_json_available(void)
{
    return CLI_OK;
}

typedef struct writer {
    FILE *file;
    const sp_schedule *schedule;
    const sp_topology *topology;
    sp_coordinates degrees;
    int64_t chunks; /* of each stage */
} writer;

static int put_string(FILE *file, const char *text)
{
    json_t *string = json_string(text);
    char *escaped = json_dumps(string, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);

    json_decref(string);
    if (escaped == NULL)
        return cli_fail(CLI_DATA, "'%s' cannot be written as JSON", cli_show_text(text).text);
    fputs(escaped, file);
    free(escaped);
    return CLI_OK;
}

static void put_int(FILE *file, int64_t value)
{
    char digits[24];
    char *at = digits + sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

    do
        *--at = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0)
        *--at = '-';
    fwrite(at, 1, (size_t)(digits + sizeof digits - at), file);
}

/* Between the elements of a list, so that none follows the last. */
static void put_comma(FILE *file, int64_t index, const char *comma)
{
    if (index > 0)
        fputs(comma, file);
}

static void put_triple(FILE *file, int32_t sample, int32_t start, int32_t length)
{
    putc('[', file);
    put_int(file, sample);
    putc(',', file);
    put_int(file, start);
    putc(',', file);
    put_int(file, length);
    putc(']', file);
}

static int32_t rank_at(const writer *w, int32_t dp, int32_t pp, int32_t cp)
{
    sp_coordinates at = SP_COORDINATES_INIT;
    int32_t rank = 0;

    at.dp = dp;
    at.pp = pp;
    at.cp = cp;
    sp_topology_rank(w->topology, &at, &rank);
    return rank;
}

static void put_slices(writer *w, const sp_slice_view *view)
{
    fputs("{\"slices\":[", w->file);
    for (int32_t i = 0; i < view->count; i++) {
        put_comma(w->file, i, ",");
        put_triple(w->file, view->sample[i], view->start[i], view->length[i]);
    }
    fputs("],\"merge\":", w->file);
    put_int(w->file, view->merge);
}

static void put_shards(writer *w, int32_t rank, sp_pass pass, int32_t pack)
{
    sp_pack_view view = SP_PACK_VIEW_INIT;

    sp_schedule_pack(w->schedule, rank, pass, pack, &view);
    putc('[', w->file);
    for (int32_t i = 0; i < view.count; i++) {
        put_comma(w->file, i, ",");
        put_triple(w->file, view.sample[i], view.start[i],
                   view.cu_seqlens_q[i + 1] - view.cu_seqlens_q[i]);
    }
    putc(']', w->file);
}

static void put_pack(writer *w, int32_t dp, sp_pass pass, int32_t pack)
{
    sp_slice_view slices = SP_SLICE_VIEW_INIT;

    sp_schedule_pack_slices(w->schedule, dp, pass, pack, &slices);
    put_slices(w, &slices);
    fputs(",\"shards\":[", w->file);
    for (int32_t cp = 0; cp < w->degrees.cp; cp++) {
        put_comma(w->file, cp, ",");
        put_shards(w, rank_at(w, dp, 0, cp), pass, pack);
    }
    fputs("]}", w->file);
}

static void put_pass(writer *w, int32_t dp, sp_pass pass)
{
    int32_t count = sp_schedule_pack_count(w->schedule, pass);

    fputs(pass == SP_FORWARD ? "\n  \"forward\":[" : ",\n  \"backward\":[", w->file);
    for (int32_t pack = 0; pack < count; pack++) {
        fputs(pack > 0 ? ",\n    " : "\n    ", w->file);
        put_pack(w, dp, pass, pack);
    }
    putc(']', w->file);
}

static void put_ops(writer *w, int32_t rank)
{
    int32_t count = sp_schedule_op_count(w->schedule);

    for (int32_t i = 0; i < count; i++) {
        sp_op_view op = SP_OP_VIEW_INIT;

        sp_schedule_op(w->schedule, rank, i, &op);
        put_comma(w->file, i, ",");
        fprintf(w->file, "[\"%c\",", "FBW"[op.pass]);
        put_int(w->file, op.pack);
        putc(',', w->file);
        put_int(w->file, op.start_ps);
        putc(',', w->file);
        put_int(w->file, op.end_ps);
        if (w->chunks > 1) {
            putc(',', w->file);
            put_int(w->file, op.chunk);
        }
        putc(']', w->file);
    }
}

/* CP ranks run the same ops; the heaviest of them counts. */
static void put_stage(writer *w, int32_t dp, int32_t pp)
{
    int64_t peak = 0, fixed = 0;

    for (int32_t cp = 0; cp < w->degrees.cp; cp++) {
        sp_stage_view view = SP_STAGE_VIEW_INIT;

        sp_schedule_stage(w->schedule, rank_at(w, dp, pp, cp), &view);
        peak = view.peak_bytes > peak ? view.peak_bytes : peak;
        fixed = view.static_bytes > fixed ? view.static_bytes : fixed;
    }
    fprintf(w->file, "{\"pp\":%" PRId32 ",\"ops\":[", pp);
    put_ops(w, rank_at(w, dp, pp, 0));
    fprintf(w->file, "],\"peak_bytes\":%" PRId64 ",\"static_bytes\":%" PRId64 "}", peak, fixed);
}

static void put_replica(writer *w, int32_t dp)
{
    fprintf(w->file, "%s{\"dp\":%" PRId32 ",", dp > 0 ? ",\n " : "\n ", dp);
    put_pass(w, dp, SP_FORWARD);
    put_pass(w, dp, SP_BACKWARD);
    fputs(",\n  \"stages\":[", w->file);
    for (int32_t pp = 0; pp < w->degrees.pp; pp++) {
        fputs(pp > 0 ? ",\n    " : "\n    ", w->file);
        put_stage(w, dp, pp);
    }
    fputs("]}", w->file);
}

static void put_merges(writer *w)
{
    int32_t count = sp_schedule_merge_count(w->schedule);

    fputs("],\n\"merges\":[", w->file);
    for (int32_t i = 0; i < count; i++) {
        sp_merge_view merge = SP_MERGE_VIEW_INIT;

        sp_schedule_merge(w->schedule, i, &merge);
        fprintf(w->file, "%s{\"sample\":%" PRId32 ",\"replicas\":[", i > 0 ? "," : "",
                merge.sample);
        for (int32_t r = 0; r < merge.replicas; r++) {
            put_comma(w->file, r, ",");
            put_int(w->file, merge.first_replica + r);
        }
        fputs("]}", w->file);
    }
    putc(']', w->file);
}

static void put_samples(writer *w, int64_t count)
{
    const int64_t *lengths = sp_schedule_lengths(w->schedule);

    fputs(",\n\"samples\":[", w->file);
    for (int64_t i = 0; i < count; i++) {
        put_comma(w->file, i, ",");
        put_int(w->file, lengths[i]);
    }
    fputs("],\n\"replicas\":[", w->file);
}

static void put_topology(FILE *file, const cli_plan_note *note)
{
    fprintf(file,
            "\"topology\":{\"dp\":%" PRId64 ",\"tp\":%" PRId64 ",\"pp\":%" PRId64
            ",\"cp\":%" PRId64 "},\n",
            note->dp, note->tp, note->pp, note->cp);
}

static int put_names(FILE *file, const cli_plan_note *note)
{
    int code;

    fputs("\"model\":", file);
    code = put_string(file, note->model);
    fputs(",\"device\":", file);
    return code == CLI_OK ? put_string(file, note->device) : code;
}

static int put_head(FILE *file, const cli_plan_note *note)
{
    int code;

    fputs("{\"format\":\"slimpack-plan\",\"version\":1,\n", file);
    put_topology(file, note);
    fputs("\"policy\":", file);
    code = put_string(file, note->policy);
    putc(',', file);
    if (code == CLI_OK)
        code = put_names(file, note);
    fprintf(file, ",\n\"alignment\":%" PRId64 ",\"pad_multiple\":%" PRId64 ",\"lockstep\":%s"
            ",\"virtual_stages\":%" PRId64 ",\"pipeline\":\"%s\"", note->alignment,
            note->pad_multiple, note->lockstep ? "true" : "false", note->virtual_stages,
            note->pipeline == SP_PIPELINE_ZERO_BUBBLE ? "zero-bubble" : "1f1b");
    return code;
}

static void put_stats(FILE *file, const cli_plan_note *note)
{
    fprintf(file,
            ",\n\"stats\":{\"makespan_ps\":%" PRId64 ",\"ideal_ps\":%" PRId64
            ",\"bound_ps\":%" PRId64 ",\"plan_us\":%" PRId64 ",\"memory_bytes\":%" PRId64
            ",\"digest\":\"%016" PRIx64 "\"}}\n",
            note->makespan_ps, note->ideal_ps, note->bound_ps, note->plan_us, note->memory_bytes,
            note->digest);
}

static int write_plan(writer *w, const cli_plan_note *note)
{
    sp_stats stats = SP_STATS_INIT;
    int code = put_head(w->file, note);

    if (code != CLI_OK)
        return code;
    sp_schedule_stats(w->schedule, &stats);
    put_samples(w, stats.samples);
    /* What cannot be written is found out early and reported by the commit. */
    for (int32_t dp = 0; dp < w->degrees.dp && !ferror(w->file); dp++)
        put_replica(w, dp);
    put_merges(w);
    put_stats(w->file, note);
    return CLI_OK;
}

int cli_json_write_plan(const char *path, const sp_schedule *schedule,
                        const sp_topology *topology, const cli_plan_note *note)
{
    writer w = { NULL, schedule, topology, SP_COORDINATES_INIT, note->virtual_stages };
    cli_output output;
    int code = cli_output_open(path, &output);

    if (code != CLI_OK)
        return code;
    w.file = output.file;
    sp_topology_degrees(topology, &w.degrees);
    code = write_plan(&w, note);
    if (code == CLI_OK)
        return cli_output_commit(&output);
    cli_output_discard(&output);
    return code;
}

static void put_figures(FILE *file, const cli_comparison_row *row)
{
    const sp_stats *s = &row->stats;

    fprintf(file,
            ",\"makespan_ps\":%" PRId64 ",\"ideal_ps\":%" PRId64 ",\"bound_ps\":%" PRId64
            ",\"ratio_ppm\":%" PRId64 ",\"bubble_ppm\":%" PRId64 ",\"forward_packs\":%" PRId64
            ",\"backward_packs\":%" PRId64 ",\"slices\":%" PRId64,
            s->makespan_ps, s->ideal_ps, s->bound_ps, s->ratio_ppm, s->bubble_ppm,
            s->forward_packs, s->backward_packs, s->slices);
    fprintf(file,
            ",\"merges\":%" PRId64 ",\"peak_live_tokens\":%" PRId64 ",\"peak_bytes\":%" PRId64
            ",\"memory_bytes\":%" PRId64 ",\"plan_us\":%" PRId64,
            s->merges, s->peak_live_tokens, s->peak_bytes, s->memory_bytes, row->plan_us);
}

static int put_comparison_row(FILE *file, const cli_comparison_row *row)
{
    int code;

    fputs("{\"policy\":", file);
    code = put_string(file, row->policy);
    fprintf(file, ",\"status\":\"%s\"", sp_status_name(row->status));
    if (code == CLI_OK && row->status == SP_OK) {
        put_figures(file, row);
    } else if (code == CLI_OK) {
        fputs(",\"reason\":", file);
        code = put_string(file, row->reason);
    }
    putc('}', file);
    return code;
}

static int write_comparison(FILE *file, const cli_plan_note *note, const cli_comparison_row *rows,
                            int count)
{
    int code;

    fputs("{\"format\":\"slimpack-comparison\",\"version\":1,\n", file);
    put_topology(file, note);
    code = put_names(file, note);
    fputs(",\n\"policies\":[", file);
    for (int i = 0; i < count && code == CLI_OK; i++) {
        fputs(i > 0 ? ",\n " : "\n ", file);
        code = put_comparison_row(file, &rows[i]);
    }
    fputs("]}\n", file);
    return code;
}

int cli_json_write_comparison(const char *path, const cli_plan_note *note,
                              const cli_comparison_row *rows, int count)
{
    cli_output output;
    int code = cli_output_open(path, &output);

    if (code != CLI_OK)
        return code;
    code = write_comparison(output.file, note, rows, count);
    if (code == CLI_OK)
        return cli_output_commit(&output);
    cli_output_discard(&output);
    return code;
}

#endif
