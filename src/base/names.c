/*
 * names.c - finds a name in a list, or the nearest one to suggest: see names.h.
 *
 * Nearest is by edit distance (Wagner and Fischer, 1974), the first of equals; what is
 * cut short is never farther than two slips.
 */
#include "base/names.h"

#include <string.h>

#include "base/status.h"

#define LONGEST 63       /* longer names get no suggestion */
#define LIST_LENGTH 240  /* longer lists are not told */
#define SHORTEST_STEM 3  /* letters that stand for the name that starts with them */

static int smallest(int a, int b, int c)
{
    int least = a < b ? a : b;

    return least < c ? least : c;
}

static int edit_distance(const char *a, const char *b)
{
    int row[LONGEST + 2];
    int n = (int)strlen(b);

    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (int i = 1; a[i - 1] != '\0'; i++) {
        int diagonal = row[0];

        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int above = row[j];

            row[j] = smallest(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[n];
}

static int distance_of(const char *name, const char *candidate)
{
    size_t length = strlen(name);
    int distance = strlen(candidate) > LONGEST ? LONGEST : edit_distance(name, candidate);
    int stem = length >= SHORTEST_STEM && strncmp(name, candidate, length) == 0;

    return stem && distance > 2 ? 2 : distance;
}

static const char *nearest(const char *name, sp__name_at at, const void *list)
{
    const char *best = NULL;
    int best_distance = LONGEST;

    if (strlen(name) > LONGEST)
        return NULL;
    for (int32_t i = 0; at(list, i) != NULL; i++) {
        const char *candidate = at(list, i);
        int distance = distance_of(name, candidate);

        if (distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    if (best == NULL || strlen(best) < SHORTEST_STEM || best_distance >= (int)strlen(best))
        return NULL; /* too short to resemble, or every letter differs */
    /* Further than half its length is no slip of the fingers. */
    return best_distance <= (int)strlen(best) / 2 + 1 ? best : NULL;
}

/* The names of a short list, joined by commas; of a long one nothing. */
static void join_names(sp__name_at at, const void *list, char out[LIST_LENGTH + 1])
{
    size_t used = 0;

    for (int32_t i = 0; at(list, i) != NULL; i++) {
        size_t length = strlen(at(list, i));

        if (used + length + 2 > LIST_LENGTH) {
            used = 0;
            break;
        }
        memcpy(out + used, i > 0 ? ", " : "", i > 0 ? 2 : 0);
        used += i > 0 ? 2 : 0;
        memcpy(out + used, at(list, i), length);
        used += length;
    }
    out[used] = '\0';
}

sp_status sp__name_find(const char *what, const char *name, sp__name_at at, const void *list,
                        int32_t *index)
{
    char known[LIST_LENGTH + 1];
    const char *suggestion;

    for (int32_t i = 0; at(list, i) != NULL; i++)
        if (strcmp(at(list, i), name) == 0) {
            *index = i;
            return SP_OK;
        }
    suggestion = nearest(name, at, list);
    if (suggestion != NULL)
        return sp__fail(SP_ERR_NAME, "unknown %s '%.80s'; did you mean '%s'?", what, name,
                        suggestion);
    join_names(at, list, known);
    return sp__fail(SP_ERR_NAME, "unknown %s '%.80s'%s%s", what, name,
                    known[0] != '\0' ? "; known are " : "", known);
}
