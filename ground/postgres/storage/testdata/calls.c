/*
 * Makes one call that changes or flushes a file, in the current folder: calls NAME. The folder has a file 'old' of
 * 8192 bytes, a file 'other' and a folder 'sub'. What is around the call is made with the plainest calls there are.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <aio.h>
#include <unistd.h>

int __open_2(const char *, int);
int __open64_2(const char *, int);
int __openat_2(int, const char *, int);
int __openat64_2(int, const char *, int);
int __dprintf_chk(int, int, const char *, ...);

static struct iovec hello = {"hello", 5};

#define CHECK(call) do { if (!(call)) { perror(#call); exit(1); } } while (0)
#define CALL(name) if (strcmp(argv[1], name) == 0)
/* For calls that a file system may lack. */
#define OR_UNSUPPORTED(call) do { if (!(call)) { perror(#call); exit(77); } } while (0)

static int
old(int flags)
{
	int fd = open("old", O_RDWR | flags);

	CHECK(fd >= 0);
	return fd;
}

static int
dprint(int fd, const char *format, ...)
{
	va_list arguments;
	int done;

	va_start(arguments, format);
	done = vdprintf(fd, format, arguments);
	va_end(arguments);
	return done;
}

static void
put(FILE *f)
{
	CHECK(f != NULL && fputs("hello", f) >= 0 && fclose(f) == 0);
}

static void
opens(char **argv)
{
	char temp[] = "madeXXXXXX", suffixed[] = "madeXXXXXX.x", folder[] = "foldXXXXXX";
	int dir = open("/", O_RDONLY | O_DIRECTORY), here = -1;

	CALL("open") CHECK(open("new", O_RDWR | O_CREAT, 0600) >= 0);
	CALL("open64") CHECK(open64("new", O_RDWR | O_CREAT, 0600) >= 0);
	CALL("openat") CHECK(openat(AT_FDCWD, "new", O_RDWR | O_CREAT, 0600) >= 0);
	CALL("openat64") CHECK(openat64(AT_FDCWD, "new", O_RDWR | O_CREAT, 0600) >= 0);
	CALL("openat-folder") {
		CHECK((here = open("sub", O_RDONLY | O_DIRECTORY)) >= 0);
		CHECK(openat(here, "new", O_RDWR | O_CREAT, 0600) >= 0);
	}
	CALL("open-upwards") CHECK(open("sub/../new", O_RDWR | O_CREAT, 0600) >= 0);
	CALL("open-from-below") {
		CHECK(chdir("sub") == 0);
		CHECK(open("../new", O_RDWR | O_CREAT, 0600) >= 0 && chdir("..") == 0);
	}
	CALL("fchdir") {
		CHECK((here = open("sub", O_RDONLY | O_DIRECTORY)) >= 0 && fchdir(here) == 0);
		CHECK(open("new", O_RDWR | O_CREAT, 0600) >= 0 && chdir("..") == 0);
	}
	CALL("open-truncate") CHECK(open("old", O_RDWR | O_TRUNC) >= 0);
	CALL("creat") CHECK(creat("new", 0600) >= 0);
	CALL("creat64") CHECK(creat64("new", 0600) >= 0);
	CALL("__open_2") CHECK(__open_2("old", O_RDWR | O_TRUNC) >= 0);
	CALL("__open64_2") CHECK(__open64_2("old", O_RDWR | O_TRUNC) >= 0);
	CALL("__openat_2") CHECK(__openat_2(AT_FDCWD, "old", O_RDWR | O_TRUNC) >= 0);
	CALL("__openat64_2") CHECK(__openat64_2(AT_FDCWD, "old", O_RDWR | O_TRUNC) >= 0);
	CALL("mkstemp") CHECK(mkstemp(temp) >= 0);
	CALL("mkstemp64") CHECK(mkstemp64(temp) >= 0);
	CALL("mkostemp") CHECK(mkostemp(temp, O_CLOEXEC) >= 0);
	CALL("mkostemp64") CHECK(mkostemp64(temp, O_CLOEXEC) >= 0);
	CALL("mkstemps") CHECK(mkstemps(suffixed, 2) >= 0);
	CALL("mkstemps64") CHECK(mkstemps64(suffixed, 2) >= 0);
	CALL("mkostemps") CHECK(mkostemps(suffixed, 2, O_CLOEXEC) >= 0);
	CALL("mkostemps64") CHECK(mkostemps64(suffixed, 2, O_CLOEXEC) >= 0);
	CALL("mkdtemp") CHECK(mkdtemp(folder) != NULL);
	CALL("fopen") put(fopen("new", "w"));
	CALL("fopen64") put(fopen64("new", "w"));
	CALL("freopen") put(freopen("new", "w", stdout));
	CALL("freopen64") put(freopen64("new", "w", stdout));
	CALL("fdopen") put(fdopen(open("new", O_RDWR | O_CREAT, 0600), "w"));
	CALL("stream-fsync") {
		FILE *f = fopen("new", "w");

		CHECK(f != NULL && fputs("hello", f) >= 0 && fflush(f) == 0 && fsync(fileno(f)) == 0);
		_exit(0);
	}
	CALL("stream-exit") CHECK(fputs("hello", fopen("new", "w")) >= 0);
	CALL("dup") CHECK(write(dup(old(0)), "hello", 5) == 5);
	CALL("dup2") CHECK(dup2(old(0), 100) == 100 && write(100, "hello", 5) == 5);
	CALL("dup3") CHECK(dup3(old(0), 100, O_CLOEXEC) == 100 && write(100, "hello", 5) == 5);
	CALL("fcntl") CHECK(write(fcntl(old(0), F_DUPFD, 100), "hello", 5) == 5);
	CALL("fcntl64") CHECK(write(fcntl64(old(0), F_DUPFD_CLOEXEC, 100), "hello", 5) == 5);
	close(dir);
}

