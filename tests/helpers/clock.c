/* Stands in for the system's clocks in a process of a test: LD_PRELOAD.

   step(seconds) sets the wall clock that far off, as someone does who sets a clock. The clock that nobody sets goes on as it is, until
   leap(seconds) has that much time pass for it. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <time.h>

static atomic_long off, ahead;

void step(long seconds) { atomic_store(&off, seconds); }

void leap(long seconds) { atomic_fetch_add(&ahead, seconds); }

int clock_gettime(clockid_t clock, struct timespec *now) {
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, now);
    if (!result && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        now->tv_sec += atomic_load(&off);
    if (!result && clock == CLOCK_MONOTONIC)
        now->tv_sec += atomic_load(&ahead);
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    int (*real)(struct timeval *, void *) = dlsym(RTLD_NEXT, "gettimeofday");
    int result = real(now, zone);
    if (!result)
        now->tv_sec += atomic_load(&off);
    return result;
}

time_t time(time_t *now) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (now)
        *now = exact.tv_sec;
    return exact.tv_sec;
}
