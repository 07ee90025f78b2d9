/* classes.h: the classes of operations (classes.def) as numbers. */
#ifndef TC_CLASSES_H
#define TC_CLASSES_H

typedef enum {
#define CLASS(id, ...) TC_##id,
#include "classes.def"
  TC_N_CLASSES
} TcClass;

#endif
