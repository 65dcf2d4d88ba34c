/* Stands in for the system's clocks in a process of a test: LD_PRELOAD.

   step(seconds) sets the wall clock that far off, as someone does who sets a clock. The clock that nobody sets goes on as it is, until
   leap(seconds) has that much time pass for it. With CLOCK_LEAPS it leaps by itself: a pause of at most that many seconds, between polls
   or before a retry, is over as soon as nothing else has happened for a moment. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <time.h>

enum { MOMENT = 50 };

static const long long SECOND = 1000000000;
static atomic_llong off, ahead;

void step(long seconds) { atomic_store(&off, seconds * SECOND); }

void leap(long seconds) { atomic_fetch_add(&ahead, seconds * SECOND); }

static void add(struct timespec *time, long long nanoseconds) {
    time->tv_sec += nanoseconds / SECOND;
    time->tv_nsec += nanoseconds % SECOND;
    if (time->tv_nsec >= SECOND) {
        time->tv_sec += 1;
        time->tv_nsec -= SECOND;
    }
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, now);
    if (!result && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        add(now, atomic_load(&off));
    if (!result && clock == CLOCK_MONOTONIC)
        add(now, atomic_load(&ahead));
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    int (*real)(struct timeval *, void *) = dlsym(RTLD_NEXT, "gettimeofday");
    int result = real(now, zone);
    if (!result)
        now->tv_sec += atomic_load(&off) / SECOND;
    return result;
}

time_t time(time_t *now) {
    struct timespec exact;
    clock_gettime(CLOCK_REALTIME, &exact);
    if (now)
        *now = exact.tv_sec;
    return exact.tv_sec;
}

int epoll_wait(int poll, struct epoll_event *events, int most, int timeout) {
    int (*real)(int, struct epoll_event *, int, int) = dlsym(RTLD_NEXT, "epoll_wait");
    const char *leaps = getenv("CLOCK_LEAPS");
    if (!leaps || timeout <= MOMENT || timeout > atoi(leaps) * 1000)
        return real(poll, events, most, timeout);
    int found = real(poll, events, most, MOMENT);
    if (!found)
        atomic_fetch_add(&ahead, (timeout - MOMENT) * (SECOND / 1000));
    return found;
}
