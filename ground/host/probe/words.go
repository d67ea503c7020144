package probe

import "unsafe"

// wordsOf mapped memory, which begins at a page.
func wordsOf(raw []byte) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(raw))), len(raw)/4)
}

func addressOf(raw []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(raw))) }
