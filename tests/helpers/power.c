/* Stands in for a disk that loses, when the power goes, all that was not synced: LD_PRELOAD.

   For files in the folder $DISK a sync puts what is on the platters into the folder $PLATTERS: a file's content under its inode number, a
   folder's names, each with an inode number, into "names". The power goes right before the process writes what begins with $POWER_CUT, to
   a socket or a pipe; it goes on, but no sync counts from then on, and the platters have a file "cut". If $DISK_LIES, none ever does. While the
   file $DISK_FULL is there, nothing can be written with pwrite, as SQLite writes, to files in $DISK.

   $KILLED_AT is the number of the step before which the process is killed. Each pwrite, sync and removal in $DISK is a step, and so is the write
   that begins with $POWER_CUT. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static int is_cut;

static void step(void)
{
    static atomic_int steps;
    const char *killed = getenv("KILLED_AT");
    if (killed && atomic_fetch_add(&steps, 1) == atoi(killed))
        kill(getpid(), SIGKILL);
}

/* The path of an open file in $DISK, or of $DISK itself. */
static const char *on_disk(int file, char *path, size_t size)
{
    const char *disk = getenv("DISK");
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, size - 1);
    if (!disk || length < 0)
        return NULL;
    path[length] = 0;
    size_t prefix = strlen(disk);
    return strncmp(path, disk, prefix) == 0 && (path[prefix] == 0 || path[prefix] == '/') ? path : NULL;
}

static void platters(char *path, size_t size, const char *name)
{
    snprintf(path, size, "%s/%s", getenv("PLATTERS"), name);
}

static void keep(int file, const char *path)
{
    char name[32], target[4096], made[4096];
    struct stat found;
    FILE *out;
    if (fstat(file, &found) != 0)
        return;
    if (S_ISDIR(found.st_mode))
        strcpy(name, "names");
    else
        snprintf(name, sizeof name, "%lu", (unsigned long)found.st_ino);
    platters(made, sizeof made, "new");
    if (!(out = fopen(made, "w")))
        abort();
    if (S_ISDIR(found.st_mode)) {
        DIR *folder = opendir(path);
        for (struct dirent *entry; folder && (entry = readdir(folder));)
            if (entry->d_type == DT_REG)
                fprintf(out, "%lu %s\n", (unsigned long)entry->d_ino, entry->d_name);
        if (folder)
            closedir(folder);
    } else {
        char piece[4096];
        ssize_t read;
        for (off_t at = 0; (read = pread(file, piece, sizeof piece, at)) > 0; at += read)
            fwrite(piece, 1, read, out);
    }
    fclose(out);
    platters(target, sizeof target, name);
    rename(made, target);
}

static int synced(int file, const char *call)
{
    char path[4096];
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, call);
    if (!on_disk(file, path, sizeof path))
        return real(file);
    step();
    if (getenv("DISK_LIES") || !getenv("PLATTERS"))
        return 0;
    pthread_mutex_lock(&one);
    if (!is_cut)
        keep(file, path);
    pthread_mutex_unlock(&one);
    return 0;
}

static void leaves(const void *data, size_t size)
{
    const char *cut = getenv("POWER_CUT");
    char path[4096];
    if (!cut || is_cut || size < strlen(cut) || memcmp(data, cut, strlen(cut)) != 0)
        return;
    step();
    if (!getenv("PLATTERS"))
        return;
    pthread_mutex_lock(&one);
    is_cut = 1;
    platters(path, sizeof path, "cut");
    close(open(path, O_CREAT | O_WRONLY, 0600));
    pthread_mutex_unlock(&one);
}

ssize_t send(int file, const void *data, size_t size, int flags)
{
    leaves(data, size);
    return ((ssize_t (*)(int, const void *, size_t, int))dlsym(RTLD_NEXT, "send"))(file, data, size, flags);
}

ssize_t write(int file, const void *data, size_t size)
{
    leaves(data, size);
    return ((ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write"))(file, data, size);
}

ssize_t writev(int file, const struct iovec *parts, int count)
{
    if (count > 0)
        leaves(parts->iov_base, parts->iov_len);
    return ((ssize_t (*)(int, const struct iovec *, int))dlsym(RTLD_NEXT, "writev"))(file, parts, count);
}

int fsync(int file) { return synced(file, "fsync"); }

int fdatasync(int file) { return synced(file, "fdatasync"); }

static ssize_t written(int file, const void *data, size_t size, off_t at, const char *call)
{
    ssize_t (*real)(int, const void *, size_t, off_t) = (ssize_t (*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, call);
    const char *full = getenv("DISK_FULL");
    char path[4096];
    if (on_disk(file, path, sizeof path)) {
        step();
        if (full && access(full, F_OK) == 0) {
            errno = ENOSPC;
            return -1;
        }
    }
    return real(file, data, size, at);
}

ssize_t pwrite(int file, const void *data, size_t size, off_t at) { return written(file, data, size, at, "pwrite"); }

ssize_t pwrite64(int file, const void *data, size_t size, off64_t at) { return written(file, data, size, at, "pwrite64"); }

int unlink(const char *path)
{
    const char *disk = getenv("DISK");
    if (disk && strncmp(path, disk, strlen(disk)) == 0)
        step();
    return ((int (*)(const char *))dlsym(RTLD_NEXT, "unlink"))(path);
}
