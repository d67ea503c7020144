// Package har owns HAR files, the recordings of a browser's or proxy's HTTP traffic, and makes scenarios of them.
//
//	Read       the file, entry by entry, within limits
//	sift       leaves out what is no load of the application: static files, other people's hosts, analytics, …
//	group      requests that one act of the user caused, and those before and of the log-in
//	correlate  values of answers that return in later requests become variables; so do user name and password
//	merge      groups of which one needs a value of another become one operation; equal ones are counted
//	write      the scenario as TOML, with what was not sure as comments
//
// An imported scenario can be played in any order of its operations: what an operation needs comes from itself or from
// the log-in.
package har
