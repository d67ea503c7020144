// Package onec owns a database as a 1C:Enterprise server lays it out, and the load of such a server on it: the tables,
// columns and indexes of references, documents, registers of information, of accumulation and of accounting, filled at
// any size; key operations in the SQL that the platform writes; the audit of the totals.
//
//	Fill:    tables ─▶ catalogs ─▶ documents with movements, by portions ─▶ indexes ─▶ totals ─▶ complete
//	session: free ──an operation takes it──▶ temp tables are filled, read ──it ends──▶ emptied, kept ──▶ free
//
// The names are those of public descriptions of the platform; the application (what is bought and sold) is our own.
// Nothing here is a text of 1C's.
package onec
