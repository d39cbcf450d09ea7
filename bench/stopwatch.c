/* Runs one command as a client runs a hook and prints how long it took: stdin is a socket that is
   closed after the payload, and stdout is read to its end. Starting a process from Node costs more
   than some of the commands measured here.

   stopwatch <payload file> <seconds at most> <program> <arguments>…
   →  "<wall ms> <cpu ms> <exit code> <output bytes>" */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static volatile pid_t child;

static void give_up(int signal) {
  (void)signal;
  if (child > 0) kill(-child, SIGKILL);
}

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1e3 + at.tv_nsec / 1e6;
}

static char *payload_of(const char *file, size_t *size) {
  FILE *in = fopen(file, "rb");
  if (!in) return NULL;
  fseek(in, 0, SEEK_END);
  *size = (size_t)ftell(in);
  rewind(in);
  char *bytes = malloc(*size + 1);
  if (bytes && fread(bytes, 1, *size, in) != *size) bytes = NULL;
  fclose(in);
  return bytes;
}

int main(int argc, char **argv) {
  size_t size = 0;
  char *payload = argc > 3 ? payload_of(argv[1], &size) : NULL;
  if (!payload) return 2;
  signal(SIGPIPE, SIG_IGN);
  signal(SIGALRM, give_up);

  double began = now();
  int in[2], out[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, in) || pipe(out)) return 2;
  for (int i = 0; i < 2; i++) {
    fcntl(in[i], F_SETFD, FD_CLOEXEC);
    fcntl(out[i], F_SETFD, FD_CLOEXEC);
  }
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, in[1], 0);
  posix_spawn_file_actions_adddup2(&files, out[1], 1);
  posix_spawnattr_t how;
  sigset_t usual;
  sigemptyset(&usual);
  sigaddset(&usual, SIGPIPE);
  posix_spawnattr_init(&how);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigdefault(&how, &usual);
  pid_t pid;
  if (posix_spawnp(&pid, argv[3], &files, &how, argv + 3, environ)) return 2;
  child = pid;
  alarm((unsigned)atoi(argv[2]));
  close(in[1]);
  close(out[1]);

  for (size_t sent = 0; sent < size;) {
    ssize_t wrote = write(in[0], payload + sent, size - sent);
    if (wrote <= 0) break;
    sent += (size_t)wrote;
  }
  shutdown(in[0], SHUT_WR);
  static char heard[65536];
  size_t total = 0;
  for (ssize_t got; (got = read(out[0], heard, sizeof heard)) > 0;) total += (size_t)got;
  int status = 0;
  struct rusage used;
  if (wait4(pid, &status, 0, &used) != pid) return 2;
  double took = now() - began;
  double cpu =
      (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3;
  printf("%.3f %.3f %d %zu\n", took, cpu, WIFEXITED(status) ? WEXITSTATUS(status) : -1, total);
  return 0;
}
