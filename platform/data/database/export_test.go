package database

import "plimsoll/platform/data/temptable"

// TempPool is what the connection believes of its temp tables.
func (w *Work) TempPool() *temptable.Pool { return w.tempPool() }
