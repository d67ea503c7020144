// Package kept owns what is kept on disk beyond a process: files that are replaced atomically, folders of results that
// have an id each, and files that grow by a line for each result.
package kept
