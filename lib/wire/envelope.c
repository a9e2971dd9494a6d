/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over a message. It walks the members of the message itself, of params and of
 * params._meta, and notes where those stand that anybody asks for; every other value is only
 * validated.
 */
#include "wire/envelope.h"

#include <string.h>

#include "wire/scan.h"

/* The objects whose members are walked, each within the one before. */
enum level { MESSAGE, PARAMS, META, LEVELS };

enum member {
    JSONRPC,
    ID,
    METHOD,
    PARAMS_VALUE,
    RESULT,
    ERROR,
    META_VALUE,
    PARAMS_TOKEN,
    META_TOKEN,
    SPANS, /* of those above is noted where they stand; below, whether, as enum mp_meta_key */
    PROTOCOL_VERSION = SPANS,
    CLIENT_INFO,
    CLIENT_CAPABILITIES,
    LOG_LEVEL,
    TRACEPARENT,
    TRACESTATE,
    BAGGAGE,
    MEMBERS,
    OTHER,  /* a member that nobody asks for */
    NOTHING /* no member at all */
};

#define NAME(text)                                                                                 \
    {                                                                                              \
        sizeof(text) - 1, text                                                                     \
    }

static const struct {
    size_t size;
    const char *text;
} names[MEMBERS] = {
    [JSONRPC] = NAME("jsonrpc"),
    [ID] = NAME("id"),
    [METHOD] = NAME("method"),
    [PARAMS_VALUE] = NAME("params"),
    [RESULT] = NAME("result"),
    [ERROR] = NAME("error"),
    [META_VALUE] = NAME("_meta"),
    [PARAMS_TOKEN] = NAME("progressToken"),
    [META_TOKEN] = NAME("progressToken"),
    [PROTOCOL_VERSION] = NAME("io.modelcontextprotocol/protocolVersion"),
    [CLIENT_INFO] = NAME("io.modelcontextprotocol/clientInfo"),
    [CLIENT_CAPABILITIES] = NAME("io.modelcontextprotocol/clientCapabilities"),
    [LOG_LEVEL] = NAME("io.modelcontextprotocol/logLevel"),
    [TRACEPARENT] = NAME("traceparent"),
    [TRACESTATE] = NAME("tracestate"),
    [BAGGAGE] = NAME("baggage"),
};

/* Where the names of each level begin; those of the last end at MEMBERS. */
static const enum member first_name[LEVELS + 1] = {JSONRPC, META_VALUE, META_TOKEN, MEMBERS};

/* The member of a level whose object is the next level. */
static const enum member inner[LEVELS] = {PARAMS_VALUE, META_VALUE, NOTHING};

static const char not_json[] = "not valid JSON, or nested more than 128 levels deep";
_Static_assert(MP_JSON_MAX_DEPTH == 128, "the phrase above names it");

static int hex_digit(char c)
{
    if (c <= '9')
        return c - '0';
    return (c | 0x20) - 'a' + 10;
}

/* The character that the escape at the backslash stands for, of ASCII only: else -1. */
static int decode_escape(const char *at, size_t *ret_size)
{
    static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t";
    *ret_size = at[1] == 'u' ? 6 : 2;
    if (at[1] == 'u') {
        int high = hex_digit(at[2]) * 16 + hex_digit(at[3]);
        int low = hex_digit(at[4]) * 16 + hex_digit(at[5]);
        return high == 0 && low < 0x80 ? low : -1;
    }
    const char *letter = strchr(letters, at[1]);
    return letter != NULL ? meanings[letter - letters] : at[1];
}

static bool is_escaped(struct mp_span raw)
{
    return memchr(raw.bytes, '\\', raw.size) != NULL;
}

/* Whether a valid string, given without its quotes, decodes to this ASCII text. */
static bool decodes_to(struct mp_span raw, const char *text, size_t size)
{
    const char *at = raw.bytes, *end = raw.bytes + raw.size;
    for (size_t i = 0; i < size; i++) {
        size_t step = 1;
        if (at == end || (*at == '\\' ? decode_escape(at, &step) : *at) != text[i])
            return false;
        at += step;
    }
    return at == end;
}

static bool string_is(struct mp_span raw, const char *text, size_t size)
{
    if (raw.size <= size || !is_escaped(raw))
        return raw.size == size && memcmp(raw.bytes, text, size) == 0;
    return decodes_to(raw, text, size);
}

