// Package script owns key operations written as SQL scripts in the dialect of pgbench:
// SQL commands and, on lines of their own, meta-commands.
//
//	\set NAME expression        \sleep NUMBER|:NAME [us|ms|s]
//	\gset [prefix]  \aset [prefix]    after a query, instead of its semicolon
//	\if expression  \elif expression  \else  \endif
//	\startpipeline  \syncpipeline  \endpipeline
//
// What a script means here is what PostgreSQL 18's pgbench does with it; a test runs
// both. Meant differences:
//   - A variable that is null is bound as NULL, not as the text NULL.
//   - \shell and \setshell are refused: a scenario file must not start programs.
//   - \setrandom, gone from pgbench since 9.6, is refused with what stands in its place.
//   - Random numbers come from the user's own generator: the distributions are those of
//     pgbench, the numbers are not.
package script
