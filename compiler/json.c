/* json.c: JSON as Python's json.dumps(indent=2, sort_keys=True) lays it out.
 *
 * Containers are opened and closed, members added in between; the writer keeps commas, lines and
 * indentation. The caller writes keys in sorted order.
 */
#include "tensorc.h"

#include <stdio.h>

/* Everything before a value: the comma, the new line, the indentation and the key. */
static void begin(Json *json, const char *key) {
  if (json->depth > 0)
    buf_add(json->out, json->empty ? "\n" : ",\n");
  for (int i = 0; i < json->depth; i++)
    buf_add_bytes(json->out, "  ", 2);
  json->empty = false;
  if (key != NULL) {
    buf_add_json(json->out, key);
    buf_add_bytes(json->out, ": ", 2);
  }
}

void json_open(Json *json, const char *key, char bracket) {
  begin(json, key);
  buf_add_bytes(json->out, &bracket, 1);
  json->depth++;
  json->empty = true;
}

void json_close(Json *json, char bracket) {
  json->depth--;
  if (!json->empty) {
    buf_add_bytes(json->out, "\n", 1);
    for (int i = 0; i < json->depth; i++)
      buf_add_bytes(json->out, "  ", 2);
  }
  json->empty = false;
  buf_add_bytes(json->out, &bracket, 1);
}

void json_text(Json *json, const char *key, const char *text) {
  begin(json, key);
  buf_add_json(json->out, text);
}

void json_int(Json *json, const char *key, int number) {
  char text[16];
  int length = snprintf(text, sizeof text, "%d", number);
  begin(json, key);
  buf_add_bytes(json->out, text, (size_t)length);
}

void json_bool(Json *json, const char *key, bool value) {
  begin(json, key);
  buf_add(json->out, value ? "true" : "false");
}

void json_list(Json *json, const char *key) {
  json_open(json, key, '[');
  json_close(json, ']');
}
