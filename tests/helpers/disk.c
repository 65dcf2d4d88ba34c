/* Stands in for a disk: each sync takes $DISK_DELAY microseconds more. A folder's lasts until the file $DISK is there, and tells by
   "$DISK.began" that it has begun. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int synced(int file, const char *name)
{
    int (*sync)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    const char *delay = getenv("DISK_DELAY");
    if (delay)
        usleep(atoi(delay));
    return sync(file);
}

int fdatasync(int file)
{
    return synced(file, "fdatasync");
}

int fsync(int file)
{
    const char *disk = getenv("DISK");
    struct stat found;
    if (disk && fstat(file, &found) == 0 && S_ISDIR(found.st_mode)) {
        char began[4096];
        snprintf(began, sizeof began, "%s.began", disk);
        close(open(began, O_CREAT | O_WRONLY, 0600));
        for (int tries = 0; access(disk, F_OK) != 0; tries++) {
            if (tries == 10000)
                _exit(99);
            usleep(1000);
        }
    }
    return synced(file, "fsync");
}
