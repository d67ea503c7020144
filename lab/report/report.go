// Package report owns how a run is shown to a person: a text table for the
// terminal and one self-contained HTML file.
package report
