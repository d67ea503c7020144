/*
 * A library to preload into a PostgreSQL server, for tests of durability. It does two jobs for files below the data
 * directory, and none for any other file:
 *
 * - A flush takes at least so long as PLIMSOLL_SHIM_FLUSH_NS says: fsync, fdatasync, syncfs, a sync_file_range that
 *   waits, and a write through a descriptor opened with O_DSYNC or O_SYNC. What the disk did not take is slept.
 * - With PLIMSOLL_SHIM_JOURNAL, a folder, every change and every flush is written down, so that the directory can be
 *   rebuilt as a power cut at any moment may leave it. journal.go reads what is written here.
 *
 * Order. All processes take their numbers from one counter in shared memory. A write takes its number when it is done,
 * and a flush notes the counter before it begins: it covers just the writes with smaller numbers. What changes names
 * is done under a lock, so its numbers are in the order of the file system. Every record is appended by one system
 * call. A process may be killed between its change and its record; its number is then missing, and the reader stops
 * there.
 *
 * What passes it by: io_uring writes; the program that starts the server refuses io_method=io_uring. Renamed folders,
 * symbolic links and mapped files are beyond what a journal can tell: it is then marked as worth nothing. Streams
 * (fopen) are read back when they are closed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define RECORD_MAGIC 0x4c4e524au
#define STATE_MAGIC 0x3154535349504cu
#define DESCRIPTORS 65536
#define CHUNK (1 << 20)

enum kind {
	KIND_OPEN = 1,		/* ino is now at path; CREATED and EMPTIED say what the open did */
	KIND_WRITE,			/* size bytes at offset follow */
	KIND_ZERO,			/* the same, all of them zero: none follow */
	KIND_TRUNCATE,		/* to size */
	KIND_ALLOCATE,		/* the file is at least offset + size long */
	KIND_SYNC,			/* of ino, everything before 'before' */
	KIND_SYNC_ALL,
	KIND_RENAME,		/* path, a zero byte, the new path */
	KIND_LINK,			/* the same */
	KIND_UNLINK,
	KIND_MKDIR,
	KIND_RMDIR,
	KIND_NOTHING,		/* the number was taken, and the call failed */
};

enum flag {
	FLAG_CREATED = 1,
	FLAG_EMPTIED = 2,
	FLAG_DURABLE = 4,	/* the call itself returned after the flush */
	FLAG_DIRECTORY = 8,
};

struct record {
	uint32_t magic;
	uint32_t length;	/* of all, with the trailer */
	uint64_t number;
	uint64_t before;
	uint64_t nanoseconds;
	uint64_t ino;
	uint64_t offset;
	uint64_t size;
	uint32_t pid;
	uint16_t kind;
	uint16_t flags;
};

struct state {
	_Atomic uint64_t magic;
	_Atomic uint64_t next;		/* number of the next record */
	_Atomic uint64_t failed;	/* why the journal is worth nothing: an errno, or one of enum beyond; 0: it is good */
	pthread_mutex_t names;
};

/* What the journal cannot tell; journal.go has the same numbers. */
enum beyond {
	BEYOND_FOLDER = 10001,	/* a folder got another name */
	BEYOND_LINK,			/* a symbolic link, as a tablespace has one */
	BEYOND_MAPPED,			/* a file is mapped for writing */
};

struct descriptor {
	uint64_t ino;
	bool tracked, wal, durable, stream, memory;
};

static char data_path[PATH_MAX];
static size_t data_length;
static dev_t data_dev;
static ino_t data_ino;
static int in_data = -1;		/* is the current folder the data directory; -1: not looked at since chdir */
static uint64_t flush_ns;
static int journal = -1;
static struct state *state;
static bool all_durable, wal_never;	/* broken on purpose */
static struct descriptor table[DESCRIPTORS];

