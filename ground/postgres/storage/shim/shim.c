/*
 * A library to preload into a PostgreSQL server, for tests of durability. It does two jobs for files below the data
 * directory, and none for any other file:
 *
 * - A flush takes at least so long as PLIMSOLL_SHIM_FLUSH_NS says: fsync, fdatasync, sync, syncfs, a sync_file_range
 *   that waits, and a write through a descriptor opened with O_DSYNC or O_SYNC. What the disk did not take is slept.
 * - With PLIMSOLL_SHIM_JOURNAL, a folder, every change and every flush is written down, so that the directory can be
 *   rebuilt as a power cut at any moment may leave it. journal.go reads what is written here.
 *
 * Order. All processes take their numbers from one counter in shared memory. A write takes its number when it is done,
 * and a flush notes the counter before it begins: it covers just the writes with smaller numbers. What changes names
 * is done under a lock, so its numbers are in the order of the file system. Every record is appended by one system
 * call. A process may be killed between its change and its record; its number is then missing, and the reader stops
 * there.
 *
 * Each call of the C library has all of its names here: a program built for large files calls pwrite64 where another
 * calls pwrite. Descriptors that came in another way (fcntl, a parent, a socket) are looked up when first used.
 * Streams (fopen) are read back when they are flushed to the disk or closed.
 *
 * What passes it by: system calls that a program makes without the C library, as for io_uring; whoever starts the
 * server refuses io_method=io_uring. Renamed folders, files moved in or out, symbolic links, mapped files and
 * asynchronous writes (aio_write) are beyond what a journal can tell: it is then marked as worth nothing.
 */
#define _GNU_SOURCE
#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
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
	KIND_SYNC,			/* of ino, everything before 'before', with all of its attributes: fsync */
	KIND_SYNC_ALL,		/* of every file: sync, syncfs */
	KIND_RENAME,		/* path, a zero byte, the new path */
	KIND_LINK,			/* the same */
	KIND_UNLINK,
	KIND_MKDIR,
	KIND_RMDIR,
	KIND_NOTHING,		/* the number was taken, and the call failed */
	KIND_DATASYNC,		/* KIND_SYNC without what a reader does not need, such as times: fdatasync */
	KIND_WRITEBACK,		/* of ino was begun, which makes nothing durable: sync_file_range */
};

enum flag {
	FLAG_CREATED = 1,
	FLAG_EMPTIED = 2,
	FLAG_DURABLE = 4,	/* the call itself returned after the flush, which began at 'before': O_DSYNC */
	FLAG_DIRECTORY = 8,
	FLAG_WHOLE = 16,	/* with FLAG_DURABLE: and with all attributes, as fsync does: O_SYNC */
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
	BEYOND_MOVED,			/* a file came from outside of the data directory, or left it */
	BEYOND_SWAPPED,			/* two names were swapped, or one was left behind as a mark */
	BEYOND_AIO,				/* a file is written or flushed by asynchronous calls */
};

struct descriptor {
	uint64_t ino;
	dev_t dev;
	bool known;			/* the rest is true of this inode */
	bool tracked;		/* it is below the data directory, and has a name */
	bool folder, wal, durable, whole, append, stream, memory;
};

static char data_path[PATH_MAX], data_real[PATH_MAX];	/* as it was given, and without symbolic links */
static size_t data_length;
static dev_t data_dev;
static ino_t data_ino;
static int in_data = -1;		/* is the current folder the data directory; -1: not looked at since chdir */
static uint64_t flush_ns;
static int journal = -1;
static struct state *state;
static bool all_durable, wal_never, folders_never;	/* broken on purpose */
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

/* beyond notes what the journal cannot tell. */
static void
beyond(enum beyond what)
{
	if (journal >= 0)
		atomic_store(&state->failed, (uint64_t) what);
}

