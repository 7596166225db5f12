/*
 * names.c - finds a name in a list, or the nearest one to suggest: see names.h.
 *
 * Nearest is by edit distance (Wagner and Fischer, 1974), the first of equals.
 */
#include "base/names.h"

#include <string.h>

#include "base/status.h"

#define LONGEST 63 /* longer names get no suggestion */

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

static const char *nearest(const char *name, sp__name_at at, const void *list)
{
    const char *best = NULL;
    int best_distance = LONGEST;

    if (strlen(name) > LONGEST)
        return NULL;
    for (int32_t i = 0; at(list, i) != NULL; i++) {
        const char *candidate = at(list, i);
        int distance = strlen(candidate) > LONGEST ? LONGEST : edit_distance(name, candidate);

        if (distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    if (best == NULL || best_distance >= (int)strlen(best))
        return NULL; /* every letter differs */
    /* Further than half its length is no slip of the fingers. */
    return best_distance <= (int)strlen(best) / 2 + 1 ? best : NULL;
}

sp_status sp__name_find(const char *what, const char *name, sp__name_at at, const void *list,
                        int32_t *index)
{
    const char *suggestion;

    for (int32_t i = 0; at(list, i) != NULL; i++)
        if (strcmp(at(list, i), name) == 0) {
            *index = i;
            return SP_OK;
        }
    suggestion = nearest(name, at, list);
    if (suggestion == NULL)
        return sp__fail(SP_ERR_NAME, "unknown %s '%.80s'", what, name);
    return sp__fail(SP_ERR_NAME, "unknown %s '%.80s'; did you mean '%s'?", what, name, suggestion);
}
