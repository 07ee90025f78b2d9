/* verdict.c: what recipes were found to be on this host, kept from one process to the next.
 *
 * Reads and appends to one small text file per lane in the user's cache, one line per recipe and
 * thread count:
 *
 *   relu 2 1
 *   linear 1 1 amd 192 0 2147483647 1 fffffffffffffff0 fffffffffffffff0 fffffffffffff000 …
 *
 * The second one is of a product that goes by a law: the members of TcLaw.
 *
 * The file's name is a digest of everything that a verdict depends on: this runtime, the wheel, the
 * CPU, the instruction set and the variables that choose kernels. Anything else is another file.
 * Without a cache folder, or where it can't be written, recipes are simply examined in each
 * process. Runs under the GIL.
 */

/* Of the text and flags that the recipes were compiled from; set by the build. */
#ifndef TC_RUNTIME_KEY
#define TC_RUNTIME_KEY ""
#endif

typedef struct VerdictFile {
  bool known;     /* the path was looked for */
  char path[512]; /* "" when there is nothing to keep verdicts in */
} VerdictFile;

static uint64_t digest_add(uint64_t digest, const void *bytes, size_t n) { /* FNV-1a */
  for (size_t i = 0; i < n; i++)
    digest = (digest ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
  return digest;
}

static uint64_t digest_text(uint64_t digest, const char *text) {
  return digest_add(digest, text ? text : "", strlen(text ? text : "") + 1);
}

/* Family, model, stepping and features of the CPU. */
static uint64_t digest_cpu(uint64_t digest) {
#ifdef __x86_64__
  unsigned a, b, c, d;
  for (unsigned leaf = 0; leaf <= 7; leaf += leaf == 1 ? 6 : 1) {
    if (!__get_cpuid_count(leaf, 0, &a, &b, &c, &d))
      continue;
    unsigned words[4] = {a, leaf == 1 ? 0 : b, c, d}; /* leaf 1, ebx: the core that this runs on */
    digest = digest_add(digest, words, sizeof words);
  }
#endif
  struct utsname host;
  return uname(&host) == 0 ? digest_text(digest, host.machine) : digest;
}

/* The image of the wheel that holds the kernels: another build has another size or time. */
static uint64_t digest_file(uint64_t digest, const char *path) {
  struct stat found;
  if (!path || stat(path, &found) != 0)
    return digest;
  int64_t numbers[3] = {(int64_t)found.st_size, (int64_t)found.st_mtim.tv_sec,
                        (int64_t)found.st_mtim.tv_nsec};
  return digest_add(digest_text(digest, path), numbers, sizeof numbers);
}

/* Looks the file up, and makes its folder. image: of the wheel's kernels. */
static void verdict_file_find(VerdictFile *file, const char *lane, const char *image, int isa) {
  static const char *const variables[] = {"ATEN_CPU_CAPABILITY",
                                          "MKL_ENABLE_INSTRUCTIONS",
                                          "MKL_CBWR",
                                          "ONEDNN_MAX_CPU_ISA",
                                          "DNNL_MAX_CPU_ISA",
                                          "TF_ENABLE_ONEDNN_OPTS",
                                          "TENSORFLOW_USE_CUSTOM_CONTRACTION_KERNEL"};
  file->known = true;
  file->path[0] = 0;
  const char *chosen = getenv("TENSORC_CACHE_DIR"), *base = getenv("XDG_CACHE_HOME"),
             *home = getenv("HOME");
  char folder[400];
  int n = chosen && *chosen ? snprintf(folder, sizeof folder, "%s", chosen)
          : base && *base   ? snprintf(folder, sizeof folder, "%s/tensorc", base)
          : home && *home   ? snprintf(folder, sizeof folder, "%s/.cache/tensorc", home)
                            : -1;
  if (n < 0 || n >= (int)sizeof folder || folder[0] != '/' || !*TC_RUNTIME_KEY)
    return;
  uint64_t digest = digest_text(14695981039346656037u, TC_RUNTIME_KEY);
  digest = digest_file(digest_cpu(digest), image);
  digest = digest_add(digest, &isa, sizeof isa);
  for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
    digest = digest_text(digest, getenv(variables[i]));
  /* Only the last two folders: a home that does not exist is not made. */
  char parent[400];
  snprintf(parent, sizeof parent, "%s", folder);
  char *slash = strrchr(parent, '/');
  if (slash && slash != parent) {
    *slash = 0;
    mkdir(parent, 0700);
  }
  mkdir(folder, 0700);
  snprintf(file->path, sizeof file->path, "%s/admission-%s-%016llx", folder, lane,
           (unsigned long long)digest);
}

/* 1: admitted, 0: not, -1: never examined. *law keeps no name where the line has none. */
static int verdict_read(const VerdictFile *file, const char *recipe, int threads, TcLaw *law) {
  char line[256], name[64];
  int answer = -1;
  FILE *stream = *file->path ? fopen(file->path, "re") : NULL;
  while (stream && fgets(line, sizeof line, stream)) {
    int n, admitted, small;
    TcLaw read = {.name = ""};
    int found = sscanf(
        line, "%63s %d %d %11s %d %d %d %d %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %d",
        name, &n, &admitted, read.name, &read.chain, &read.up, &read.most_k, &read.to_0,
        &read.rows[0], &read.rows[1], &read.cols[0], &read.cols[1], &small);
    if (found < 3 || strcmp(name, recipe) != 0 || n != threads)
      continue;
    if (found < 13)
      read.name[0] = 0;
    read.small = found == 13 && small == 1;
    *law = read;
    answer = admitted == 1;
  }
  if (stream)
    fclose(stream);
  return answer;
}

/* One write of one line: several processes may append at once. */
static void verdict_append(const VerdictFile *file, const char *recipe, int threads, int verdict,
                           const TcLaw *law) {
  char line[256], numbers[192] = "";
  if (*law->name)
    snprintf(numbers, sizeof numbers,
             " %s %d %d %d %d %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %d", law->name,
             law->chain, law->up, law->most_k, law->to_0, law->rows[0], law->rows[1], law->cols[0],
             law->cols[1], law->small);
  int n = snprintf(line, sizeof line, "%s %d %d%s\n", recipe, threads, verdict, numbers);
  int descriptor =
      *file->path ? open(file->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
  if (descriptor < 0)
    return;
  ssize_t written = write(descriptor, line, (size_t)n);
  (void)written; /* a line that did not arrive is examined again */
  close(descriptor);
}
