/* Stands in for the system's resolver in a process of a test: LD_PRELOAD.

   TEST_HOSTS names a file of lines "name milliseconds [address ...]"; a name without an address does not exist, any
   other name is left to the system. It is read each time. Each question is noted in TEST_HOSTS.asked. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int resolve(const char *, const char *, const struct addrinfo *, struct addrinfo **);

static void note(const char *table, const char *node) {
    char path[4096];
    snprintf(path, sizeof path, "%s.asked", table);
    FILE *asked = fopen(path, "a");
    if (asked) {
        fprintf(asked, "%s\n", node);
        fclose(asked);
    }
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **found) {
    resolve *real = (resolve *)dlsym(RTLD_NEXT, "getaddrinfo");
    const char *table = getenv("TEST_HOSTS");
    FILE *lines = node && table ? fopen(table, "r") : NULL;
    if (!lines)
        return real(node, service, hints, found);
    note(table, node);
    char line[4096];
    while (fgets(line, sizeof line, lines)) {
        char *rest, *name = strtok_r(line, " \n", &rest);
        if (!name || strcmp(name, node))
            continue;
        fclose(lines);
        char *pause = strtok_r(NULL, " \n", &rest);
        usleep(1000 * (useconds_t)atoi(pause ? pause : "0"));
        struct addrinfo numeric = hints ? *hints : (struct addrinfo){0};
        numeric.ai_flags |= AI_NUMERICHOST;
        struct addrinfo **next = found;
        *found = NULL;
        for (char *address; (address = strtok_r(NULL, " \n", &rest));) {
            int error = real(address, service, &numeric, next);
            if (error)
                return error;
            while (*next)
                next = &(*next)->ai_next;
        }
        return *found ? 0 : EAI_NONAME;
    }
    fclose(lines);
    return real(node, service, hints, found);
}
