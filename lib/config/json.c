/* SPDX-License-Identifier: Apache-2.0 */
/* The check: the strict scanner's pieces in a loop of its own, which knows where it stands and what
 * it expected there. And the walk over what was checked. */
#include "config/json.h"

#include <string.h>

#include "base/text.h"
#include "config/relax.h"
#include "wire/message_id.h"
#include "wire/scan.h"

#define BYTE_ORDER_MARK "\xEF\xBB\xBF"

/* -- the check */

struct checker {
    const char *at, *end;
    char closers[MP_JSON_MAX_DEPTH]; /* of what is open */
    unsigned depth;
    struct mp_json_fault *fault;
};

static bool fail(struct checker *checker, const char *at, const char *why)
{
    *checker->fault = (struct mp_json_fault){at, why};
    return false;
}

static bool fail_at_end_or(struct checker *checker, const char *why)
{
    return fail(checker, checker->at,
                checker->at == checker->end ? "the text ends too early" : why);
}

static bool is_escape(char c)
{
    return c != '\0' && strchr("\"\\/bfnrtu", c) != NULL;
}

/* The scanner has refused the string that starts behind this quote. */
static bool explain_string(struct checker *checker, const char *at)
{
    const char *quote = at - 1;
    for (; at < checker->end && *at != '"' && *at != '\n'; at++) {
        if ((unsigned char)*at < 0x20)
            return fail(checker, at, "a string holds a control character");
        if (*at == '\\' && checker->end - at > 1 && !is_escape(*++at))
            return fail(checker, at,
                        "a string holds an escape that JSON does not know; a "
                        "backslash is written twice");
    }
    return fail(checker, quote,
                at < checker->end && *at == '"'
                    ? "a string holds a \\u without its four hexadecimal digits"
                    : "a string is not closed on its line");
}

static bool check_string(struct checker *checker)
{
    const char *behind = mp_scan_string(checker->at + 1, checker->end);
    if (behind == NULL)
        return explain_string(checker, checker->at + 1);
    checker->at = behind;
    return true;
}

static bool check_scalar(struct checker *checker)
{
    if (checker->at < checker->end && *checker->at == '"')
        return check_string(checker);
    const char *behind = mp_scan_value(checker->at, checker->end, 0);
    if (behind == NULL)
        return fail_at_end_or(checker, "a value is expected here");
    checker->at = behind;
    return true;
}

static bool check_key(struct checker *checker)
{
    if (checker->at == checker->end || *checker->at != '"')
        return fail_at_end_or(checker, "a key in double quotes is expected here");
    if (!check_string(checker))
        return false;
    checker->at = mp_scan_space(checker->at, checker->end);
    if (checker->at == checker->end || *checker->at != ':')
        return fail_at_end_or(checker, "a colon is expected here");
    checker->at = mp_scan_space(checker->at + 1, checker->end);
    return true;
}

static char innermost(const struct checker *checker)
{
    return checker->closers[checker->depth - 1];
}

/* From behind a value to the next one. */
static bool check_after(struct checker *checker)
{
    while (checker->depth > 0) {
        checker->at = mp_scan_space(checker->at, checker->end);
        char next = checker->at < checker->end ? *checker->at : '\0';
        if (next != ',' && next != innermost(checker))
            return fail_at_end_or(checker, innermost(checker) == '}'
                                               ? "a comma or } is expected here"
                                               : "a comma or ] is expected here");
        checker->at++;
        if (next == ',') {
            checker->at = mp_scan_space(checker->at, checker->end);
            return true;
        }
        checker->depth--;
    }
    return true;
}

/* Enters what opens here. *ret_empty: it closes at once. */
static bool check_open(struct checker *checker, bool *ret_empty)
{
    if (checker->depth == MP_JSON_MAX_DEPTH)
        return fail(checker, checker->at, "nested more than 128 levels deep");
    checker->closers[checker->depth++] = *checker->at == '{' ? '}' : ']';
    checker->at = mp_scan_space(checker->at + 1, checker->end);
    *ret_empty = checker->at < checker->end && *checker->at == innermost(checker);
    return true;
}
_Static_assert(MP_JSON_MAX_DEPTH == 128, "the phrase above names it");

static bool check_value(struct checker *checker)
{
    do {
        bool complete = true,
             opens = checker->at < checker->end && (*checker->at == '{' || *checker->at == '[');
        if (opens ? !check_open(checker, &complete) : !check_scalar(checker))
            return false;
        if (complete && !check_after(checker))
            return false;
        if (checker->depth > 0 && innermost(checker) == '}' && !check_key(checker))
            return false;
    } while (checker->depth > 0);
    return true;
}

static bool check_utf8(struct checker *checker)
{
    for (const char *at = checker->at; at < checker->end;) {
        size_t size = mp_text_utf8_size(at, (size_t)(checker->end - at));
        if (size == 0)
            return fail(checker, at, "the text is not UTF-8");
        at += size;
    }
    return true;
}

bool mp_json_check(char *text, size_t size, struct mp_json_fault *ret_fault)
{
    struct checker checker = {.at = text, .end = text + size, .depth = 0, .fault = ret_fault};
    if (!check_utf8(&checker))
        return false;
    if (size >= 3 && memcmp(text, BYTE_ORDER_MARK, 3) == 0)
        memset(text, ' ', 3);
    const char *open_comment = mp_relax(text, size);
    if (open_comment != NULL)
        return fail(&checker, open_comment, "a comment has no end");
    checker.at = mp_scan_space(checker.at, checker.end);
    if (!check_value(&checker))
        return false;
    checker.at = mp_scan_space(checker.at, checker.end);
    return checker.at == checker.end ||
           fail(&checker, checker.at, "the text goes on behind its end");
}

