// Package compare says whether one system is better than another: both are run in turns on the same load, each run from
// the same base, and the figures of whole runs are compared (package verdict).
//
//	turns: blocks ABBA or BAAB by the random seed, so that a machine that warms up or slows down favours neither side
//	   │
//	run: put the base back ▶ SQL of the side ▶ load ▶ audit ▶ figures;  disturbed ──▶ void, the same turn again
//	   │
//	look: after eight pairs, then after every four more: conclusive ──▶ stop early
//	   │
//	verdict: better, worse, equal within the margin, inconclusive and how many more pairs it needs
//	   │
//	who fails more is worse, and who does less of the work is not better (judge.go)
//
// The next turn is a function of the runs made so far and nothing else, so a comparison that was stopped resumes from
// its runs.
package compare
