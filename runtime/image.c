/* image.c: the loaded images of a framework, and symbols in them.
 *
 * Nothing is linked against a framework and no path is built in, so one extension works with every
 * wheel that still exports what torch_syms.def or tf_syms.def names. Loads nothing.
 */

/* What a symbol of those files is, if it is missing. */
enum { OPTIONAL, REQUIRED };

typedef struct Image {
  const char *soname;
  void *handle;     /* of dlopen; never closed */
  const char *path; /* as the dynamic linker knows it: owned by the linker */
} Image;

/* Never loads an image that is not loaded yet. */
static bool image_open(Image *image, const char *path) {
  struct link_map *map = NULL;
  image->handle = dlopen(path, RTLD_NOLOAD | RTLD_NOW | RTLD_LOCAL);
  if (!image->handle || dlinfo(image->handle, RTLD_DI_LINKMAP, &map) != 0)
    return false;
  image->path = map->l_name;
  return true;
}

/* By its name, else in lib: the folder of the wheel's images. */
static bool image_find(Image *image, const char *lib) {
  char path[4096];
  return image_open(image, image->soname) ||
         (lib && snprintf(path, sizeof path, "%s/%s", lib, image->soname) < (int)sizeof path &&
          image_open(image, path));
}

/* NULL unless the image itself defines the symbol: another library's function of that name is not
 * ours to call. */
static void *image_symbol(const Image *image, const char *symbol) {
  Dl_info owner;
  void *address = dlsym(image->handle, symbol);
  if (!address || !dladdr(address, &owner) || !owner.dli_fname ||
      strcmp(owner.dli_fname, image->path) != 0)
    return NULL;
  return address;
}

/* A function of such a table, into its field. missing: the first required one that is not there. */
static void image_field(const Image *image, const char *symbol, int need, void *field,
                        const char **missing) {
  void *address = image_symbol(image, symbol);
  if (!address && need == REQUIRED && !*missing)
    *missing = symbol;
  memcpy(field, &address, sizeof address);
}

/* The exception that is set, as text; clears it. */
static void take_exception(const char *framework, char *problem, size_t problem_size) {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  PyObject *text = value ? PyObject_Str(value) : NULL;
  const char *utf8 = text ? PyUnicode_AsUTF8(text) : NULL;
  snprintf(problem, problem_size, "%s can't be used: %s", framework, utf8 ? utf8 : "unknown error");
  PyErr_Clear();
  Py_XDECREF(text);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
}