/* -- the walk */

struct mp_span mp_json_root(const char *text, size_t size)
{
    const char *end = text + size, *at = mp_scan_space(text, end);
    return (struct mp_span){at, (size_t)(mp_scan_value(at, end, MP_JSON_MAX_DEPTH) - at)};
}

void mp_json_enter(struct mp_json_walk *walk, struct mp_span value)
{
    walk->in_object = *value.bytes == '{';
    walk->at = value.bytes; /* at what stands in front of a member: the bracket, then a comma */
    walk->end = value.bytes + value.size;
}

bool mp_json_next(struct mp_json_walk *walk, struct mp_span *ret_key, struct mp_span *ret_value)
{
    if (*walk->at == '}' || *walk->at == ']')
        return false;
    const char *at = mp_scan_space(walk->at + 1, walk->end), *key = at;
    *ret_key = (struct mp_span){NULL, 0};
    if (*at == '}' || *at == ']')
        return false;
    if (walk->in_object) {
        size_t size;
        at = mp_scan_key(at, walk->end, &size);
        *ret_key = (struct mp_span){key, size + 2};
    }
    const char *behind = mp_scan_value(at, walk->end, MP_JSON_MAX_DEPTH);
    *ret_value = (struct mp_span){at, (size_t)(behind - at)};
    walk->at = mp_scan_space(behind, walk->end);
    return true;
}

/* -- values */

char mp_json_type(struct mp_span value)
{
    return strchr("{[\"tfn", *value.bytes) != NULL ? *value.bytes : '0';
}

const char *mp_json_type_name(struct mp_span value)
{
    switch (mp_json_type(value)) {
    case '{':
        return "an object";
    case '[':
        return "an array";
    case '"':
        return "a string";
    case 't':
    case 'f':
        return "true or false";
    case 'n':
        return "null";
    default:
        return "a number";
    }
}

bool mp_json_is(struct mp_span string, const char *text)
{
    size_t size = strlen(text);
    return string.size == size + 2 && memcmp(string.bytes + 1, text, size) == 0;
}

static unsigned hex4(const char *at)
{
    unsigned value = 0;
    for (unsigned i = 0; i < 4; i++)
        value = value * 16 + (unsigned)(at[i] <= '9' ? at[i] - '0' : (at[i] | 0x20) - 'a' + 10);
    return value;
}

/* The code point of the \u escape at the backslash; 0: half a pair of surrogates. */
static unsigned decode_unicode(const char *at, const char *end, size_t *ret_size)
{
    unsigned unit = hex4(at + 2);
    *ret_size = 6;
    if (unit < 0xD800 || unit > 0xDFFF)
        return unit;
    bool is_pair = unit < 0xDC00 && end - at >= 12 && at[6] == '\\' && at[7] == 'u';
    unsigned low = is_pair ? hex4(at + 8) : 0;
    if (low < 0xDC00 || low > 0xDFFF)
        return 0;
    *ret_size = 12;
    return 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
}

static size_t encode_utf8(unsigned point, char out[4])
{
    size_t size = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const unsigned char leads[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = size; i > 1; i--, point >>= 6)
        out[i - 1] = (char)(0x80 | (point & 0x3F));
    out[0] = (char)(leads[size] | point);
    return size;
}

/* One character, or one plain byte; *ret_step is how far it reaches. */
static const char *decode(const char *at, const char *end, size_t *ret_step, char out[4],
                          size_t *ret_size)
{
    static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t";
    *ret_step = *ret_size = 1;
    out[0] = *at;
    if (*at != '\\')
        return NULL;
    *ret_step = 2;
    if (at[1] != 'u') {
        const char *letter = strchr(letters, at[1]);
        out[0] = letter != NULL ? meanings[letter - letters] : at[1];
        return NULL;
    }
    unsigned point = decode_unicode(at, end, ret_step);
    if (point == 0)
        return hex4(at + 2) == 0 ? "holds a NUL character" : "holds half a pair of surrogates";
    *ret_size = encode_utf8(point, out);
    return NULL;
}

const char *mp_json_text(struct mp_span string, char *out, size_t capacity)
{
    const char *at = string.bytes + 1, *end = string.bytes + string.size - 1;
    size_t length = 0;
    while (at < end) {
        char piece[4];
        size_t step, size;
        const char *why = decode(at, end, &step, piece, &size);
        if (why == NULL && length + size >= capacity)
            why = "is too long";
        if (why != NULL) {
            out[length] = '\0';
            return why;
        }
        memcpy(out + length, piece, size);
        length += size;
        at += step;
    }
    out[length] = '\0';
    return NULL;
}

/* Zero is no id, in whatever spelling. */
static bool is_zero(struct mp_span number)
{
    for (size_t i = 0; i < number.size && (number.bytes[i] | 0x20) != 'e'; i++) {
        if (number.bytes[i] >= '1' && number.bytes[i] <= '9')
            return false;
    }
    return true;
}

bool mp_json_number(struct mp_span number, int64_t *ret_value)
{
    bool is_negative = *number.bytes == '-';
    struct mp_span digits = {number.bytes + is_negative, number.size - is_negative};
    uint64_t value = 0; /* ids are whole numbers, read exactly, up to the same one */
    _Static_assert(MP_MESSAGE_ID_MAX == MP_JSON_MOST, "numbers are read as ids");
    if (!is_zero(digits) && !mp_message_id_parse(digits, &value))
        return false;
    *ret_value = is_negative ? -(int64_t)value : (int64_t)value;
    return true;
}
