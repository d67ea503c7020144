// Package script owns key operations written as SQL scripts in the dialect of pgbench:
// SQL commands and, on lines of their own, meta-commands.
//
//	\set NAME expression        \sleep NUMBER|:NAME [us|ms|s]
//	\gset [prefix]  \aset [prefix]    after a query, instead of its semicolon
//	\if expression  \elif expression  \else  \endif
//	\startpipeline  \syncpipeline  \endpipeline
//
// A script means what it means to PostgreSQL 18's pgbench; a test runs both. Deliberate differences:
//   - A variable that is null is bound as NULL, not as the text NULL; one that is undefined is an error, not NULL.
//   - \shell and \setshell are refused: a scenario file must not start programs.
//   - \setrandom, gone from pgbench since 9.6, is refused with its replacement.
//   - Random numbers come from the user's own generator: the same distributions as pgbench's, other numbers.
package script
