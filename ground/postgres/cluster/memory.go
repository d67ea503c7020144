package cluster

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/ground/host/dirs"
)

// PostgreSQL's header of shared memory (pg_shmem.h), its list of the segments that sessions share (dsm.c), and where
// those lie (dsm_impl.c). They are the same from 15 to 18.
const (
	memoryMagic   = 679834894
	memoryHeader  = 56 // magic, pid, size, free, control (at 24), index, device (at 40), inode (at 48)
	segmentsMagic = 0x9a503d32
	segmentsFirst = 16 // magic, count (at 4), most
	segmentBytes  = 40 // handle, references (at 4), …
	segmentsMost  = 1 << 20
	segmentsDir   = "/dev/shm"
)

// Sessions of a killed server let go of its memory a moment after its postmaster has ended.
const (
	attachedLooks = 50
	attachedLook  = 20 * time.Millisecond
)

// ReleaseMemory removes the shared memory that a killed server has left. It is called before the data are removed: the
// next server on the same folder would remove it, and then there is none. A machine has room for 4,096 such segments;
// beyond them no server starts. What is not surely this server's, or may not be removed, stays.
func ReleaseMemory(data string) {
	info, err := os.Lstat(data)
	folder, known := sys(info)
	if err != nil || !known {
		return
	}
	id, found := memoryOf(data)
	if !found || !unattached(id, folder.Uid) {
		return
	}
	memory, err := unix.SysvShmAttach(id, 0, unix.SHM_RDONLY)
	if err != nil {
		return
	}
	native := binary.NativeEndian
	ours := native.Uint32(memory) == memoryMagic && native.Uint64(memory[40:]) == folder.Dev &&
		native.Uint64(memory[48:]) == folder.Ino
	control := native.Uint32(memory[24:])
	if err := unix.SysvShmDetach(memory); err != nil || !ours {
		return
	}
	removeSegments(control, folder.Uid)
	_, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) // we may lack the right
}

// memoryOf is the id of the memory of the server that the pid file in a data folder names.
func memoryOf(data string) (id int, found bool) {
	text, err := dirs.ReadIn(data, "postmaster.pid", dataFileMax)
	lines := strings.Split(string(text), "\n")
	if err != nil || len(lines) <= memoryLine {
		return 0, false
	}
	var key uint64
	_, err = fmt.Sscan(lines[memoryLine], &key, &id)
	return id, err == nil
}

// unattached says whether memory of that owner is there and no process uses it any more.
func unattached(id int, owner uint32) bool {
	for range attachedLooks {
		var is unix.SysvShmDesc
		if _, err := unix.SysvShmCtl(id, unix.IPC_STAT, &is); err != nil || is.Perm.Uid != owner ||
			is.Segsz < memoryHeader {
			return false
		}
		if is.Nattch == 0 {
			return true
		}
		time.Sleep(attachedLook)
	}
	return false
}

// removeSegments removes those of a list, and the list.
func removeSegments(control, owner uint32) {
	list := segmentPath(control)
	text, err := dirs.ReadIn(segmentsDir, filepath.Base(list), segmentsMost)
	native := binary.NativeEndian
	if err != nil || len(text) < segmentsFirst || native.Uint32(text) != segmentsMagic {
		return
	}
	for n := range int(native.Uint32(text[4:])) {
		at := segmentsFirst + n*segmentBytes
		if at+segmentBytes > len(text) {
			break
		}
		if references := native.Uint32(text[at+4:]); references > 0 {
			removeOwned(segmentPath(native.Uint32(text[at:])), owner)
		}
	}
	removeOwned(list, owner)
}

func segmentPath(handle uint32) string { return fmt.Sprintf("%s/PostgreSQL.%d", segmentsDir, handle) }

// removeOwned removes a file of the server's user, who could name any in the list.
func removeOwned(path string, owner uint32) {
	info, err := os.Lstat(path)
	if stat, known := sys(info); err == nil && known && stat.Uid == owner && info.Mode().IsRegular() {
		_ = os.Remove(path)
	}
}
