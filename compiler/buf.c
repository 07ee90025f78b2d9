/* buf.c: growing text, and the three ways of writing a text inside another language.
 *
 * A Buf that is all zero is empty and ready. Everything printed by the compiler, C and JSON alike,
 * is written through this file.
 */
#include "tensorc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_free(Buf *buf) {
  free(buf->text);
  *buf = (Buf){0};
}

/* Room for `length` more bytes and the NUL. */
static void reserve(Buf *buf, size_t length) {
  if (length < buf->capacity - buf->length && buf->text != NULL)
    return;
  size_t capacity = buf->capacity < 128 ? 256 : buf->capacity * 2;
  if (capacity - buf->length <= length)
    capacity = buf->length + length + 1;
  char *text = realloc(buf->text, capacity);
  if (text == NULL || capacity < length) {
    fprintf(stderr, "tensorc: out of memory (%zu bytes)\n", capacity);
    abort();
  }
  buf->text = text;
  buf->capacity = capacity;
}

void buf_add_bytes(Buf *buf, const char *text, size_t length) {
  reserve(buf, length);
  if (length > 0)
    memcpy(buf->text + buf->length, text, length);
  buf->length += length;
  buf->text[buf->length] = '\0';
}

void buf_add_identifier(Buf *buf, const char *name) {
  for (const unsigned char *at = (const unsigned char *)name; *at; at++) {
    bool plain = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') ||
                 (*at >= '0' && *at <= '9') || *at == '_';
    if (plain)
      buf_add_bytes(buf, (const char *)at, 1);
    else
      buf_addf(buf, "_%02x", *at);
  }
}

void buf_add(Buf *buf, const char *text) { buf_add_bytes(buf, text, strlen(text)); }

void buf_addv(Buf *buf, const char *format, va_list args) {
  reserve(buf, 64);
  for (;;) {
    size_t room = buf->capacity - buf->length;
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(buf->text + buf->length, room, format, again);
    va_end(again);
    if (length < 0)
      NEVER("a format that printf refuses");
    if ((size_t)length < room) {
      buf->length += (size_t)length;
      return;
    }
    reserve(buf, (size_t)length);
  }
}

void buf_addf(Buf *buf, const char *format, ...) {
  va_list args;
  va_start(args, format);
  buf_addv(buf, format, args);
  va_end(args);
}

void buf_add_double(Buf *buf, double number) {
  char text[40];
  if (isnan(number) || isinf(number)) {
    buf_add(buf, isnan(number) ? "nan" : number < 0 ? "-inf" : "inf");
    return;
  }
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, number);
    if (strtod(text, NULL) == number)
      break;
  }
  /* The locale of the process may write another radix character, even one of several bytes. */
  bool whole = true;
  for (const char *at = text; *at != '\0'; at++) {
    bool digit = (*at >= '0' && *at <= '9') || *at == '-' || *at == '+';
    if (digit || *at == 'e') {
      buf_add_bytes(buf, at, 1);
      whole = whole && digit;
    } else if (whole) {
      buf_add(buf, ".");
      whole = false;
    }
  }
  if (whole)
    buf_add(buf, ".0");
}

void buf_add_c_string(Buf *buf, const char *text, size_t length) {
  buf_add(buf, "\"");
  for (size_t i = 0; i < length; i++) {
    unsigned char byte = (unsigned char)text[i];
    if (byte == '"' || byte == '\\')
      buf_addf(buf, "\\%c", byte);
    else if (byte == '\n')
      buf_add(buf, "\\n");
    else if (byte == '?' && i > 0 && text[i - 1] == '?')
      buf_add(buf, "\\?"); /* two question marks may begin a trigraph */
    else if (byte < 0x20 || byte >= 0x7f)
      buf_addf(buf, "\\%03o", byte); /* three digits end by themselves, \x does not */
    else
      buf_add_bytes(buf, text + i, 1);
  }
  buf_add(buf, "\"");
}

/* The length of the UTF-8 character at `text`, 0 when there is none; `code` is its number. Lone
 * surrogates count as characters: they stand for bytes of a path that are not text. */
static size_t decode_utf8(const char *text, unsigned *code) {
  const unsigned char *at = (const unsigned char *)text;
  if (at[0] < 0x80) {
    *code = at[0];
    return at[0] != 0;
  }
  size_t length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
  if (at[0] < 0xc2 || at[0] > 0xf4)
    return 0;
  unsigned value = at[0] & (0x7fu >> length);
  for (size_t i = 1; i < length; i++) {
    if ((at[i] & 0xc0) != 0x80)
      return 0;
    value = value << 6 | (at[i] & 0x3fu);
  }
  if ((length == 3 && value < 0x800) || (length == 4 && (value < 0x10000 || value > 0x10ffff)))
    return 0;
  *code = value;
  return length;
}

void buf_add_json(Buf *buf, const char *text) {
  if (text == NULL) {
    buf_add(buf, "null");
    return;
  }
  buf_add(buf, "\"");
  while (*text != '\0') {
    unsigned code = 0;
    size_t length = decode_utf8(text, &code);
    if (length == 0) {
      buf_add(buf, "\\ufffd");
      length = 1;
    } else if (code == '"' || code == '\\')
      buf_addf(buf, "\\%c", (int)code);
    else if (code == '\n')
      buf_add(buf, "\\n");
    else if (code < 0x20 || code == 0x7f || (code >= 0xd800 && code < 0xe000))
      buf_addf(buf, "\\u%04x", code);
    else
      buf_add_bytes(buf, text, length);
    text += length;
  }
  buf_add(buf, "\"");
}
