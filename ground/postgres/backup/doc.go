// Package backup takes, verifies, lists and restores backups of local clusters.
//
// A backup is a folder of the state directory with our record in it, which is written last:
//
//	backups/ID/plimsoll-backup.json   the record; a folder without it is no backup
//	           data/                  a base backup with the log that it takes to start it; owned by the server's user
//	           pgpass, user.conf      the password and the user's settings at that time
//	backups/log/CLUSTER-RANDOM/       the archive of one cluster's log, for restores to any moment
//
//	          Take                    pg_verifybackup            record, rename
//	(none) ────────▶ .ID~RANDOM/ ────────────────────▶ verified ────────────────▶ ID
//	                     │ cancelled, killed, failed
//	                     ▼
//	                  removed, at once or by the next Take
package backup
