/*
 * topology_parse.c - a topology from one line, "dp=8 pp=4 cp=2 tp=8 order=tp-cp-dp-pp".
 *
 *     line   = { blank | word }
 *     word   = ("dp" | "tp" | "pp" | "cp") "=" degree  |  "order=" axis { "-" axis }
 *
 * Each key stands at most once, in any place. What is not named keeps degree 1
 * and the default order. The numbers are read by hand, as the C library's
 * readers depend on the locale and accept more than a degree.
 */
#include <inttypes.h>
#include <string.h>

#include "base/names.h"
#include "base/status.h"
#include "input/topology.h"

#define BLANKS " \t\r\n"
#define KEYS (SP__AXES + 1)
#define ORDER_KEY SP__AXES
#define MESSAGE_LENGTH 80 /* of a word that a message repeats */

/* A range of the caller's text. */
typedef struct span {
    const char *text;
    size_t length;
} span;

typedef struct reading {
    int32_t degree[SP__AXES];
    int order[SP__AXES];
    int seen[KEYS];
} reading;

/* Characters of a word that a message repeats, for "%.*s". */
static int shown(span word)
{
    return word.length > MESSAGE_LENGTH ? MESSAGE_LENGTH : (int)word.length;
}

static sp_status fail_word(span word, const char *why)
{
    return sp__fail(SP_ERR_INVALID, "topology: '%.*s' %s", shown(word), word.text, why);
}

static const char *key_name(const void *list, int32_t index)
{
    (void)list;
    return index < SP__AXES ? sp__axis_names[index] : index == ORDER_KEY ? "order" : NULL;
}

static sp_status find_key(span name, int32_t *key)
{
    char copy[MESSAGE_LENGTH + 1];
    int length = shown(name);

    memcpy(copy, name.text, (size_t)length);
    copy[length] = '\0';
    return sp__name_find("topology key", copy, key_name, NULL, key);
}

/* Axis of a name within an order, -1 when it is none. */
static int find_axis(span name)
{
    for (int axis = 0; axis < SP__AXES; axis++)
        if (name.length == 2 && memcmp(name.text, sp__axis_names[axis], 2) == 0)
            return axis;
    return -1;
}

/* The next part of an order, up to its dash; the rest moves behind it. */
static span take_part(span *rest)
{
    const char *dash = memchr(rest->text, '-', rest->length);
    span part = { rest->text, dash != NULL ? (size_t)(dash - rest->text) : rest->length };
    size_t taken = part.length + (dash != NULL);

    rest->text += taken;
    rest->length -= taken;
    return part;
}

static sp_status read_order(span word, span value, int order[SP__AXES])
{
    static const char why[] = "must name tp, cp, dp and pp once each, joined by '-'";
    int taken[SP__AXES] = { 0 };

    /* Four names of two letters with three dashes: of this length, four parts
     * leave no room for a dash or a name too many. */
    if (value.length != 3 * SP__AXES - 1)
        return fail_word(word, why);
    for (int i = 0; i < SP__AXES; i++) {
        int axis = find_axis(take_part(&value));

        if (axis < 0 || taken[axis])
            return fail_word(word, why);
        taken[axis] = 1;
        order[i] = axis;
    }
    return SP_OK;
}

static sp_status read_degree(span word, span value, int32_t *degree)
{
    size_t negative = value.length > 1 && value.text[0] == '-';
    int64_t number = 0;

    if (value.length == 0)
        return fail_word(word, "has no degree");
    for (size_t i = negative; i < value.length; i++) {
        if (value.text[i] < '0' || value.text[i] > '9')
            return fail_word(word, "has a degree that is not a whole number");
        if (number <= INT32_MAX)
            number = number * 10 + (value.text[i] - '0');
    }
    if (negative || number < 1)
        return sp__fail(SP_ERR_RANGE, "topology: '%.*s' is below 1", shown(word), word.text);
    if (number > INT32_MAX)
        return sp__fail(SP_ERR_RANGE, "topology: '%.*s' is above %" PRId32, shown(word),
                        word.text, INT32_MAX);
    *degree = (int32_t)number;
    return SP_OK;
}

static sp_status read_word(reading *r, span word)
{
    const char *equals = memchr(word.text, '=', word.length);
    span name = { word.text, 0 }, value;
    int32_t key;

    if (equals == NULL || equals == word.text)
        return fail_word(word, "is not of the form key=value");
    if (memchr(equals + 1, '=', word.length - (size_t)(equals + 1 - word.text)) != NULL)
        return fail_word(word, "is more than one key=value; blanks part them");
    name.length = (size_t)(equals - word.text);
    value.text = equals + 1;
    value.length = word.length - name.length - 1;
    SP_TRY(find_key(name, &key));
    if (r->seen[key])
        return fail_word(word, "gives its key a second time");
    r->seen[key] = 1;
    if (key == ORDER_KEY)
        return read_order(word, value, r->order);
    return read_degree(word, value, &r->degree[key]);
}

sp_status sp_topology_parse(const char *text, sp_topology **out)
{
    reading r = { { 1, 1, 1, 1 }, { SP__TP, SP__CP, SP__DP, SP__PP }, { 0 } };

    if (text == NULL)
        return sp__fail_null("text");
    if (out == NULL)
        return sp__fail_null("out");
    for (text += strspn(text, BLANKS); *text != '\0'; text += strspn(text, BLANKS)) {
        span word = { text, strcspn(text, BLANKS) };

        SP_TRY(read_word(&r, word));
        text += word.length;
    }
    return sp__topology_make(r.degree, r.order, NULL, out);
}
