// Package cluster manages local PostgreSQL clusters: creating, starting, watching, stopping, killing and destroying
// them.
//
// A cluster is a folder of the state directory with our marker in it:
//
//	clusters/NAME/plimsoll-cluster.json   the marker; a folder without it is never touched
//	              data/                   PGDATA, owned by the server's user
//	              log/                    postgres.log, keeper.log
//	              run/                    the socket, 0700
//	              pgpass                  the superuser's password, 0600
//	              plimsoll.conf           our settings with their reasons, written at each start
//	              user.conf               the user's settings, read last, never written by us
//	clusters/.NAME.lock                   held by whoever creates, runs or destroys NAME
//
// Life:
//
//	        Create            Start / Up               Stop / Down
//	(none) ────────▶ stopped ────────────▶ starting ──▶ running ─────────▶ stopped
//	   ▲                │ ▲                   │            │ postmaster killed, power cut
//	   │    Destroy     │ └───────────────────┘            ▼
//	   └────────────────┘   cancelled or failed          crashed ── Start / Up ──▶ starting
//
// The process that starts the postmaster is its parent, holds the cluster's lock while it lives, reaps it, and ends it
// when it dies. That is the calling process after Start, the detached keeper (Keep) after Up.
package cluster
