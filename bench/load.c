/* Sends signals to a running server at a fixed rate: one connection each, or with "kept" on
   connections that are used again. Every answer is timed from the moment its signal was due, so a
   server that falls behind cannot hide it. Written in C because Node needs a whole core for this.

   load <port> <signals a second> <seconds> <templates> [kept]  →  one line of JSON

   A template: "<bytes of request> <bytes of path> <bytes of step> <marks>", its marks, then the
   three parts. A mark is "<part> <what> <offset>". Part: r (request) or s (step). What: n, a number
   of eight digits that rises with every signal, or u, a figure of five digits. A step is appended
   to the file that the path names before the signal is sent, like the answer and tool result that a
   client writes. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MOST_OPEN 2000
#define MOST_MARKS 32
#define FIRST_FIGURE 20000

typedef struct {
  char part, what;
  long at;
} Mark;

typedef struct {
  char *request, *path, *step;
  long request_size, path_size, step_size, mark_count;
  Mark marks[MOST_MARKS];
} Template;

typedef struct {
  double due;
  int ok;
  long lacks; /* bytes of the answer; -1: not known yet */
} Open;

static Template *templates;
static long template_count;
static struct pollfd waiting[MOST_OPEN];
static Open opened[MOST_OPEN];
static int open_count;
static int kept, idle[MOST_OPEN], idle_count;
static double *took;
static long answered, wrong, refused, sent;

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1e3 + at.tv_nsec / 1e6;
}

static char *part(FILE *in, long size) {
  char *bytes = malloc((size_t)size + 1);
  if (!bytes || fread(bytes, 1, (size_t)size, in) != (size_t)size) exit(2);
  bytes[size] = 0;
  return bytes;
}

static void read_templates(const char *file) {
  FILE *in = fopen(file, "rb");
  if (!in) exit(2);
  Template one;
  while (fscanf(in, "%ld %ld %ld %ld", &one.request_size, &one.path_size, &one.step_size, &one.mark_count) == 4) {
    if (one.mark_count > MOST_MARKS) exit(2);
    for (long i = 0; i < one.mark_count; i++)
      if (fscanf(in, " %c %c %ld", &one.marks[i].part, &one.marks[i].what, &one.marks[i].at) != 3) exit(2);
    if (fgetc(in) != '\n') exit(2);
    one.request = part(in, one.request_size);
    one.path = part(in, one.path_size);
    one.step = part(in, one.step_size);
    templates = realloc(templates, (size_t)(template_count + 1) * sizeof one);
    if (!templates) exit(2);
    templates[template_count++] = one;
  }
  fclose(in);
}

static void fill(Template *one, long n) {
  char number[24], figure[24];
  snprintf(number, sizeof number, "%08ld", 10000000 + n % 90000000);
  snprintf(figure, sizeof figure, "%05ld", FIRST_FIGURE + n / template_count * 37 % 60000);
  for (long i = 0; i < one->mark_count; i++) {
    Mark *mark = &one->marks[i];
    char *to = (mark->part == 'r' ? one->request : one->step) + mark->at;
    memcpy(to, mark->what == 'n' ? number : figure, mark->what == 'n' ? 8 : 5);
  }
}

static void await(int fd, double due) {
  waiting[open_count] = (struct pollfd){.fd = fd, .events = POLLIN};
  opened[open_count++] = (Open){.due = due, .ok = 0, .lacks = -1};
}

static void send_one(int port, double due) {
  Template *one = &templates[sent % template_count];
  fill(one, sent++);
  if (one->step_size > 0) {
    int file = open(one->path, O_WRONLY | O_APPEND);
    if (file < 0 || write(file, one->step, (size_t)one->step_size) != one->step_size) exit(2);
    close(file);
  }
  if (idle_count > 0) {
    int fd = idle[--idle_count];
    if (write(fd, one->request, (size_t)one->request_size) == one->request_size) {
      await(fd, due);
      return;
    }
    close(fd);
  }
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) ||
      write(fd, one->request, (size_t)one->request_size) != one->request_size) {
    refused++;
    if (fd >= 0) close(fd);
    return;
  }
  fcntl(fd, F_SETFL, O_NONBLOCK);
  await(fd, due);
}

/* The head comes in one piece; whether the answer is whole. */
static int is_whole(Open *one, char *heard, ssize_t got) {
  if (one->lacks < 0) {
    heard[got] = 0;
    char *length = strstr(heard, "Content-Length: "), *end = strstr(heard, "\r\n\r\n");
    if (!length || !end) return 0;
    one->lacks = atol(length + 16) + (end + 4 - heard);
  }
  one->lacks -= got;
  return one->lacks <= 0;
}

static void hear(int timeout) {
  static char heard[65536];
  if (poll(waiting, (nfds_t)open_count, timeout) <= 0) return;
  for (int i = open_count - 1; i >= 0; i--) {
    if (!waiting[i].revents) continue;
    ssize_t got = read(waiting[i].fd, heard, sizeof heard - 1);
    if (got > 12 && !opened[i].ok) opened[i].ok = memcmp(heard + 9, "200", 3) == 0;
    int whole = kept && got > 0 && is_whole(&opened[i], heard, got);
    if (!whole && (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))) continue;
    if (whole) idle[idle_count++] = waiting[i].fd;
    else close(waiting[i].fd);
    took[answered + wrong] = now() - opened[i].due;
    if (opened[i].ok) answered++;
    else wrong++;
    waiting[i] = waiting[--open_count];
    opened[i] = opened[open_count];
  }
}

static int rising(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
  if (argc != 5 && argc != 6) return 2;
  kept = argc == 6;
  int port = atoi(argv[1]);
  double rate = atof(argv[2]), seconds = atof(argv[3]);
  signal(SIGPIPE, SIG_IGN);
  read_templates(argv[4]);
  took = malloc((size_t)(rate * seconds * 1.1 + 1000) * sizeof *took);
  if (!took || template_count == 0) return 2;

  double began = now(), due = began, end = began + seconds * 1e3;
  long stalled = 0;
  for (double at = began; at < end; at = now()) {
    if (due > at) {
      hear(1);
      continue;
    }
    if (open_count < MOST_OPEN) {
      send_one(port, due);
      due += 1e3 / rate;
      hear(0);
    } else {
      stalled++;
      hear(5);
    }
  }
  double sending = (now() - began) / 1e3;
  for (double last = now() + 10e3; open_count > 0 && now() < last;) hear(50);
  double whole = (now() - began) / 1e3;

  long count = answered + wrong;
  qsort(took, (size_t)count, sizeof *took, rising);
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  double cpu = used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
#define AT(q) (count ? took[(long)((double)(count - 1) * (q))] : 0)
  printf("{\"sent\":%ld,\"answered\":%ld,\"wrong\":%ld,\"refused\":%ld,\"unanswered\":%d,\"stalled\":%ld,"
         "\"offered_rate\":%.1f,"
         "\"answered_rate\":%.1f,\"p50\":%.3f,\"p99\":%.3f,\"max\":%.3f,\"cpu\":%.3f}\n",
         sent, answered, wrong, refused, open_count, stalled, (double)sent / sending, (double)answered / whole, AT(0.5),
         AT(0.99), AT(1), cpu / whole);
  return 0;
}
