/*
 * page.c - a step as one page: see page.h.
 *
 * The page has two places for data, lines of their own: what has a name as JSON, the
 * many numbers packed. Nothing else in it depends on the plan.
 */
#include "page.h"

#include <string.h>

#include "json_put.h"
#include "message.h"

/* Members of a JSON object, with the commas between them. */
typedef struct object {
    FILE *file;
    int members;
} object;

static void put_key(object *o, const char *key)
{
    fputs(o->members++ > 0 ? ",\n" : "", o->file);
    cli_put_text(o->file, key);
    putc(':', o->file);
}

/* INT64_MAX stands for no limit. */
static void put_number(object *o, const char *key, int64_t value)
{
    put_key(o, key);
    if (value == INT64_MAX)
        fputs("null", o->file);
    else
        cli_put_int(o->file, value);
}

static void put_word(object *o, const char *key, const char *text)
{
    put_key(o, key);
    if (text == NULL)
        fputs("null", o->file);
    else
        cli_put_text(o->file, text);
}

static object open_object(object *o, const char *key)
{
    object inner = { o->file, 0 };

    put_key(o, key);
    putc('{', o->file);
    return inner;
}

static void put_degrees(object *o, const cli_step *step)
{
    put_number(o, "dp", step->degrees.dp);
    put_number(o, "tp", step->degrees.tp);
    put_number(o, "pp", step->degrees.pp);
    put_number(o, "cp", step->degrees.cp);
    put_number(o, "ops", step->ops);
    put_number(o, "chunks", step->chunks);
    put_word(o, "pipeline", step->pipeline == SP_PIPELINE_ZERO_BUBBLE ? "zero-bubble" : "1f1b");
    put_number(o, "forwardPacks", sp_schedule_pack_count(step->schedule, SP_FORWARD));
    put_number(o, "backwardPacks", sp_schedule_pack_count(step->schedule, SP_BACKWARD));
}

static void put_plan(object *o, const cli_plan_note *note)
{
    object plan = open_object(o, "plan");

    put_word(&plan, "model", note->model);
    put_word(&plan, "device", note->device);
    put_number(&plan, "makespan", note->makespan_ps);
    put_number(&plan, "ideal", note->ideal_ps);
    put_number(&plan, "bound", note->bound_ps);
    put_number(&plan, "memory", note->memory_bytes);
    putc('}', o->file);
}

static void put_figures(object *o, const sp_stats *s)
{
    put_number(o, "makespan", s->makespan_ps);
    put_number(o, "ideal", s->ideal_ps);
    put_number(o, "bound", s->bound_ps);
    put_number(o, "ratio", s->ratio_ppm);
    put_number(o, "bubble", s->bubble_ppm);
    put_number(o, "step", s->step_ps);
    put_number(o, "tokensPerSecond", s->tokens_per_s);
    put_number(o, "deviceGflops", s->device_gflops);
    put_number(o, "mfu", s->mfu_ppm);
    put_number(o, "slices", s->slices);
    put_number(o, "merges", s->merges);
    put_number(o, "forwardPacks", s->forward_packs);
    put_number(o, "backwardPacks", s->backward_packs);
    put_number(o, "peakBytes", s->peak_bytes);
    put_number(o, "liveTokens", s->peak_live_tokens);
    put_number(o, "memory", s->memory_bytes);
}

static void put_stats(object *o, const sp_stats *stats)
{
    object inner;

    if (stats == NULL) {
        put_word(o, "stats", NULL);
        return;
    }
    inner = open_object(o, "stats");
    put_figures(&inner, stats);
    putc('}', o->file);
}

static void put_row(object *list, const cli_comparison_row *row)
{
    object o = { list->file, 0 };

    fputs(list->members++ > 0 ? ",\n{" : "{", list->file);
    put_word(&o, "policy", row->policy);
    put_word(&o, "reason", row->status == SP_OK ? NULL : row->reason);
    if (row->status == SP_OK)
        put_figures(&o, &row->stats);
    putc('}', list->file);
}

static void put_rows(object *o, const cli_page *page)
{
    object list = { o->file, 0 };

    put_word(o, "noPolicies", page->no_rows);
    put_key(o, "policies");
    putc('[', o->file);
    for (int i = 0; i < page->count; i++)
        put_row(&list, &page->rows[i]);
    putc(']', o->file);
}

static void put_meta(FILE *file, const cli_page *page)
{
    object o = { file, 0 };

    putc('{', file);
    put_word(&o, "version", sp_version_string());
    put_degrees(&o, page->step);
    put_word(&o, "policy", page->step->policy);
    put_word(&o, "model", page->step->model);
    put_word(&o, "device", page->step->device);
    put_number(&o, "sendsBlock", page->sends_block);
    put_plan(&o, page->note);
    put_stats(&o, page->stats);
    put_rows(&o, page);
    fputs("}\n", file);
}

int cli_page_write(FILE *file, const cli_page *page)
{
    cli_packed data = { NULL, 0, 0, 0 };
    int failed;

    cli_page_data(page->step, &data);
    for (int i = 0; cli_page_lines[i] != NULL && !data.failed && !ferror(file); i++) {
        if (strcmp(cli_page_lines[i], "@META@\n") == 0)
            put_meta(file, page);
        else if (strcmp(cli_page_lines[i], "@DATA@\n") == 0)
            cli_packed_write(file, &data);
        else
            fputs(cli_page_lines[i], file);
    }
    failed = data.failed;
    cli_packed_free(&data);
    return failed ? cli_fail_memory() : CLI_OK;
}
