/*
 * npy_header.c - parses the head of a NumPy array file: see npy_header.h.
 *
 * Each function takes what it is named for and gives 1, or gives 0 where that does
 * not stand.
 */
#include "npy_header.h"

#include <string.h>

typedef struct text {
    const char *at, *end;
} text;

static void take_blanks(text *t)
{
    while (t->at < t->end && (*t->at == ' ' || *t->at == '\n' || *t->at == '\t'))
        t->at++;
}

static int take_char(text *t, char c)
{
    take_blanks(t);
    if (t->at == t->end || *t->at != c)
        return 0;
    t->at++;
    return 1;
}

static int take_word(text *t, const char *word)
{
    size_t length = strlen(word);

    take_blanks(t);
    if ((size_t)(t->end - t->at) < length || memcmp(t->at, word, length) != 0)
        return 0;
    t->at += length;
    return 1;
}

/* A string without escapes: names of dtypes and keys have none. */
static int take_string(text *t, const char **string, size_t *length)
{
    char quote;
    const char *close;

    take_blanks(t);
    if (t->at == t->end || (*t->at != '\'' && *t->at != '"'))
        return 0;
    quote = *t->at++;
    close = memchr(t->at, quote, (size_t)(t->end - t->at));
    if (close == NULL)
        return 0;
    *string = t->at;
    *length = (size_t)(close - t->at);
    t->at = close + 1;
    return 1;
}

/* Digits; Python 2 wrote an L behind long ones. */
static int take_number(text *t, uint64_t *number)
{
    const char *start;
    uint64_t value = 0;

    take_blanks(t);
    for (start = t->at; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++) {
        uint64_t digit = (uint64_t)(*t->at - '0');

        value = value > (UINT64_MAX - digit) / 10 ? UINT64_MAX : value * 10 + digit;
    }
    if (t->at == start)
        return 0;
    if (t->at < t->end && *t->at == 'L')
        t->at++;
    *number = value;
    return 1;
}

static const char *take_shape(text *t, cli_npy_header *h)
{
    take_blanks(t);
    h->shape = t->at;
    if (!take_char(t, '('))
        return "its shape is not a tuple";
    while (!take_char(t, ')')) {
        if (!take_number(t, &h->count))
            return "its shape is not a tuple of whole numbers";
        h->dimensions++;
        if (!take_char(t, ',') && (t->at == t->end || *t->at != ')'))
            return "its shape is not a tuple of whole numbers";
    }
    h->shape_length = (size_t)(t->at - h->shape);
    return NULL;
}

/* The fields of a structured dtype are lists and tuples of strings and numbers. */
static const char *take_fields(text *t)
{
    int depth = 0;

    do {
        const char *string;
        size_t length;
        char c;

        if (t->at == t->end)
            return "its descr has no end";
        c = *t->at;
        if (c == '\'' || c == '"') {
            if (!take_string(t, &string, &length))
                return "its descr has a string without an end";
            continue;
        }
        depth += (c == '[' || c == '(') - (c == ']' || c == ')');
        t->at++;
    } while (depth > 0);
    return NULL;
}

static const char *take_descr(text *t, cli_npy_header *h)
{
    take_blanks(t);
    if (t->at < t->end && *t->at == '[')
        return take_fields(t);
    if (!take_string(t, &h->descr, &h->descr_length))
        return "its descr is neither a string nor a list";
    return NULL;
}

enum { SEEN_DESCR = 1, SEEN_ORDER = 2, SEEN_SHAPE = 4, SEEN_ALL = 7 };

static int is_key(const char *key, size_t length, const char *name)
{
    return length == strlen(name) && memcmp(key, name, length) == 0;
}

/* Takes a key and its value; adds the key to what was seen. */
static const char *take_entry(text *t, cli_npy_header *h, int *seen)
{
    const char *key, *wrong = NULL;
    size_t length;
    int is;

    if (!take_string(t, &key, &length) || !take_char(t, ':'))
        return "it is not a dictionary";
    is = is_key(key, length, "descr") ? SEEN_DESCR : is_key(key, length, "fortran_order")
             ? SEEN_ORDER : is_key(key, length, "shape") ? SEEN_SHAPE : 0;
    if (is == 0 || (*seen & is) != 0)
        return is == 0 ? "it has an unknown key" : "it has a key twice";
    *seen |= is;
    if (is == SEEN_DESCR)
        wrong = take_descr(t, h);
    else if (is == SEEN_SHAPE)
        wrong = take_shape(t, h);
    else if (take_word(t, "True"))
        h->fortran = 1;
    else if (!take_word(t, "False"))
        wrong = "its fortran_order is neither True nor False";
    return wrong;
}

const char *cli_npy_parse(const char *bytes, size_t length, cli_npy_header *out)
{
    text t = { bytes, bytes + length };
    int seen = 0;

    memset(out, 0, sizeof *out);
    if (!take_char(&t, '{'))
        return "it is not a dictionary";
    while (!take_char(&t, '}')) {
        const char *wrong = take_entry(&t, out, &seen);

        if (wrong != NULL)
            return wrong;
        if (!take_char(&t, ',') && (t.at == t.end || *t.at != '}'))
            return "it is not a dictionary";
    }
    if (seen != SEEN_ALL)
        return "descr, fortran_order or shape is missing";
    take_blanks(&t);
    return t.at == t.end ? NULL : "something follows its dictionary";
}
