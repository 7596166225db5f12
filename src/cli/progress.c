/*
 * progress.c - draws the bar: see progress.h.
 *
 * It is drawn ten times a second at most, so that telling it costs the work nothing.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* clock_gettime, fileno */
#endif

#include "progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WIDTH 30
#define GREEN "\033[32m"
#define PLAIN "\033[0m"
#define CLEAR "\r\033[K"
#define INTERVAL_NS 100000000

/* The one bar: a process has one standard error. */
static struct bar {
    const char *label;
    int64_t total;
    int64_t drawn_ns; /* when it was drawn last, 0: never */
    int quiet;
    int depth;   /* works that have begun and not ended */
    int visible; /* a line of it stands on the terminal */
} bar;

static int is_dumb(void)
{
    const char *term = getenv("TERM");

    return term == NULL || term[0] == '\0' || strcmp(term, "dumb") == 0;
}

int cli_has_colour(FILE *file)
{
    const char *no = getenv("NO_COLOR");

    return (no == NULL || no[0] == '\0') && isatty(fileno(file)) && !is_dumb();
}

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void cli_progress_allow(int quiet)
{
    bar.quiet = quiet || !isatty(fileno(stderr)) || is_dumb();
}

void cli_progress_begin(const char *label, int64_t total)
{
    if (bar.quiet || bar.depth++ > 0)
        return;
    bar.label = label;
    bar.total = total;
    bar.drawn_ns = 0;
}

static void draw(int64_t done)
{
    const char *on = cli_has_colour(stderr) ? GREEN : "";
    const char *off = on[0] != '\0' ? PLAIN : "";
    double part;
    int filled;

    if (bar.total < 1) {
        fprintf(stderr, CLEAR "%s %" PRId64, bar.label, done);
        return;
    }
    part = done < bar.total ? (double)done / (double)bar.total : 1;
    filled = (int)(part * WIDTH);
    fprintf(stderr, CLEAR "%s [%s%.*s%s%*s] %3d %%", bar.label, on, filled,
            "##############################", off, WIDTH - filled, "", (int)(part * 100));
}

void cli_progress_at(int64_t done)
{
    int64_t now;

    if (bar.depth != 1)
        return;
    now = now_ns();
    if (bar.drawn_ns != 0 && now - bar.drawn_ns < INTERVAL_NS)
        return;
    bar.drawn_ns = now;
    draw(done);
    fflush(stderr);
    bar.visible = 1;
}

void cli_progress_end(void)
{
    if (bar.depth == 0 || --bar.depth > 0)
        return;
    cli_progress_clear();
}

void cli_progress_clear(void)
{
    if (!bar.visible)
        return;
    fputs(CLEAR, stderr);
    fflush(stderr);
    bar.visible = 0;
    bar.drawn_ns = 0;
}
