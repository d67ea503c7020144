// Package report shows a run to people: a text table for the terminal and one self-contained HTML file.
package report