static struct mp_span without_quotes(struct mp_span string)
{
    return (struct mp_span){string.bytes + 1, string.size - 2};
}

static enum member find_member(unsigned level, struct mp_span key)
{
    bool escaped = is_escaped(key);
    for (unsigned i = first_name[level]; i < first_name[level + 1]; i++) {
        if (escaped ? decodes_to(key, names[i].text, names[i].size)
                    : key.size == names[i].size && memcmp(key.bytes, names[i].text, key.size) == 0)
            return (enum member)i;
    }
    return OTHER;
}

/* The value of the next member, from behind the `{` or the member before; or behind the `}`, with
 * no key. NULL: not valid. */
static const char *next_member(const char *at, const char *end, bool first, struct mp_span *ret_key)
{
    *ret_key = (struct mp_span){NULL, 0};
    at = mp_scan_space(at, end);
    if (at < end && *at == '}')
        return at + 1;
    if (!first) {
        if (at == end || *at != ',')
            return NULL;
        at = mp_scan_space(at + 1, end);
    }
    size_t size;
    const char *value = mp_scan_key(at, end, &size);
    if (value != NULL)
        *ret_key = (struct mp_span){at + 1, size};
    return value;
}

/* From behind the `{` of the message to behind its `}`, or NULL. `level` says in which of the
 * walked objects `at` is; found[inner[level]] is the one that is entered next. *ret_seen gets a bit
 * for each enum member that stands there. */
static const char *read_members(const char *at, const char *end, struct mp_span found[SPANS],
                                unsigned *ret_seen, const char **ret_why)
{
    unsigned level = MESSAGE, seen = 0;
    bool first = true;
    for (;;) {
        struct mp_span key;
        at = next_member(at, end, first, &key);
        if (at == NULL || (key.bytes == NULL && level == MESSAGE)) {
            *ret_seen = seen;
            return at;
        }
        if (key.bytes == NULL) {
            struct mp_span *left = &found[inner[--level]];
            left->size = (size_t)(at - left->bytes);
            first = false;
            continue;
        }
        enum member member = find_member(level, key);
        unsigned bit = member != OTHER ? 1u << member : 0;
        if ((seen & bit) != 0) {
            *ret_why = "a member stands twice";
            return NULL;
        }
        seen |= bit;
        const char *value = at;
        first = member == inner[level] && at < end && *at == '{';
        at = first ? at + 1 : mp_scan_value(at, end, MP_JSON_MAX_DEPTH - 1 - level);
        if (at == NULL)
            return NULL;
        if (member < SPANS)
            found[member] = (struct mp_span){value, (size_t)(at - value)};
        level += first;
    }
}

/* The first byte of a valid value tells its type. */
static char type_of(struct mp_span value)
{
    return value.bytes != NULL ? *value.bytes : '\0';
}

static bool is_string_or_number(struct mp_span value)
{
    char type = type_of(value);
    return type == '"' || type == '-' || (type >= '0' && type <= '9');
}

static const char *fault_of_call(const struct mp_span found[SPANS])
{
    char params = type_of(found[PARAMS_VALUE]);
    if (type_of(found[METHOD]) != '"')
        return "the method is not a string";
    if (found[METHOD].size == 2)
        return "the method is empty";
    /* As with a member that stands twice: one reader would answer it, another take it for an
     * answer. */
    if (found[RESULT].bytes != NULL || found[ERROR].bytes != NULL)
        return "a method and a result or error in one message";
    /* Null is not allowed, but common, and can mean one thing only. */
    if (params != '\0' && params != '{' && params != '[' && params != 'n')
        return "the params are neither an object nor an array";
    return NULL;
}

static const char *fault_of_reply(const struct mp_span found[SPANS])
{
    char result = type_of(found[RESULT]), error = type_of(found[ERROR]);
    if (result == '\0' && error == '\0')
        return "neither a method nor a result nor an error";
    if (result != '\0' && error != '\0')
        return "both a result and an error";
    if (error != '\0' && error != '{')
        return "the error is not an object";
    if (result != '\0' && !is_string_or_number(found[ID]))
        return "a result without an id";
    return NULL;
}