#define REAL(name) \
	static __typeof__(&name) real; \
	if (real == NULL) real = (__typeof__(&name)) dlsym(RTLD_NEXT, #name)

/* ---- the journal ---- */

static uint64_t
now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

static uint64_t
take_number(void)
{
	return atomic_fetch_add(&state->next, 1);
}

static void
append(struct record *r, const struct iovec *body, int parts)
{
	struct iovec all[IOV_MAX];
	uint32_t trailer;
	size_t length = sizeof(*r) + sizeof(trailer);
	int used = 0;
	ssize_t wrote;
	int before = errno;

	for (int i = 0; i < parts; i++)
		length += body[i].iov_len;
	r->magic = RECORD_MAGIC;
	r->length = (uint32_t) length;
	r->nanoseconds = now_ns(CLOCK_REALTIME);
	r->pid = (uint32_t) getpid();
	if (all_durable)
		r->flags |= FLAG_DURABLE;
	trailer = RECORD_MAGIC ^ (uint32_t) r->number;
	all[used++] = (struct iovec) {r, sizeof(*r)};
	for (int i = 0; i < parts && used < IOV_MAX - 1; i++)
		all[used++] = body[i];
	all[used++] = (struct iovec) {&trailer, sizeof(trailer)};
	REAL(writev);
	wrote = real(journal, all, used);
	if (wrote != (ssize_t) length)
		atomic_store(&state->failed, wrote < 0 ? (uint64_t) errno : ENOSPC);
	errno = before;
}

static void
append_path(struct record *r, const char *path, const char *to)
{
	struct iovec body[2] = {{(void *) path, strlen(path) + 1}, {(void *) to, to ? strlen(to) : 0}};

	append(r, body, to ? 2 : 1);
}

static void
lock_names(void)
{
	if (pthread_mutex_lock(&state->names) == EOWNERDEAD)
		pthread_mutex_consistent(&state->names);
}

static void
unlock_names(void)
{
	pthread_mutex_unlock(&state->names);
}

/* ---- whose files ---- */

/* inside gives a path's part below the data directory; false: it is elsewhere. */
static bool
inside(const char *path, char out[PATH_MAX])
{
	const char *p = path;
	char *to = out;
	struct stat here;

	if (data_length == 0 || path == NULL)
		return false;
	if (*p == '/') {
		if (strncmp(p, data_path, data_length) != 0 || (p[data_length] != '/' && p[data_length] != 0))
			return false;
		p += data_length;
	}
	else {
		if (in_data < 0)
			in_data = stat(".", &here) == 0 && here.st_dev == data_dev && here.st_ino == data_ino;
		if (!in_data)
			return false;
	}
	while (*p != 0 && to < out + PATH_MAX - 1) {
		while (*p == '/')
			p++;
		if (p[0] == '.' && (p[1] == '/' || p[1] == 0)) {
			p++;
			continue;
		}
		if (p[0] == '.' && p[1] == '.' && (p[2] == '/' || p[2] == 0))
			return false;
		if (*p != 0 && to != out)
			*to++ = '/';
		while (*p != 0 && *p != '/' && to < out + PATH_MAX - 1)
			*to++ = *p++;
	}
	*to = 0;
	return true;
}

static void
forget(int fd)
{
	if (fd >= 0 && fd < DESCRIPTORS)
		table[fd].tracked = false;
}

/* mine gives what is known of a descriptor; NULL: it is not below the data directory. */
static struct descriptor *
mine(int fd)
{
	struct stat st;
	int before = errno;

	if (fd < 0 || fd >= DESCRIPTORS || !table[fd].tracked)
		return NULL;
	/* A number may have been closed behind our back and given to another file. */
	if (fstat(fd, &st) != 0 || st.st_dev != data_dev || st.st_ino != table[fd].ino)
		table[fd].tracked = false;
	errno = before;
	return table[fd].tracked ? &table[fd] : NULL;
}

static void
opened(int fd, const char *rel, int flags, bool created, bool stream)
{
	struct stat st;
	int before = errno;

	if (fd < 0 || fd >= DESCRIPTORS)
		return;
	if (fstat(fd, &st) != 0 || st.st_dev != data_dev) {
		table[fd].tracked = false;
		errno = before;
		return;
	}
	table[fd] = (struct descriptor) {
		.ino = st.st_ino, .tracked = true, .wal = strncmp(rel, "pg_wal/", 7) == 0,
		.durable = (flags & (O_DSYNC | O_SYNC)) != 0, .stream = stream,
		.memory = strncmp(rel, "pg_dynshmem/", 12) == 0,
	};
	if (journal >= 0) {
		struct record r = {.kind = KIND_OPEN, .ino = st.st_ino, .number = take_number()};

		if (created)
			r.flags |= FLAG_CREATED;
		if ((flags & O_TRUNC) && !created)
			r.flags |= FLAG_EMPTIED;
		if (S_ISDIR(st.st_mode))
			r.flags |= FLAG_DIRECTORY;
		append_path(&r, rel, NULL);
	}
	errno = before;
}

/* ---- flushes ---- */

static void
sleep_until(uint64_t began)
{
	uint64_t end = began + flush_ns;
	struct timespec t = {(time_t) (end / 1000000000u), (long) (end % 1000000000u)};
	int before = errno;

	if (flush_ns > 0)
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
			;
	errno = before;
}

static void
flushed(const struct descriptor *d, uint64_t before)
{
	struct record r = {.kind = KIND_SYNC, .ino = d->ino, .before = before};

	if (journal < 0 || (wal_never && d->wal))
		return;
	r.number = take_number();
	append(&r, NULL, 0);
}

#define FLUSH(name, call) \
	struct descriptor *d = mine(fd); \
	uint64_t began, before; \
	int result; \
	REAL(name); \
	if (d == NULL) return call; \
	began = now_ns(CLOCK_MONOTONIC); \
	before = journal >= 0 ? atomic_load(&state->next) : 0; \
	result = call; \
	if (result == 0) { sleep_until(began); flushed(d, before); } \
	return result

int
fsync(int fd)
{
	FLUSH(fsync, real(fd));
}

int
fdatasync(int fd)
{
	FLUSH(fdatasync, real(fd));
}

int
syncfs(int fd)
{
	struct descriptor *d = mine(fd);
	uint64_t began = now_ns(CLOCK_MONOTONIC);
	struct record r = {.kind = KIND_SYNC_ALL};
	int result;

	REAL(syncfs);
	if (d != NULL && journal >= 0)
		r.before = atomic_load(&state->next);
	result = real(fd);
	if (d != NULL && result == 0) {
		sleep_until(began);
		if (journal >= 0) {
			r.number = take_number();
			append(&r, NULL, 0);
		}
	}
	return result;
}

/* It starts writing and makes nothing durable; only one that waits takes the time of a flush. */
int
sync_file_range(int fd, off64_t offset, off64_t bytes, unsigned int flags)
{
	uint64_t began = now_ns(CLOCK_MONOTONIC);
	int result;

	REAL(sync_file_range);
	result = real(fd, offset, bytes, flags);
	if (result == 0 && (flags & SYNC_FILE_RANGE_WAIT_AFTER) && mine(fd) != NULL)
		sleep_until(began);
	return result;
}

/* ---- writes ---- */

static bool
all_zero(const struct iovec *iov, int parts)
{
	for (int i = 0; i < parts; i++) {
		const char *p = iov[i].iov_base;

		if (iov[i].iov_len > 0 && (p[0] != 0 || memcmp(p, p + 1, iov[i].iov_len - 1) != 0))
			return false;
	}
	return true;
}

static void
wrote(struct descriptor *d, const struct iovec *iov, int count, off_t offset, ssize_t done)
{
	struct iovec part[IOV_MAX];
	struct record r = {.kind = KIND_WRITE, .ino = d->ino, .offset = (uint64_t) offset, .size = (uint64_t) done};
	size_t left = (size_t) done;
	int parts = 0;

	if (journal < 0)
		return;
	for (int i = 0; i < count && left > 0 && parts < IOV_MAX - 2; i++) {
		part[parts] = iov[i];
		if (part[parts].iov_len > left)
			part[parts].iov_len = left;
		left -= part[parts++].iov_len;
	}
	if (d->durable && !(wal_never && d->wal))
		r.flags |= FLAG_DURABLE;
	if (done >= 4096 && all_zero(part, parts)) {
		r.kind = KIND_ZERO;
		parts = 0;
	}
	r.number = take_number();
	append(&r, part, parts);
}

/* after_write is for every kind of write that the server makes through a descriptor. */
static void
after_write(struct descriptor *d, uint64_t began, const struct iovec *iov, int count, off_t offset, ssize_t done)
{
	if (d == NULL || done <= 0)
		return;
	if (d->durable)
		sleep_until(began);
	wrote(d, iov, count, offset, done);
}

ssize_t
pwrite(int fd, const void *buffer, size_t size, off_t offset)
{
	struct descriptor *d = mine(fd);
	uint64_t began = d ? now_ns(CLOCK_MONOTONIC) : 0;
	struct iovec iov = {(void *) buffer, size};
	ssize_t done;

	REAL(pwrite);
	done = real(fd, buffer, size, offset);
	after_write(d, began, &iov, 1, offset, done);
	return done;
}

ssize_t
pwritev(int fd, const struct iovec *iov, int count, off_t offset)
{
	struct descriptor *d = mine(fd);
	uint64_t began = d ? now_ns(CLOCK_MONOTONIC) : 0;
	ssize_t done;

	REAL(pwritev);
	done = real(fd, iov, count, offset);
	after_write(d, began, iov, count, offset, done);
	return done;
}

static off_t
behind(int fd, ssize_t done)
{
	int before = errno;
	off_t at = lseek(fd, 0, SEEK_CUR);

	errno = before;
	return at - done;
}

ssize_t
write(int fd, const void *buffer, size_t size)
{
	struct descriptor *d = mine(fd);
	uint64_t began = d ? now_ns(CLOCK_MONOTONIC) : 0;
	struct iovec iov = {(void *) buffer, size};
	ssize_t done;

	REAL(write);
	done = real(fd, buffer, size);
	if (d != NULL && done > 0)
		after_write(d, began, &iov, 1, behind(fd, done), done);
	return done;
}

ssize_t
writev(int fd, const struct iovec *iov, int count)
{
	struct descriptor *d = mine(fd);
	uint64_t began = d ? now_ns(CLOCK_MONOTONIC) : 0;
	ssize_t done;

	REAL(writev);
	done = real(fd, iov, count);
	if (d != NULL && done > 0)
		after_write(d, began, iov, count, behind(fd, done), done);
	return done;
}

/* read_back writes down a part of a file that something else than our calls has written. */
static void
read_back(int fd, struct descriptor *d, off_t from, off_t end)
{
	char *buffer = malloc(CHUNK);
	int before = errno;

	while (buffer != NULL && from < end) {
		size_t size = end - from < CHUNK ? (size_t) (end - from) : CHUNK;
		ssize_t got = pread(fd, buffer, size, from);
		struct iovec iov = {buffer, got > 0 ? (size_t) got : 0};

		if (got <= 0) {
			atomic_store(&state->failed, got < 0 ? (uint64_t) errno : EIO);
			break;
		}
		wrote(d, &iov, 1, from, got);
		from += got;
	}
	free(buffer);
	errno = before;
}

ssize_t
copy_file_range(int in, off64_t *in_at, int fd, off64_t *at, size_t size, unsigned int flags)
{
	struct descriptor *d = mine(fd);
	off_t from = at ? *at : -1;
	ssize_t done;

	REAL(copy_file_range);
	done = real(in, in_at, fd, at, size, flags);
	if (d != NULL && done > 0 && journal >= 0) {
		if (from < 0)
			from = behind(fd, done);
		read_back(fd, d, from, from + done);
	}
	return done;
}

static void
resized(struct descriptor *d, enum kind kind, off_t offset, off_t size)
{
	struct record r = {.kind = kind, .ino = d->ino, .offset = (uint64_t) offset, .size = (uint64_t) size};

	if (journal < 0)
		return;
	r.number = take_number();
	append(&r, NULL, 0);
}

int
ftruncate(int fd, off_t size)
{
	struct descriptor *d = mine(fd);
	int result;

	REAL(ftruncate);
	result = real(fd, size);
	if (d != NULL && result == 0)
		resized(d, KIND_TRUNCATE, 0, size);
	return result;
}

int
truncate(const char *path, off_t size)
{
	char rel[PATH_MAX];
	int fd, result;

	REAL(truncate);
	if (journal < 0 || !inside(path, rel))
		return real(path, size);
	if ((fd = open(path, O_RDWR | O_CLOEXEC)) < 0)
		return -1;
	result = ftruncate(fd, size);
	close(fd);
	return result;
}

int
posix_fallocate(int fd, off_t offset, off_t size)
{
	struct descriptor *d = mine(fd);
	int result;

	REAL(posix_fallocate);
	result = real(fd, offset, size);
	if (d != NULL && result == 0)
		resized(d, KIND_ALLOCATE, offset, size);
	return result;
}

/* ---- names ---- */

/* open_inside opens a file below the data directory and finds out whether that made it. */
static int
open_inside(int (*real)(const char *, int, ...), const char *path, const char *rel, int flags, mode_t mode)
{
	bool created = false;
	int fd;

	if (journal < 0) {
		fd = real(path, flags, mode);
		opened(fd, rel, flags, false, false);
		return fd;
	}
	lock_names();
	if (flags & O_CREAT) {
		fd = real(path, flags | O_EXCL, mode);
		created = fd >= 0;
		if (fd < 0 && errno == EEXIST && !(flags & O_EXCL))
			fd = real(path, flags & ~O_CREAT, mode);
	}
	else
		fd = real(path, flags, mode);
	opened(fd, rel, flags, created, false);
	unlock_names();
	return fd;
}

#define MODE(flags) \
	mode_t mode = 0; \
	if ((flags) & (O_CREAT | __O_TMPFILE)) { \
		va_list arguments; \
		va_start(arguments, flags); \
		mode = va_arg(arguments, mode_t); \
		va_end(arguments); \
	}

int
open(const char *path, int flags, ...)
{
	char rel[PATH_MAX];
	int fd;

	REAL(open);
	MODE(flags);
	if (inside(path, rel))
		return open_inside(real, path, rel, flags, mode);
	fd = real(path, flags, mode);
	forget(fd);
	return fd;
}

int
open64(const char *path, int flags, ...)
{
	MODE(flags);
	return open(path, flags, mode);
}

int
__open_2(const char *path, int flags)
{
	return open(path, flags);
}

int
__open64_2(const char *path, int flags)
{
	return open(path, flags);
}

static FILE *
open_stream(FILE *(*real)(const char *, const char *), const char *path, const char *how)
{
	char rel[PATH_MAX];
	bool writes = strpbrk(how, "wa+") != NULL;
	bool created;
	FILE *f;

	if (journal < 0 || !writes || !inside(path, rel)) {
		f = real(path, how);
		if (f != NULL)
			forget(fileno(f));
		return f;
	}
	lock_names();
	created = access(path, F_OK) != 0;
	f = real(path, how);
	if (f != NULL)
		opened(fileno(f), rel, strchr(how, 'w') ? O_TRUNC : 0, created, true);
	unlock_names();
	return f;
}

FILE *
fopen(const char *path, const char *how)
{
	REAL(fopen);
	return open_stream(real, path, how);
}

FILE *
fopen64(const char *path, const char *how)
{
	REAL(fopen64);
	return open_stream(real, path, how);
}

int
fclose(FILE *f)
{
	int fd = f ? fileno(f) : -1;
	struct descriptor *d = mine(fd);
	struct stat st;

	REAL(fclose);
	if (d != NULL && d->stream && journal >= 0 && fflush(f) == 0 && fstat(fd, &st) == 0) {
		char path[64];
		int again;

		/* The stream may be for writing alone. */
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if ((again = open(path, O_RDONLY | O_CLOEXEC)) >= 0) {
			resized(d, KIND_TRUNCATE, 0, st.st_size);
			read_back(again, d, 0, st.st_size);
			close(again);
		}
		else
			atomic_store(&state->failed, (uint64_t) errno);
	}
	forget(fd);
	return real(f);
}

int
close(int fd)
{
	REAL(close);
	if (fd >= 0 && fd == journal)
		return 0;
	forget(fd);
	return real(fd);
}

static int
copied(int from, int to)
{
	if (to >= 0 && to < DESCRIPTORS) {
		if (from >= 0 && from < DESCRIPTORS)
			table[to] = table[from];
		else
			table[to].tracked = false;
	}
	return to;
}

int
dup(int fd)
{
	REAL(dup);
	return copied(fd, real(fd));
}

int
dup2(int fd, int to)
{
	REAL(dup2);
	return copied(fd, real(fd, to));
}

int
chdir(const char *path)
{
	REAL(chdir);
	in_data = -1;
	return real(path);
}

/*
 * RENAMED is for calls that change names. Their number is taken before the call: once a name is gone its inode may be
 * used again, and that must have the greater number.
 */
#define RENAMED(what, call, from, to) \
	char rel[PATH_MAX], rel_to[PATH_MAX]; \
	struct record r = {.kind = what}; \
	const char *target = to; \
	int result; \
	if (journal < 0 || !inside(from, rel) || (target != NULL && !inside(target, rel_to))) return call; \
	lock_names(); \
	r.number = take_number(); \
	result = call; \
	if (result != 0) r.kind = KIND_NOTHING; \
	append_path(&r, rel, target ? rel_to : NULL); \
	unlock_names(); \
	return result

/* beyond notes what the journal cannot tell. */
static void
beyond(enum beyond what)
{
	if (journal >= 0)
		atomic_store(&state->failed, (uint64_t) what);
}

int
rename(const char *from, const char *to)
{
	char inner[PATH_MAX];
	struct stat st;
	int before = errno;

	if (journal >= 0 && inside(from, inner) && lstat(from, &st) == 0 && S_ISDIR(st.st_mode))
		beyond(BEYOND_FOLDER);
	errno = before;
	REAL(rename);
	RENAMED(KIND_RENAME, real(from, to), from, to);
}

int
link(const char *from, const char *to)
{
	REAL(link);
	RENAMED(KIND_LINK, real(from, to), from, to);
}

int
symlink(const char *target, const char *path)
{
	char inner[PATH_MAX];
	int result;

	REAL(symlink);
	result = real(target, path);
	if (result == 0 && inside(path, inner))
		beyond(BEYOND_LINK);
	return result;
}

/* Shared memory is below the data directory, too, with dynamic_shared_memory_type=mmap; no crash keeps that. */
void *
mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	REAL(mmap);
	if ((flags & MAP_SHARED) && (protection & PROT_WRITE) && fd >= 0 && mine(fd) != NULL && !table[fd].memory)
		beyond(BEYOND_MAPPED);
	return real(address, size, protection, flags, fd, offset);
}