/* part gives what a path has below a folder, without empty and '.' parts; false: it is elsewhere, or has a '..'. */
static bool
part(const char *path, const char *folder, char out[PATH_MAX])
{
	size_t length = strlen(folder);
	const char *p = path;
	char *to = out;

	if (strncmp(p, folder, length) != 0 || (length > 0 && p[length] != '/' && p[length] != 0))
		return false;
	p += length;
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

/* resolved is part for a path with '..', or that begins at another folder: the kernel says where that is. */
static bool
resolved(int folder, const char *path, char out[PATH_MAX])
{
	char whole[PATH_MAX + 32], real[PATH_MAX], *last;
	size_t length;

	if (*path == '/')
		snprintf(whole, sizeof(whole), "%s", path);
	else if (folder == AT_FDCWD)
		snprintf(whole, sizeof(whole), "./%s", path);
	else
		snprintf(whole, sizeof(whole), "/proc/self/fd/%d/%s", folder, path);
	for (length = strlen(whole); length > 1 && whole[length - 1] == '/'; length--)
		whole[length - 1] = 0;
	last = strrchr(whole, '/');
	if (strcmp(last, "/.") == 0 || strcmp(last, "/..") == 0)	/* it names a folder that is there */
		return realpath(whole, real) != NULL && part(real, data_real, out);
	*last++ = 0;
	if (realpath(*whole ? whole : "/", real) == NULL || strlen(real) + strlen(last) + 2 > sizeof(real))
		return false;
	strcat(strcat(real, "/"), last);
	return part(real, data_real, out);
}

/* inside gives a path's part below the data directory; false: it is elsewhere. */
static bool
inside(int folder, const char *path, char out[PATH_MAX])
{
	struct stat here;
	int before = errno;
	bool is;

	if (data_length == 0 || path == NULL || *path == 0)
		return false;
	if (*path != '/' && folder == AT_FDCWD && in_data < 0)
		in_data = stat(".", &here) == 0 && here.st_dev == data_dev && here.st_ino == data_ino;
	is = (*path == '/' ? part(path, data_path, out) : folder == AT_FDCWD && in_data && part(path, "", out)) ||
		resolved(folder, path, out);
	errno = before;
	return is;
}

static void
forget(int fd)
{
	if (fd >= 0 && fd < DESCRIPTORS)
		table[fd].known = false;
}

/* describe an open descriptor of a file or folder below the data directory, and write down what its open did. */
static void
describe(int fd, const struct stat *st, const char *rel, int flags, bool created, bool stream)
{
	table[fd] = (struct descriptor) {
		.ino = st->st_ino, .dev = st->st_dev, .known = true, .tracked = true, .folder = S_ISDIR(st->st_mode),
		.wal = strncmp(rel, "pg_wal/", 7) == 0, .durable = (flags & O_DSYNC) != 0,
		.whole = (flags & O_SYNC) == O_SYNC, .append = (flags & O_APPEND) != 0, .stream = stream,
		.memory = strncmp(rel, "pg_dynshmem/", 12) == 0,
	};
	if (journal >= 0) {
		struct record r = {.kind = KIND_OPEN, .ino = st->st_ino, .number = take_number()};

		if (created)
			r.flags |= FLAG_CREATED;
		if ((flags & O_TRUNC) && !created)
			r.flags |= FLAG_EMPTIED;
		if (table[fd].folder)
			r.flags |= FLAG_DIRECTORY;
		append_path(&r, rel, NULL);
	}
}

/* look up a descriptor that none of our calls has opened. A file without a name goes with its last descriptor. */
static void
look_up(int fd, const struct stat *st)
{
	char path[64], name[PATH_MAX], rel[PATH_MAX];
	struct stat there;
	ssize_t length;

	table[fd] = (struct descriptor) {.ino = st->st_ino, .dev = st->st_dev, .known = true};
	if (st->st_dev != data_dev || !(S_ISREG(st->st_mode) || S_ISDIR(st->st_mode)))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (journal >= 0)
		lock_names();
	length = readlink(path, name, sizeof(name) - 1);
	if (length > 0) {
		name[length] = 0;
		if (part(name, data_real, rel) && stat(name, &there) == 0 && there.st_ino == st->st_ino)
			describe(fd, st, rel, fcntl(fd, F_GETFL) & ~O_TRUNC, false, false);
	}
	if (journal >= 0)
		unlock_names();
}

/* mine gives what is known of a descriptor; NULL: it is not below the data directory. */
static struct descriptor *
mine(int fd)
{
	struct stat st;
	int before = errno;

	if (data_length == 0 || fd < 0 || fd >= DESCRIPTORS || fd == journal)
		return NULL;
	/* A number may have been closed behind our back and given to another file. */
	if (fstat(fd, &st) != 0)
		table[fd].known = table[fd].tracked = false;
	else if (!table[fd].known || st.st_dev != table[fd].dev || st.st_ino != table[fd].ino)
		look_up(fd, &st);
	errno = before;
	return table[fd].tracked ? &table[fd] : NULL;
}

static void
opened(int fd, const char *rel, int flags, bool created, bool stream)
{
	struct stat st;
	int before = errno;

	forget(fd);
	if (fd >= 0 && fd < DESCRIPTORS && fstat(fd, &st) == 0 && st.st_dev == data_dev)
		describe(fd, &st, rel, flags, created, stream);
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

static void catch_up(int fd, struct descriptor *d);

static void
flushed(const struct descriptor *d, enum kind kind, uint64_t before)
{
	struct record r = {.kind = kind, .ino = d->ino, .before = before};

	if (journal < 0 || (wal_never && d->wal) || (folders_never && d->folder))
		return;
	r.number = take_number();
	append(&r, NULL, 0);
}

#define FLUSH(kind, call) \
	struct descriptor *d = mine(fd); \
	uint64_t began, before; \
	int result; \
	if (d == NULL) return call; \
	began = now_ns(CLOCK_MONOTONIC); \
	if (d->stream) catch_up(fd, d); \
	before = journal >= 0 ? atomic_load(&state->next) : 0; \
	result = call; \
	if (result == 0) { sleep_until(began); flushed(d, kind, before); } \
	return result

int
fsync(int fd)
{
	REAL(fsync);
	FLUSH(KIND_SYNC, real(fd));
}

int
fdatasync(int fd)
{
	REAL(fdatasync);
	FLUSH(KIND_DATASYNC, real(fd));
}

/* all_flushed is for calls that flush a whole file system. */
static void
all_flushed(uint64_t began, uint64_t before)
{
	struct record r = {.kind = KIND_SYNC_ALL, .before = before};

	sleep_until(began);
	if (journal < 0)
		return;
	r.number = take_number();
	append(&r, NULL, 0);
}

int
syncfs(int fd)
{
	uint64_t began = now_ns(CLOCK_MONOTONIC), before = journal >= 0 ? atomic_load(&state->next) : 0;
	struct stat st;
	int result;

	REAL(syncfs);
	result = real(fd);
	if (result == 0 && data_length > 0 && fstat(fd, &st) == 0 && st.st_dev == data_dev)
		all_flushed(began, before);
	return result;
}

void
sync(void)
{
	uint64_t began = now_ns(CLOCK_MONOTONIC), before = journal >= 0 ? atomic_load(&state->next) : 0;

	REAL(sync);
	real();
	if (data_length > 0)
		all_flushed(began, before);
}

/* It starts writing and makes nothing durable; only one that waits takes the time of a flush. */
int
sync_file_range(int fd, off64_t offset, off64_t bytes, unsigned int flags)
{
	struct descriptor *d = mine(fd);
	uint64_t began = now_ns(CLOCK_MONOTONIC);
	int result;

	REAL(sync_file_range);
	result = real(fd, offset, bytes, flags);
	if (result == 0 && d != NULL) {
		if (flags & SYNC_FILE_RANGE_WAIT_AFTER)
			sleep_until(began);
		if (journal >= 0) {
			struct record r = {.kind = KIND_WRITEBACK, .ino = d->ino, .offset = (uint64_t) offset,
				.size = (uint64_t) bytes, .number = take_number()};

			append(&r, NULL, 0);
		}
	}
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

/* A write that is under way: when it began, and what else had been done then. */
struct writing {
	struct descriptor *d;	/* NULL: it is none of ours */
	uint64_t began, before;
	bool durable, whole;
};

static struct writing
begin_write(int fd, int flags)
{
	struct writing w = {.d = mine(fd)};

	if (w.d == NULL)
		return w;
	w.began = now_ns(CLOCK_MONOTONIC);
	w.durable = w.d->durable || (flags & (RWF_DSYNC | RWF_SYNC)) != 0;
	w.whole = w.d->whole || (flags & RWF_SYNC) != 0;
	if (w.durable && journal >= 0)
		w.before = atomic_load(&state->next);
	return w;
}

static void
wrote(const struct writing *w, const struct iovec *iov, int count, off_t offset, ssize_t done)
{
	struct iovec part[IOV_MAX];
	struct record r = {.kind = KIND_WRITE, .ino = w->d->ino, .offset = (uint64_t) offset, .size = (uint64_t) done,
		.before = w->before};
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
	if (w->durable && !(wal_never && w->d->wal))
		r.flags |= FLAG_DURABLE | (w->whole ? FLAG_WHOLE : 0);
	if (done >= 4096 && all_zero(part, parts)) {
		r.kind = KIND_ZERO;
		parts = 0;
	}
	r.number = take_number();
	append(&r, part, parts);
}

static off_t
size_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? st.st_size : 0;
}

/* after_write is for every kind of write that the server makes through a descriptor; offset -1: where that stood. */
static void
after_write(int fd, const struct writing *w, const struct iovec *iov, int count, off_t offset, ssize_t done)
{
	int before = errno;

	if (w->d == NULL || done <= 0)
		return;
	if (w->durable)
		sleep_until(w->began);
	if (offset < 0)
		offset = lseek(fd, 0, SEEK_CUR) - done;
	else if (w->d->append)	/* on Linux such a write goes to the end, whatever its offset */
		offset = size_of(fd) - done;
	wrote(w, iov, count, offset, done);
	errno = before;
}

ssize_t
pwrite(int fd, const void *buffer, size_t size, off_t offset)
{
	struct writing w = begin_write(fd, 0);
	struct iovec iov = {(void *) buffer, size};
	ssize_t done;

	REAL(pwrite);
	done = real(fd, buffer, size, offset);
	after_write(fd, &w, &iov, 1, offset, done);
	return done;
}

ssize_t
pwritev(int fd, const struct iovec *iov, int count, off_t offset)
{
	struct writing w = begin_write(fd, 0);
	ssize_t done;

	REAL(pwritev);
	done = real(fd, iov, count, offset);
	after_write(fd, &w, iov, count, offset, done);
	return done;
}

ssize_t
pwritev2(int fd, const struct iovec *iov, int count, off_t offset, int flags)
{
	struct writing w = begin_write(fd, flags);
	ssize_t done;

	REAL(pwritev2);
	done = real(fd, iov, count, offset, flags);
	if (done > 0 && (flags & RWF_APPEND))
		offset = size_of(fd) - done;
	after_write(fd, &w, iov, count, offset, done);
	return done;
}

ssize_t
write(int fd, const void *buffer, size_t size)
{
	struct writing w = begin_write(fd, 0);
	struct iovec iov = {(void *) buffer, size};
	ssize_t done;

	REAL(write);
	done = real(fd, buffer, size);
	after_write(fd, &w, &iov, 1, -1, done);
	return done;
}

ssize_t
writev(int fd, const struct iovec *iov, int count)
{
	struct writing w = begin_write(fd, 0);
	ssize_t done;

	REAL(writev);
	done = real(fd, iov, count);
	after_write(fd, &w, iov, count, -1, done);
	return done;
}

int
vdprintf(int fd, const char *format, va_list arguments)
{
	char *text;
	int length = vasprintf(&text, format, arguments), at = 0;

	while (at < length) {
		ssize_t done = write(fd, text + at, (size_t) (length - at));

		if (done < 0 && errno != EINTR)
			break;
		at += done > 0 ? (int) done : 0;
	}
	if (length >= 0)
		free(text);
	return at < length ? -1 : length;
}

int
__vdprintf_chk(int fd, int flag, const char *format, va_list arguments)
{
	(void) flag;
	return vdprintf(fd, format, arguments);
}

#define DPRINTF \
	va_list arguments; \
	int done; \
	va_start(arguments, format); \
	done = vdprintf(fd, format, arguments); \
	va_end(arguments); \
	return done

int
dprintf(int fd, const char *format, ...)
{
	DPRINTF;
}

int
__dprintf_chk(int fd, int flag, const char *format, ...)
{
	(void) flag;
	DPRINTF;
}

/* read_back writes down a part of a file that something else than our calls has written. */
static void
read_back(int fd, struct descriptor *d, off_t from, off_t end)
{
	struct writing w = {.d = d};
	char *buffer, path[64];
	int before = errno, again;

	REAL(open);
	if (journal < 0)
		return;
	buffer = malloc(CHUNK);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = real(path, O_RDONLY | O_CLOEXEC);	/* the descriptor may be for writing alone */
	forget(again);
	while (from < end) {
		size_t size = end - from < CHUNK ? (size_t) (end - from) : CHUNK;
		ssize_t got = buffer != NULL && again >= 0 ? pread(again, buffer, size, from) : -1;
		struct iovec iov = {buffer, got > 0 ? (size_t) got : 0};

		if (got <= 0) {
			atomic_store(&state->failed, got < 0 && errno != 0 ? (uint64_t) errno : EIO);
			break;
		}
		wrote(&w, &iov, 1, from, got);
		from += got;
	}
	if (again >= 0)
		close(again);
	free(buffer);
	errno = before;
}

/* after_copy is for calls by which the kernel writes bytes that we do not see; from -1: where the descriptor stood. */
static void
after_copy(int fd, struct descriptor *d, off_t from, ssize_t done)
{
	int before = errno;

	if (d == NULL || done <= 0)
		return;
	if (from < 0)
		from = lseek(fd, 0, SEEK_CUR) - done;
	read_back(fd, d, from, from + done);
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
	after_copy(fd, d, from, done);
	return done;
}

ssize_t
splice(int in, off64_t *in_at, int fd, off64_t *at, size_t size, unsigned int flags)
{
	struct descriptor *d = mine(fd);
	off_t from = at ? *at : -1;
	ssize_t done;

	REAL(splice);
	done = real(in, in_at, fd, at, size, flags);
	after_copy(fd, d, from, done);
	return done;
}

ssize_t
sendfile(int fd, int in, off_t *in_at, size_t size)
{
	struct descriptor *d = mine(fd);
	ssize_t done;

	REAL(sendfile);
	done = real(fd, in, in_at, size);
	after_copy(fd, d, -1, done);
	return done;
}

/* ioctl lets one file share the blocks of another. */
int
ioctl(int fd, unsigned long request, ...)
{
	struct descriptor *d;
	const struct file_clone_range *range;
	va_list arguments;
	void *argument;
	int result;

	REAL(ioctl);
	va_start(arguments, request);
	argument = va_arg(arguments, void *);
	va_end(arguments);
	if (request != FICLONE && request != FICLONERANGE)
		return real(fd, request, argument);
	d = mine(fd);
	result = real(fd, request, argument);
	if (d != NULL && result == 0) {
		range = argument;
		if (request == FICLONE || range->src_length == 0)
			read_back(fd, d, request == FICLONE ? 0 : (off_t) range->dest_offset, size_of(fd));
		else
			read_back(fd, d, (off_t) range->dest_offset, (off_t) (range->dest_offset + range->src_length));
	}
	return result;
}

#define ASYNCHRONOUS(fd) if (mine(fd) != NULL) beyond(BEYOND_AIO)

int
aio_write(struct aiocb *job)
{
	REAL(aio_write);
	ASYNCHRONOUS(job->aio_fildes);
	return real(job);
}

int
aio_write64(struct aiocb64 *job)
{
	REAL(aio_write64);
	ASYNCHRONOUS(job->aio_fildes);
	return real(job);
}

int
aio_fsync(int how, struct aiocb *job)
{
	REAL(aio_fsync);
	ASYNCHRONOUS(job->aio_fildes);
	return real(how, job);
}

int
aio_fsync64(int how, struct aiocb64 *job)
{
	REAL(aio_fsync64);
	ASYNCHRONOUS(job->aio_fildes);
	return real(how, job);
}

int
lio_listio(int mode, struct aiocb *const jobs[], int count, struct sigevent *when)
{
	REAL(lio_listio);
	for (int i = 0; i < count; i++)
		if (jobs[i] != NULL && jobs[i]->aio_lio_opcode == LIO_WRITE)
			ASYNCHRONOUS(jobs[i]->aio_fildes);
	return real(mode, jobs, count, when);
}

int
lio_listio64(int mode, struct aiocb64 *const jobs[], int count, struct sigevent *when)
{
	REAL(lio_listio64);
	for (int i = 0; i < count; i++)
		if (jobs[i] != NULL && jobs[i]->aio_lio_opcode == LIO_WRITE)
			ASYNCHRONOUS(jobs[i]->aio_fildes);
	return real(mode, jobs, count, when);
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
	if (journal < 0 || !inside(AT_FDCWD, path, rel))
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

/* fallocate does many things with the room of a file. */
int
fallocate(int fd, int mode, off_t offset, off_t size)
{
	struct descriptor *d = mine(fd);
	off_t end = offset + size, is;
	int result;

	REAL(fallocate);
	result = real(fd, mode, offset, size);
	if (d == NULL || result != 0)
		return result;
	is = size_of(fd);
	if (mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE)) {
		end = (mode & FALLOC_FL_KEEP_SIZE) && end > is ? is : end;
		if (end > offset)
			resized(d, KIND_ZERO, offset, end - offset);
	}
	else if (mode & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE)) {
		resized(d, KIND_TRUNCATE, 0, is);
		read_back(fd, d, offset, is);
	}
	else if (mode & FALLOC_FL_KEEP_SIZE)
		resized(d, KIND_ALLOCATE, 0, 0);	/* it got room, and is as long as it was */
	else
		resized(d, KIND_ALLOCATE, offset, size);
	return result;
}

/* ---- names ---- */

/* open_inside opens a file below the data directory and finds out whether that made it. */
static int
open_inside(int folder, const char *path, const char *rel, int flags, mode_t mode)
{
	bool created = false;
	int fd;

	REAL(openat);
	lock_names();
	if (flags & O_CREAT) {
		fd = real(folder, path, flags | O_EXCL, mode);
		created = fd >= 0;
		if (fd < 0 && errno == EEXIST && !(flags & O_EXCL))
			fd = real(folder, path, flags & ~O_CREAT, mode);
	}
	else
		fd = real(folder, path, flags, mode);
	opened(fd, rel, flags, created, false);
	unlock_names();
	return fd;
}

static int
open_at(int folder, const char *path, int flags, mode_t mode)
{
	char rel[PATH_MAX];
	int fd;

	REAL(openat);
	if (journal >= 0 && (flags & __O_TMPFILE) != __O_TMPFILE && inside(folder, path, rel))
		return open_inside(folder, path, rel, flags, mode);
	fd = real(folder, path, flags, mode);
	forget(fd);
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
	MODE(flags);
	return open_at(AT_FDCWD, path, flags, mode);
}

int
openat(int folder, const char *path, int flags, ...)
{
	MODE(flags);
	return open_at(folder, path, flags, mode);
}

int
__open_2(const char *path, int flags)
{
	return open_at(AT_FDCWD, path, flags, 0);
}

int
__openat_2(int folder, const char *path, int flags)
{
	return open_at(folder, path, flags, 0);
}

int
creat(const char *path, mode_t mode)
{
	return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

/* MADE_TEMPORARY is for calls that choose a name and make a file of it. */
#define MADE_TEMPORARY(call, flags) \
	char rel[PATH_MAX]; \
	int fd; \
	if (journal < 0) { fd = call; forget(fd); return fd; } \
	lock_names(); \
	fd = call; \
	forget(fd); \
	if (fd >= 0 && inside(AT_FDCWD, name, rel)) opened(fd, rel, flags, true, false); \
	unlock_names(); \
	return fd

int
mkstemp(char *name)
{
	REAL(mkstemp);
	MADE_TEMPORARY(real(name), 0);
}

int
mkostemp(char *name, int flags)
{
	REAL(mkostemp);
	MADE_TEMPORARY(real(name, flags), flags);
}

int
mkstemps(char *name, int suffix)
{
	REAL(mkstemps);
	MADE_TEMPORARY(real(name, suffix), 0);
}

int
mkostemps(char *name, int suffix, int flags)
{
	REAL(mkostemps);
	MADE_TEMPORARY(real(name, suffix, flags), flags);
}

/* ---- streams: the C library writes them, where nobody sees it ---- */

/* catch_up writes down a stream as it is in its file now. */
static void
catch_up(int fd, struct descriptor *d)
{
	read_back(fd, d, 0, size_of(fd));
}

static void
finish(FILE *f)
{
	int fd = f ? fileno(f) : -1;
	struct descriptor *d = journal >= 0 ? mine(fd) : NULL;

	if (d != NULL && d->stream && fflush(f) == 0)
		catch_up(fd, d);
	forget(fd);
}

#define OPEN_STREAM(call) \
	char rel[PATH_MAX]; \
	bool writes = strpbrk(how, "wa+") != NULL, created; \
	FILE *f; \
	if (journal < 0 || !writes || !inside(AT_FDCWD, path, rel)) { \
		if ((f = call) != NULL) forget(fileno(f)); \
		return f; \
	} \
	lock_names(); \
	created = access(path, F_OK) != 0; \
	if ((f = call) != NULL) \
		opened(fileno(f), rel, strchr(how, 'w') ? O_TRUNC : 0, created, true); \
	unlock_names(); \
	return f

FILE *
fopen(const char *path, const char *how)
{
	REAL(fopen);
	OPEN_STREAM(real(path, how));
}

FILE *
freopen(const char *path, const char *how, FILE *old)
{
	REAL(freopen);
	finish(old);
	OPEN_STREAM(real(path, how, old));
}

FILE *
fdopen(int fd, const char *how)
{
	struct descriptor *d = mine(fd);
	FILE *f;

	REAL(fdopen);
	f = real(fd, how);
	if (f != NULL && d != NULL && strpbrk(how, "wa+") != NULL)
		d->stream = true;
	return f;
}

int
fclose(FILE *f)
{
	REAL(fclose);
	finish(f);
	return real(f);
}

/* A stream may be open when the process ends. */
__attribute__((destructor)) static void
end(void)
{
	if (journal < 0)
		return;
	fflush(NULL);
	for (int fd = 0; fd < DESCRIPTORS; fd++)
		if (table[fd].known && table[fd].stream && mine(fd) != NULL)
			catch_up(fd, &table[fd]);
}

/* ---- descriptors ---- */

int
close(int fd)
{
	REAL(close);
	if (fd >= 0 && fd == journal)
		return 0;
	forget(fd);
	return real(fd);
}

int
dup2(int fd, int to)
{
	REAL(dup2);
	forget(to);
	return real(fd, to);
}

int
dup3(int fd, int to, int flags)
{
	REAL(dup3);
	forget(to);
	return real(fd, to, flags);
}

int
chdir(const char *path)
{
	REAL(chdir);
	in_data = -1;
	return real(path);
}

int
fchdir(int fd)
{
	REAL(fchdir);
	in_data = -1;
	return real(fd);
}

/* Shared memory is below the data directory, too, with dynamic_shared_memory_type=mmap; no crash keeps that. */
void *
mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
	struct descriptor *d = (flags & MAP_SHARED) && (protection & PROT_WRITE) && fd >= 0 ? mine(fd) : NULL;

	REAL(mmap);
	if (d != NULL && !d->memory)
		beyond(BEYOND_MAPPED);
	return real(address, size, protection, flags, fd, offset);
}

/* ---- names ---- */

/*
 * NAMED is for calls that change names. Their number is taken before the call: once a name is gone its inode may be
 * used again, and that must have the greater number.
 */
#define NAMED(what, call, from_folder, from, to_folder, to) \
	char rel[PATH_MAX], rel_to[PATH_MAX]; \
	struct record r = {.kind = what}; \
	const char *target = to; \
	bool ours, goal; \
	int result; \
	if (journal < 0) return call; \
	ours = inside(from_folder, from, rel); \
	goal = target != NULL && inside(to_folder, target, rel_to); \
	if (!ours && !goal) return call; \
	if (target != NULL && ours != goal) { \
		if ((result = call) == 0) beyond(BEYOND_MOVED); \
		return result; \
	} \
	lock_names(); \
	r.number = take_number(); \
	result = call; \
	if (result != 0) r.kind = KIND_NOTHING; \
	append_path(&r, rel, target ? rel_to : NULL); \
	unlock_names(); \
	return result

static void
refuse_folder(int folder, const char *path)
{
	char inner[PATH_MAX];
	struct stat st;
	int before = errno;

	if (journal >= 0 && inside(folder, path, inner) && fstatat(folder, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		S_ISDIR(st.st_mode))
		beyond(BEYOND_FOLDER);
	errno = before;
}

int
renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned int flags)
{
	char inner[PATH_MAX];

	REAL(renameat2);
	refuse_folder(from_folder, from);
	if ((flags & ~(unsigned int) RENAME_NOREPLACE) && journal >= 0 && inside(from_folder, from, inner))
		beyond(BEYOND_SWAPPED);
	NAMED(KIND_RENAME, real(from_folder, from, to_folder, to, flags), from_folder, from, to_folder, to);
}

int
renameat(int from_folder, const char *from, int to_folder, const char *to)
{
	REAL(renameat);
	refuse_folder(from_folder, from);
	NAMED(KIND_RENAME, real(from_folder, from, to_folder, to), from_folder, from, to_folder, to);
}

int
rename(const char *from, const char *to)
{
	REAL(rename);
	refuse_folder(AT_FDCWD, from);
	NAMED(KIND_RENAME, real(from, to), AT_FDCWD, from, AT_FDCWD, to);
}

int
linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
	REAL(linkat);
	NAMED(KIND_LINK, real(from_folder, from, to_folder, to, flags), from_folder, from, to_folder, to);
}