static const char *fault_of_message(const struct mp_span found[SPANS])
{
    static const char version[] = "2.0";
    struct mp_span jsonrpc = found[JSONRPC], id = found[ID];
    if (type_of(jsonrpc) != '"' ||
        !string_is(without_quotes(jsonrpc), version, sizeof(version) - 1))
        return "jsonrpc is not \"2.0\"";
    if (id.bytes != NULL && type_of(id) != 'n' && !is_string_or_number(id))
        return "the id is neither a string nor a number";
    return found[METHOD].bytes != NULL ? fault_of_call(found) : fault_of_reply(found);
}

static enum mp_kind kind_of(const struct mp_span found[SPANS])
{
    if (found[METHOD].bytes != NULL)
        return is_string_or_number(found[ID]) ? MP_KIND_REQUEST : MP_KIND_NOTIFICATION;
    return found[RESULT].bytes != NULL ? MP_KIND_RESULT : MP_KIND_ERROR;
}

static void fill_in(const struct mp_span found[SPANS], unsigned seen, struct mp_envelope *envelope)
{
    envelope->kind = kind_of(found);
    if (is_string_or_number(found[ID]))
        envelope->id = found[ID];
    if (found[METHOD].bytes != NULL)
        envelope->method = without_quotes(found[METHOD]);
    envelope->params = found[PARAMS_VALUE];
    envelope->value = found[found[RESULT].bytes != NULL ? RESULT : ERROR];
    envelope->meta = found[META_VALUE];
    envelope->meta_keys = seen >> SPANS;
    enum member token = envelope->kind == MP_KIND_REQUEST ? META_TOKEN : PARAMS_TOKEN;
    if (is_string_or_number(found[token]))
        envelope->progress_token = found[token];
}

/* Some libraries write both members of a reply, one of them null. */
static void drop_null_beside(struct mp_span found[SPANS])
{
    const struct mp_span absent = {NULL, 0};
    if (found[RESULT].bytes != NULL && type_of(found[ERROR]) == 'n')
        found[ERROR] = absent;
    else if (type_of(found[ERROR]) == '{' && type_of(found[RESULT]) == 'n')
        found[RESULT] = absent;
}

static const char *scan_message(const char *at, const char *end, struct mp_envelope *envelope)
{
    struct mp_span found[SPANS] = {{NULL, 0}};
    const char *why = not_json;
    unsigned seen;
    at = read_members(at + 1, end, found, &seen, &why);
    if (at == NULL)
        return why;
    if (mp_scan_space(at, end) != end)
        return "something follows the JSON object";
    if (found[METHOD].bytes == NULL)
        drop_null_beside(found);
    why = fault_of_message(found);
    if (why == NULL)
        fill_in(found, seen, envelope);
    return why;
}

static const char *scan_batch(const char *at, const char *end, struct mp_envelope *envelope)
{
    const char *behind = mp_scan_value(at, end, MP_JSON_MAX_DEPTH);
    if (behind == NULL)
        return not_json;
    if (mp_scan_space(behind, end) != end)
        return "something follows the JSON array";
    if (*mp_scan_space(at + 1, end) == ']')
        return "an empty batch";
    envelope->kind = MP_KIND_BATCH;
    return NULL;
}

void mp_envelope_scan(struct mp_span line, struct mp_envelope *ret_envelope)
{
    const char *end = line.bytes + line.size;
    const char *at = mp_scan_space(line.bytes, end);
    *ret_envelope = (struct mp_envelope){.kind = MP_KIND_JUNK};
    if (at < end && *at == '{')
        ret_envelope->why = scan_message(at, end, ret_envelope);
    else if (at < end && *at == '[')
        ret_envelope->why = scan_batch(at, end, ret_envelope);
    else
        ret_envelope->why = "not a JSON object";
}

bool mp_batch_next(struct mp_span line, const char **at, struct mp_span *ret_element)
{
    const char *end = line.bytes + line.size;
    const char *separator = mp_scan_space(*at != NULL ? *at : line.bytes, end);
    if (separator == end || *separator != (*at != NULL ? ',' : '['))
        return false;
    const char *element = mp_scan_space(separator + 1, end);
    const char *behind = mp_scan_value(element, end, MP_JSON_MAX_DEPTH - 1);
    if (behind == NULL)
        return false;
    *ret_element = (struct mp_span){element, (size_t)(behind - element)};
    *at = behind;
    return true;
}

bool mp_envelope_is_method(const struct mp_envelope *envelope, const char *method)
{
    return envelope->method.bytes != NULL && string_is(envelope->method, method, strlen(method));
}