void *
mmap64(void *address, size_t size, int protection, int flags, int fd, off64_t offset)
{
	return mmap(address, size, protection, flags, fd, offset);
}

int
unlink(const char *path)
{
	REAL(unlink);
	RENAMED(KIND_UNLINK, real(path), path, NULL);
}

int
mkdir(const char *path, mode_t mode)
{
	REAL(mkdir);
	RENAMED(KIND_MKDIR, real(path, mode), path, NULL);
}

int
rmdir(const char *path)
{
	REAL(rmdir);
	RENAMED(KIND_RMDIR, real(path), path, NULL);
}

/* ---- the beginning ---- */

static void
give_up(const char *what, const char *path)
{
	dprintf(STDERR_FILENO, "FATAL:  journal of writes: %s %s: %s\n", what, path, strerror(errno));
	_exit(1);
}

/* share maps the counter and the lock, which the first process makes. */
static void
share(const char *folder)
{
	char path[PATH_MAX];
	pthread_mutexattr_t robust;
	int fd;
	bool first;

	snprintf(path, sizeof(path), "%s/state", folder);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	first = fd >= 0;
	if (!first && (fd = open(path, O_RDWR | O_CLOEXEC)) < 0)
		give_up("open", path);
	if (first && ftruncate(fd, sizeof(struct state)) != 0)
		give_up("enlarge", path);
	state = mmap(NULL, sizeof(struct state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (state == MAP_FAILED)
		give_up("map", path);
	close(fd);
	if (!first)
		return;		/* the first is the postmaster, which has no children yet */
	pthread_mutexattr_init(&robust);
	pthread_mutexattr_setpshared(&robust, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&state->names, &robust);
	atomic_store(&state->next, 1);
	atomic_store(&state->magic, STATE_MAGIC);
}

static void
keep_journal(const char *folder)
{
	char path[PATH_MAX];
	int fd;

	share(folder);
	snprintf(path, sizeof(path), "%s/journal", folder);
	if ((fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) < 0)
		give_up("open", path);
	/* Out of the way of the numbers that a server counts. */
	journal = fcntl(fd, F_DUPFD_CLOEXEC, 400);
	if (journal < 0)
		give_up("keep open", path);
	close(fd);
}

__attribute__((constructor)) static void
begin(void)
{
	const char *data = getenv("PLIMSOLL_SHIM_DATA");
	const char *latency = getenv("PLIMSOLL_SHIM_FLUSH_NS");
	const char *folder = getenv("PLIMSOLL_SHIM_JOURNAL");
	const char *broken = getenv("PLIMSOLL_SHIM_BROKEN");
	struct stat st;

	if (data == NULL || strlen(data) >= sizeof(data_path) || stat(data, &st) != 0)
		return;
	data_dev = st.st_dev;
	data_ino = st.st_ino;
	if (latency != NULL)
		flush_ns = strtoull(latency, NULL, 10);
	all_durable = broken != NULL && strcmp(broken, "all-durable") == 0;
	wal_never = broken != NULL && strcmp(broken, "wal-never") == 0;
	if (folder != NULL)
		keep_journal(folder);
	strcpy(data_path, data);
	data_length = strlen(data_path);
}