static void
writes(char **argv)
{
	int fd = old(0), in, ends[2];
	off_t at = 0;
	off64_t at64 = 0;
	static struct aiocb job = {.aio_buf = "hello", .aio_nbytes = 5};
	static struct aiocb64 job64 = {.aio_buf = "hello", .aio_nbytes = 5};

	job.aio_fildes = job64.aio_fildes = fd;
	CALL("write") CHECK(write(fd, "hello", 5) == 5);
	CALL("writev") CHECK(writev(fd, &hello, 1) == 5);
	CALL("pwrite") CHECK(pwrite(fd, "hello", 5, 100) == 5);
	CALL("pwrite64") CHECK(pwrite64(fd, "hello", 5, 100) == 5);
	CALL("pwritev") CHECK(pwritev(fd, &hello, 1, 100) == 5);
	CALL("pwritev64") CHECK(pwritev64(fd, &hello, 1, 100) == 5);
	CALL("pwritev2") CHECK(pwritev2(fd, &hello, 1, 100, 0) == 5);
	CALL("pwritev64v2") CHECK(pwritev64v2(fd, &hello, 1, 100, 0) == 5);
	CALL("pwritev2-here") CHECK(lseek(fd, 7, SEEK_SET) == 7 && pwritev2(fd, &hello, 1, -1, 0) == 5);
	CALL("pwritev2-dsync") OR_UNSUPPORTED(pwritev2(fd, &hello, 1, 100, RWF_DSYNC) == 5);
	CALL("pwritev2-sync") OR_UNSUPPORTED(pwritev2(fd, &hello, 1, 100, RWF_SYNC) == 5);
	CALL("pwritev2-append") OR_UNSUPPORTED(pwritev2(fd, &hello, 1, 0, RWF_APPEND) == 5);
	CALL("pwrite-append") CHECK(pwrite(old(O_APPEND), "hello", 5, 0) == 5);
	CALL("write-dsync") CHECK(write(old(O_DSYNC), "hello", 5) == 5);
	CALL("write-sync") CHECK(write(old(O_SYNC), "hello", 5) == 5);
	CALL("lseek64") CHECK(lseek64(fd, 100, SEEK_SET) == 100 && write(fd, "hello", 5) == 5);
	CALL("dprintf") CHECK(dprintf(fd, "h%s", "ello") == 5);
	CALL("vdprintf") CHECK(dprint(fd, "h%s", "ello") == 5);
	CALL("__dprintf_chk") CHECK(__dprintf_chk(fd, 1, "h%s", "ello") == 5);
	CHECK((in = open("other", O_RDONLY)) >= 0);
	CALL("sendfile") CHECK(sendfile(fd, in, &at, 5) == 5);
	CALL("sendfile64") CHECK(sendfile64(fd, in, &at64, 5) == 5);
	CALL("copy_file_range") OR_UNSUPPORTED(copy_file_range(in, NULL, fd, NULL, 5, 0) == 5);
	CALL("splice") {
		CHECK(pipe(ends) == 0 && write(ends[1], "hello", 5) == 5);
		CHECK(splice(ends[0], NULL, fd, &at64, 5, 0) == 5);
	}
	CALL("ioctl-clone") OR_UNSUPPORTED(ioctl(fd, FICLONE, in) == 0);
	CALL("aio_write") CHECK(aio_write(&job) == 0);
	CALL("aio_write64") CHECK(aio_write64(&job64) == 0);
	CALL("mmap") CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED);
	CALL("mmap64") CHECK(mmap64(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED);
	CALL("mmap-private") CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0) != MAP_FAILED);
	CALL("inherited") {
		char command[64];

		snprintf(command, sizeof(command), "printf hello >&%d", fd);
		CHECK(system(command) == 0);
	}
}

