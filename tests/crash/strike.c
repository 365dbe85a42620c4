/* Preloaded into a worker, its hosts and its gits: ends whoever makes the Nth call of a class.
 *
 * All of them count on one board, a file that they map. At the Nth call the caller is killed before the
 * call is made, and with an even N the worker too. Programs in the ring are left alone: neither the guard
 * that puts the ring up nor what runs in it is given the library.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SYNC, RENAME, UNLINK, CLASSES };

struct board {
    _Atomic uint64_t counts[CLASSES];
    uint64_t at[CLASSES]; /* 0: never */
    int32_t worker;
    int32_t victim;
    char words[2000]; /* the victim's command line */
};

static const char *const NAMED = "ASBUILT_CRASH_BOARD";
static struct board *board;

static struct board *the_board(void) {
    if (board)
        return board;
    const char *path = getenv(NAMED);
    if (!path || !*path)
        return NULL;
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return NULL;
    void *mapped = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped != MAP_FAILED)
        board = mapped;
    return board;
}

static void passes(int class) {
    int before = errno;
    struct board *here = the_board();
    if (here) {
        uint64_t number = atomic_fetch_add(&here->counts[class], 1) + 1;
        if (number == here->at[class]) {
            here->victim = getpid();
            int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
            ssize_t length = read(file, here->words, sizeof here->words - 1);
            for (ssize_t i = 0; i + 1 < length; i++)
                if (!here->words[i])
                    here->words[i] = ' ';
            if (number % 2 == 0 && here->worker > 0)
                kill(here->worker, SIGKILL);
            kill(getpid(), SIGKILL);
            for (;;)
                pause();
        }
    }
    errno = before;
}

#define REAL(type, name, ...)                                                                                \
    static type (*real)(__VA_ARGS__);                                                                        \
    if (!real)                                                                                               \
        real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

int fsync(int file) {
    REAL(int, "fsync", int);
    passes(SYNC);
    return real(file);
}

int fdatasync(int file) {
    REAL(int, "fdatasync", int);
    passes(SYNC);
    return real(file);
}

int rename(const char *from, const char *to) {
    REAL(int, "rename", const char *, const char *);
    passes(RENAME);
    return real(from, to);
}

int renameat(int a, const char *from, int b, const char *to) {
    REAL(int, "renameat", int, const char *, int, const char *);
    passes(RENAME);
    return real(a, from, b, to);
}

int renameat2(int a, const char *from, int b, const char *to, unsigned int flags) {
    REAL(int, "renameat2", int, const char *, int, const char *, unsigned int);
    passes(RENAME);
    return real(a, from, b, to, flags);
}

int unlink(const char *path) {
    REAL(int, "unlink", const char *);
    passes(UNLINK);
    return real(path);
}

int unlinkat(int folder, const char *path, int flags) {
    REAL(int, "unlinkat", int, const char *, int);
    passes(UNLINK);
    return real(folder, path, flags);
}

/* A cleaned environment is handed on with the two names in it; on the stack, since this may be a vfork. */
int execve(const char *path, char *const argv[], char *const envp[]) {
    REAL(int, "execve", const char *, char *const[], char *const[]);
    const char *library = getenv("LD_PRELOAD"), *named = getenv(NAMED);
    int is_guard = 0;
    size_t count = 0;
    for (size_t i = 0; argv[i]; i++) {
        size_t length = strlen(argv[i]);
        is_guard |= length >= 9 && !strcmp(argv[i] + length - 9, "/guard.py");
    }
    while (envp && envp[count])
        count++;
    if (!library || !named || !*named || is_guard)
        return real(path, argv, envp);
    char first[4096], second[4096];
    char *extended[count + 3];
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (strncmp(envp[i], "LD_PRELOAD=", 11) && strncmp(envp[i], "ASBUILT_CRASH_BOARD=", 20))
            extended[kept++] = envp[i];
    snprintf(first, sizeof first, "LD_PRELOAD=%s", library);
    snprintf(second, sizeof second, "%s=%s", NAMED, named);
    extended[kept++] = first;
    extended[kept++] = second;
    extended[kept] = NULL;
    return real(path, argv, extended);
}
