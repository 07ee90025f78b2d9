/* record.h: what the two files of the report share.
 *
 *   record.c       the report as a whole, modules, findings, the text for people
 *   record_func.c  the entry of one function
 */
#ifndef TENSORC_RECORD_H
#define TENSORC_RECORD_H

#include "tensorc.h"

/* "pkg.mod.Class.method": how reports name a function across modules. */
const char *record_qualname(Arena *scratch, const Unit *unit, const Func *func);

/* Findings of a function as `diagnostics` has them: an error for each reason of a rejection, an
 * info for a note. What keeps a function from being a candidate is in its promotion_assessment
 * only. */
void record_diags(Json *json, Arena *scratch, const Unit *unit, const Func *func);

/* "exact" or "library". */
const char *record_body(const Func *func);

void record_func(Json *json, Arena *scratch, const Unit *unit, const Func *func);

/* Sorts texts and takes repeated ones out; returns how many are left. */
int record_sort(const char **texts, int n);

#endif