static void
sizes(char **argv)
{
	int fd = old(0);

	CALL("ftruncate") CHECK(ftruncate(fd, 100) == 0);
	CALL("ftruncate64") CHECK(ftruncate64(fd, 100) == 0);
	CALL("truncate") CHECK(truncate("old", 100) == 0);
	CALL("truncate64") CHECK(truncate64("old", 100) == 0);
	CALL("posix_fallocate") CHECK(posix_fallocate(fd, 8192, 8192) == 0);
	CALL("posix_fallocate64") CHECK(posix_fallocate64(fd, 8192, 8192) == 0);
	CALL("fallocate") OR_UNSUPPORTED(fallocate(fd, 0, 8192, 8192) == 0);
	CALL("fallocate64") OR_UNSUPPORTED(fallocate64(fd, 0, 8192, 8192) == 0);
	CALL("fallocate-keep-size") OR_UNSUPPORTED(fallocate(fd, FALLOC_FL_KEEP_SIZE, 8192, 8192) == 0);
	CALL("fallocate-punch") OR_UNSUPPORTED(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096, 8192) == 0);
	CALL("fallocate-zero") OR_UNSUPPORTED(fallocate(fd, FALLOC_FL_ZERO_RANGE, 4096, 8192) == 0);
	CALL("fallocate-collapse") OR_UNSUPPORTED(fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 0, 4096) == 0);
}

static void
flushes(char **argv)
{
	int fd = old(0);
	static struct aiocb job;

	CALL("fsync") CHECK(fsync(fd) == 0);
	CALL("fdatasync") CHECK(fdatasync(fd) == 0);
	CALL("fsync-folder") CHECK(fsync(open(".", O_RDONLY)) == 0);
	CALL("sync_file_range") OR_UNSUPPORTED(sync_file_range(fd, 0, 8192, SYNC_FILE_RANGE_WRITE) == 0);
	CALL("syncfs") CHECK(syncfs(fd) == 0);
	CALL("sync") sync();
	job.aio_fildes = fd;
	CALL("aio_fsync") CHECK(aio_fsync(O_SYNC, &job) == 0);
	CALL("renamed-unflushed") { /* and then another file is flushed, whose size and names do not change */
		int made = open("new", O_RDWR | O_CREAT, 0600);

		CHECK(write(made, "hello", 5) == 5 && fsync(made) == 0 && fsync(open(".", O_RDONLY)) == 0);
		CHECK(rename("new", "name") == 0);
		CHECK(pwrite(fd, "hello", 5, 100) == 5 && fdatasync(fd) == 0);
	}
}

static void
names(char **argv)
{
	int here = open("sub", O_RDONLY | O_DIRECTORY);

	CALL("rename") CHECK(rename("old", "new") == 0);
	CALL("renameat") CHECK(renameat(AT_FDCWD, "old", here, "new") == 0);
	CALL("renameat2") CHECK(renameat2(AT_FDCWD, "old", AT_FDCWD, "new", RENAME_NOREPLACE) == 0);
	CALL("renameat2-exchange") OR_UNSUPPORTED(renameat2(AT_FDCWD, "old", AT_FDCWD, "other", RENAME_EXCHANGE) == 0);
	CALL("rename-out") CHECK(rename("old", "../out") == 0);
	CALL("rename-in") CHECK(rename("../outside", "in") == 0);
	CALL("rename-folder") CHECK(rename("sub", "sub2") == 0);
	CALL("link") CHECK(link("old", "new") == 0);
	CALL("linkat") CHECK(linkat(AT_FDCWD, "old", here, "new", 0) == 0);
	CALL("link-in") CHECK(link("../outside", "in") == 0);
	CALL("unnamed") {
		char path[64];
		int fd = open(".", O_TMPFILE | O_RDWR, 0600);

		OR_UNSUPPORTED(fd >= 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		CHECK(linkat(AT_FDCWD, path, AT_FDCWD, "new", AT_SYMLINK_FOLLOW) == 0);
	}
	CALL("symlink") CHECK(symlink("old", "new") == 0);
	CALL("symlinkat") CHECK(symlinkat("old", here, "new") == 0);
	CALL("unlink") CHECK(unlink("old") == 0);
	CALL("unlinkat") CHECK(unlinkat(AT_FDCWD, "old", 0) == 0);
	CALL("unlinkat-folder") CHECK(unlinkat(AT_FDCWD, "sub", AT_REMOVEDIR) == 0);
	CALL("remove") CHECK(remove("old") == 0);
	CALL("remove-folder") CHECK(remove("sub") == 0);
	CALL("mkdir") CHECK(mkdir("new", 0700) == 0);
	CALL("mkdirat") CHECK(mkdirat(here, "new", 0700) == 0);
	CALL("rmdir") CHECK(rmdir("sub") == 0);
}

int
main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	opens(argv);
	writes(argv);
	sizes(argv);
	flushes(argv);
	names(argv);
	return 0;
}