int
link(const char *from, const char *to)
{
	REAL(link);
	NAMED(KIND_LINK, real(from, to), AT_FDCWD, from, AT_FDCWD, to);
}

int
symlinkat(const char *target, int folder, const char *path)
{
	char inner[PATH_MAX];
	int result;

	REAL(symlinkat);
	result = real(target, folder, path);
	if (result == 0 && inside(folder, path, inner))
		beyond(BEYOND_LINK);
	return result;
}

int
symlink(const char *target, const char *path)
{
	return symlinkat(target, AT_FDCWD, path);
}

int
unlinkat(int folder, const char *path, int flags)
{
	REAL(unlinkat);
	NAMED(flags & AT_REMOVEDIR ? KIND_RMDIR : KIND_UNLINK, real(folder, path, flags), folder, path, AT_FDCWD, NULL);
}

int
unlink(const char *path)
{
	return unlinkat(AT_FDCWD, path, 0);
}

int
rmdir(const char *path)
{
	return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int
remove(const char *path)
{
	if (unlink(path) == 0)
		return 0;
	return errno == EISDIR || errno == EPERM ? rmdir(path) : -1;
}

int
mkdirat(int folder, const char *path, mode_t mode)
{
	REAL(mkdirat);
	NAMED(KIND_MKDIR, real(folder, path, mode), folder, path, AT_FDCWD, NULL);
}

int
mkdir(const char *path, mode_t mode)
{
	return mkdirat(AT_FDCWD, path, mode);
}

char *
mkdtemp(char *name)
{
	char rel[PATH_MAX];
	char *made;

	REAL(mkdtemp);
	if (journal < 0)
		return real(name);
	lock_names();
	made = real(name);
	if (made != NULL && inside(AT_FDCWD, name, rel)) {
		struct record r = {.kind = KIND_MKDIR, .number = take_number()};

		append_path(&r, rel, NULL);
	}
	unlock_names();
	return made;
}

/* ---- the names of the same calls in programs that are built for large files ---- */

_Static_assert(sizeof(off_t) == sizeof(off64_t), "an offset of 64 bits is another type here");

#define ALIAS(type, name, of, ...) type name(__VA_ARGS__) __attribute__((alias(#of)))

ALIAS(ssize_t, pwrite64, pwrite, int, const void *, size_t, off64_t);
ALIAS(ssize_t, pwritev64, pwritev, int, const struct iovec *, int, off64_t);
ALIAS(ssize_t, pwritev64v2, pwritev2, int, const struct iovec *, int, off64_t, int);
ALIAS(ssize_t, sendfile64, sendfile, int, int, off64_t *, size_t);
ALIAS(int, ftruncate64, ftruncate, int, off64_t);
ALIAS(int, truncate64, truncate, const char *, off64_t);
ALIAS(int, posix_fallocate64, posix_fallocate, int, off64_t, off64_t);
ALIAS(int, fallocate64, fallocate, int, int, off64_t, off64_t);
ALIAS(int, open64, open, const char *, int, ...);
ALIAS(int, openat64, openat, int, const char *, int, ...);
ALIAS(int, __open64_2, __open_2, const char *, int);
ALIAS(int, __openat64_2, __openat_2, int, const char *, int);
ALIAS(int, creat64, creat, const char *, mode_t);
ALIAS(int, mkstemp64, mkstemp, char *);
ALIAS(int, mkostemp64, mkostemp, char *, int);
ALIAS(int, mkstemps64, mkstemps, char *, int);
ALIAS(int, mkostemps64, mkostemps, char *, int, int);
ALIAS(FILE *, fopen64, fopen, const char *, const char *);
ALIAS(FILE *, freopen64, freopen, const char *, const char *, FILE *);
ALIAS(void *, mmap64, mmap, void *, size_t, int, int, int, off64_t);

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
	if (realpath(data, data_real) == NULL)
		return;
	data_dev = st.st_dev;
	data_ino = st.st_ino;
	if (latency != NULL)
		flush_ns = strtoull(latency, NULL, 10);
	all_durable = broken != NULL && strcmp(broken, "all-durable") == 0;
	wal_never = broken != NULL && strcmp(broken, "wal-never") == 0;
	folders_never = broken != NULL && strcmp(broken, "folders-never") == 0;
	if (folder != NULL)
		keep_journal(folder);
	strcpy(data_path, data);
	data_length = strlen(data_path);
}
